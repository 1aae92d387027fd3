package sshconfig

import (
	"slices"
	"strings"
)

// FromEnvironment says what of the environment of whoever asks counts for how alias is reached: the variables that the
// configuration names, SSH_AUTH_SOCK aside, and whether programs that it names get all of it (Match exec, ProxyCommand,
// KnownHostsCommand). Jump hosts count for themselves. It looks no name up and runs no program; where CanonicalizeHostname leaves
// open which blocks apply, programs is true.
func (c *Config) FromEnvironment(alias string, o Options) (names []string, programs bool) {
	names = slices.Clone(c.included)
	if !c.environment && !slices.ContainsFunc(o.Lines, asksEnvironment) {
		return names, false
	}
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = c.local.LookupEnv
	}
	o.Offline = true
	o.LookupEnv = func(name string) (string, bool) {
		if !slices.Contains(names, name) && name != "SSH_AUTH_SOCK" {
			names = append(names, name)
		}
		if lookup == nil {
			return "", false
		}
		return lookup(name)
	}
	r, _ := c.resolve(alias, o) // whoever connects is told what is wrong
	programs = r.asked || r.canon.on() || r.s.ProxyCommand.V != "" || !r.s.KnownHostsCommand.V.IsZero()
	slices.Sort(names)
	return names, programs
}

// asksEnvironment reports whether a line may make the environment count.
func asksEnvironment(line string) bool {
	line = lower(line)
	for _, word := range []string{"${", "identityagent", "exec", "proxycommand", "knownhostscommand", "canonicalizehostname"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
