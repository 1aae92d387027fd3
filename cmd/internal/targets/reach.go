package targets

import (
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Reach is what a caller may reach besides the inventory, and how. The zero Reach is nothing besides, and as it is.
type Reach struct {
	// Named finds a host of ssh_config by its name; nil knows none. It is asked about names that the inventory does not have.
	Named func(name string) (h hosts.Host, ok bool, err error)
	// As says that all hosts of this call are reached as a user, for Change; nil where a call cannot. It is an error where the call
	// names another one.
	As func(user string) error
	// Change says how this call reaches a host; nil changes nothing.
	Change func(hosts.Host) (hosts.Host, error)
}

// beside takes the members of a plain union that the inventory does not have, and ssh_config does, out of an expression.
func (r Reach) beside(expr string, inv *hosts.Inventory) (found []hosts.Host, rest string, err error) {
	if r.Named == nil || strings.ContainsAny(expr, `()"&|~!`) {
		return nil, expr, nil
	}
	var others []string
	for _, member := range strings.Split(expr, ",") {
		name := strings.TrimSpace(member)
		if hosts.CheckName(name) == nil {
			if _, err := inv.Lookup(name); err != nil {
				h, ok, err := r.Named(name)
				switch {
				case err != nil:
					return nil, "", err
				case ok && !containsName(found, name):
					found = append(found, h)
				}
				if ok {
					continue
				}
			}
		}
		others = append(others, member)
	}
	return found, strings.Join(others, ","), nil
}

func containsName(hs []hosts.Host, name string) bool {
	for _, h := range hs {
		if h.Name == name {
			return true
		}
	}
	return false
}

// change changes hosts as the call wants them.
func (r Reach) change(hs []hosts.Host) ([]hosts.Host, error) {
	if r.Change == nil {
		return hs, nil
	}
	for i, h := range hs {
		var err error
		if hs[i], err = r.Change(h); err != nil {
			return nil, err
		}
	}
	return hs, nil
}

// unknown says what to type for a host that is listed nowhere, where no other may have been meant.
func unknown(err error) error {
	var none *hosts.NoMatchError
	if !errors.As(err, &none) || len(none.Hosts) == 0 || len(none.Near) > 0 {
		return err
	}
	return &unknownError{err, none.Hosts[0]}
}

// unknownError is a NoMatchError of hosts that may be outside of the inventory.
type unknownError struct {
	error
	name string
}

func (e *unknownError) Error() string {
	return e.error.Error() + "; for a host that is listed nowhere, write user@" + e.name
}

func (e *unknownError) Unwrap() error { return e.error }
