package registry

import (
	"slices"
	"strings"
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
