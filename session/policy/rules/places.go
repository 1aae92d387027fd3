package rules

import (
	"errors"
	"io/fs"
)

// Places are where policy files are looked for.
type Places struct {
	System string // root's file; "" is [SystemFile]. It need not exist
	User   string // the user's file; "" is none
	Named  bool   // somebody named the user's file, so it must exist
}

// Load reads the files, and returns a Config that holds them. All mistakes in both are reported at once, as by
// [ReadFile].
func (p Places) Load() (Config, error) {
	var cfg Config
	if p.System == "" {
		p.System = SystemFile
	}
	var system, user error
	cfg.System, system = optional(p.System, false)
	if p.User != "" {
		cfg.User, user = optional(p.User, p.Named)
	}
	if err := flat(system, user); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

func optional(name string, must bool) (*File, error) {
	f, err := ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil, nil
	}
	return f, err
}

// flat joins errors so that each mistake of a file is one of the joined ones.
func flat(errs ...error) error {
	var all []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			all = append(all, joined.Unwrap()...)
		} else if err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
