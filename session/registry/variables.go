package registry

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Variables makes the Env of an OpenRequest for a host. It is a *session.Error if a name is none, or a value holds a NUL
// byte, which no shell can take: nobody may say with a name what another variable is to be.
func Variables(host string, vars map[string]string) ([]string, error) {
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		if err := checkVariable(host, name, value); err != nil {
			return nil, err
		}
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}

// Shaping parts variables into those that a session may have without a question and those that may change what its commands
// mean, which [Entry.Export] sets.
func Shaping(env []string) (inert, shaping []string) {
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); policy.InertSetting(name, value) {
			inert = append(inert, kv)
		} else {
			shaping = append(shaping, kv)
		}
	}
	return inert, shaping
}

// Export sets variables, each as "KEY=value", in a session that is open. The command that sets them is judged, approved and
// recorded as any other. Where it does not end well the session is closed, for it is not the one that was wanted.
func (e *Entry) Export(ctx context.Context, vars []string, reason string) (*Exec, error) {
	const unset = "its variables were not set"
	script := "export"
	for _, kv := range vars {
		name, value, _ := strings.Cut(kv, "=")
		err := checkVariable(e.Host().Name, name, value)
		word := ""
		if err == nil {
			word, err = framing.Quote(value)
		}
		if err != nil {
			e.close(unset)
			return nil, err
		}
		script += " " + name + "=" + word
	}
	x, err := e.Start(ctx, Command{Script: script, Reason: reason, needed: true})
	if err != nil {
		e.close(unset)
		return nil, err
	}
	r := e.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed { // else all sessions are closed anyway
		r.wg.Go(func() {
			if <-x.done; x.sx.Result().Status != session.StatusOK {
				e.close(unset)
			}
		})
	}
	return x, nil
}

func checkVariable(host, name, value string) error {
	switch {
	case !isVariable(name):
		return fault("open", host, CodeInvalid, false, "%.80q is not a variable's name: letters, digits and _, and no digit first", name)
	case strings.Contains(value, "\x00"):
		return fault("open", host, CodeInvalid, false, "the value of %.80q holds a NUL byte", name)
	}
	return nil
}

func isVariable(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
