package sinks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
)

var keys = []string{"file", "syslog", "https", "exec", "required", "timeout", "token_file", "ca_file"}

// Decode reads the value of audit.sinks, as a YAML or JSON reader gives it: a list of maps. Nil is no place. All that is
// wrong is told at once; unknown keys are.
func Decode(value any) ([]Config, error) {
	if value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, errors.New("sinks: audit.sinks must be a list")
	}
	var out []Config
	var errs []error
	for i, item := range list {
		c, err := decodeOne(item)
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("sinks: audit.sinks, entry %d: %w", i+1, err))
		}
		out = append(out, c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func decodeOne(item any) (c Config, err error) {
	m, ok := item.(map[string]any)
	if !ok {
		return c, errors.New("it must be a map")
	}
	for k, v := range m {
		if !slices.Contains(keys, k) {
			return c, fmt.Errorf("unknown key %q; it may have %s", k, strings.Join(keys, ", "))
		}
		if k == "exec" {
			if c.Exec, err = words(v); err != nil {
				return c, err
			}
			continue
		}
		text, _ := v.(string)
		if text == "" {
			return c, fmt.Errorf("%s must be a text", k)
		}
		switch k {
		case "file":
			c.File = text
		case "syslog":
			c.Syslog = text
		case "https":
			c.HTTPS = text
		case "token_file":
			c.TokenFile = text
		case "ca_file":
			c.CAFile = text
		case "required":
			if c.Required, err = audit.ParseRequired(text); err != nil {
				return c, fmt.Errorf("required is %q: it must be never, prod or always", text)
			}
		case "timeout":
			if c.Timeout, _ = time.ParseDuration(text); c.Timeout <= 0 { // 0 after an error
				return c, fmt.Errorf("timeout is %q: it must be a duration like 5s", text)
			}
		}
	}
	return c, nil
}

func words(v any) ([]string, error) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, errors.New("exec must be a list of words")
	}
	var out []string
	for _, item := range list {
		w, ok := item.(string)
		if !ok {
			return nil, errors.New("exec must be a list of words")
		}
		out = append(out, w)
	}
	return out, nil
}
