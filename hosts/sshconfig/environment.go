package sshconfig

import (
	"path/filepath"
	"slices"
	"strings"
)

// FromEnvironment says what of the environment of whoever asks counts for how alias is reached: the variables that the
// configuration names, SSH_AUTH_SOCK aside, and whether programs that it names get all of it (Match exec, ProxyCommand,
// KnownHostsCommand). Jump hosts count for themselves. It looks no name up and runs no program; where CanonicalizeHostname leaves
// open which blocks apply, programs is true. A program that names something in its directory makes PWD count, and so does a file
// with a relative name: see [Loader].Dir.
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
	if slices.ContainsFunc(r.programLines, func(line string) bool { return inDirectory(line, true) }) || inDirectory(r.s.ProxyCommand.V, false) || r.s.relative() {
		names = append(names, "PWD")
	}
	slices.Sort(names)
	return slices.Compact(names), programs
}

// inDirectory reports whether a command line names something by its place in the current directory. test says that the line may
// ask about files without a slash in their names.
func inDirectory(line string, test bool) bool {
	words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t'\"`;&|<>()=,!", c) })
	test = test && slices.ContainsFunc(words, func(w string) bool { return w == "test" || w == "[" || w == "[[" })
	anywhere := func(w string) bool {
		return w == "" || strings.IndexByte("/~$%-", w[0]) >= 0 || strings.Contains(w, "://")
	}
	for i, w := range words {
		switch {
		case w == "." && i+1 < len(words), w == "..", w == "pwd", w == "git", strings.Contains(w, "PWD"):
			return true // "." reads a file, or is one
		case strings.Contains(w, "/") && !anywhere(w):
			return true
		case test && len(w) == 2 && w[0] == '-' && strings.IndexByte("abcdefghkLOprsSuwxNG", w[1]) >= 0 && i+1 < len(words) && !anywhere(words[i+1]):
			return true
		}
	}
	return false
}

// asksEnvironment reports whether a line may make the environment count.
func asksEnvironment(line string) bool {
	line = lower(line)
	for _, word := range []string{"${", "identityagent", "forwardagent", "exec", "proxycommand", "knownhostscommand", "canonicalizehostname"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return slices.ContainsFunc(fileKeywords, func(keyword string) bool { return strings.HasPrefix(line, keyword) }) && namesRelative(line)
}

// fileKeywords are those that name files which a connection needs.
var fileKeywords = []string{"identityfile", "certificatefile", "userknownhostsfile", "globalknownhostsfile", "revokedhostkeys", "controlpath"}

// namesRelative reports whether one of the values of a line may be a relative name.
func namesRelative(line string) bool {
	words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t=\"'", c) })
	return len(words) > 1 && slices.ContainsFunc(words[1:], func(w string) bool {
		return w != None && w[0] != '/' && w[0] != '~' && !strings.HasPrefix(w, "%d")
	})
}

// relative reports whether a file has a relative name.
func (s *Settings) relative() bool {
	is := func(path string) bool { return path != "" && !filepath.IsAbs(path) }
	files := slices.Concat(s.IdentityFiles, s.CertificateFiles, s.UserKnownHostsFiles, s.GlobalKnownHostsFiles)
	return slices.ContainsFunc(files, func(v Value[string]) bool { return is(v.V) }) || is(s.RevokedHostKeys.V) || is(s.ControlPath.V) || is(s.IdentityAgent.V)
}
