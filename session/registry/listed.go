package registry

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// listed is what the inventory says of h as it is opened; the zero Host where it does not list it, or nothing is to be followed.
func (r *Registry) listed(h hosts.Host) hosts.Host {
	if r.cfg.Listed == nil {
		return hosts.Host{}
	}
	now, err := r.cfg.Listed(h.Name)
	if err != nil || now.Name != h.Name {
		return hosts.Host{}
	}
	return now
}

// moved is the error for a session whose host is not what it was; nil where it is. The shell is still where it was, as who it was, and
// judged as it was: whoever reads the inventory expects something else.
func (e *Entry) moved() *session.Error {
	if e.listed.Name == "" {
		return nil
	}
	now, err := e.r.cfg.Listed(e.listed.Name)
	what := ""
	switch {
	case err == nil:
		what = difference(e.listed, now)
	case errors.Is(err, hosts.ErrNotFound):
		what = "it is not listed any more"
	}
	if what == "" { // or the inventory cannot be read now: what it said counts on
		return nil
	}
	return fault("run", e.listed.Name, CodeChanged, false, "its entry in the inventory has changed since session %s was opened (%s). Nothing was sent. Close the session, and open it again: fairlead sessions close %s",
		cmp.Or(e.name, e.ID()), what, printable.Word(cmp.Or(e.name, e.ID())))
}

// difference says in what two states of a host differ, as far as that changes where commands run, as who, or how they are judged.
func difference(was, is hosts.Host) string {
	for _, f := range []struct{ name, was, is string }{
		{"transport", string(cmp.Or(was.Transport, hosts.SSH)), string(cmp.Or(is.Transport, hosts.SSH))},
		{"addr", was.Addr, is.Addr},
		{"port", fmt.Sprint(was.Port), fmt.Sprint(is.Port)},
		{"user", was.User, is.User},
		{"via", strings.Join(was.Via, ", "), strings.Join(is.Via, ", ")},
		{"become", was.Become.User, is.Become.User},
		{"tier", was.TierName(), is.TierName()},
		{"identity", strings.Join(was.Identity, ", "), strings.Join(is.Identity, ", ")},
		{"ssh_config", was.SSHConfig, is.SSHConfig},
	} {
		if f.was != f.is {
			return fmt.Sprintf("%s: %s, now %s", f.name, unset(f.was), unset(f.is))
		}
	}
	switch {
	case !slices.Equal(was.Command, is.Command):
		return "command"
	case was.NoLogin != is.NoLogin || was.IdentityOnly != is.IdentityOnly || was.Sandboxed != is.Sandboxed:
		return "credentials"
	}
	return ""
}

// unset names a value in a message.
func unset(value string) string {
	if value == "" || value == "0" {
		return "not set"
	}
	return printable.Line(value)
}
