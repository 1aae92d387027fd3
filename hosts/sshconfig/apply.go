package sshconfig

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

const (
	maxIdentities = 100 // OpenSSH's limits
	maxHostFiles  = 32
)

var (
	errMissing = errors.New("the value is missing")
	errExtra   = errors.New("there is more than one value")
)

// directive takes one line into the settings if active, and checks it in any case.
func (r *resolver) directive(l *line, active bool) error {
	s, err := &r.s, error(nil)
	switch l.key {
	case "hostname":
		err = text(l, active, &s.HostName)
	case "user":
		err = text(l, active, &s.User)
	case "port":
		err = one(l, active, &s.Port, parsePort)
	case "identityfile", "identityfile2":
		err = r.appendFile(l, active, &s.IdentityFiles)
	case "certificatefile":
		err = r.appendFile(l, active, &s.CertificateFiles)
	case "identitiesonly":
		err = one(l, active, &s.IdentitiesOnly, parseFlag)
	case "identityagent":
		err = one(l, active, &s.IdentityAgent, r.checkAgent)
	case "userknownhostsfile":
		err = r.hostFiles(l, active, &s.UserKnownHostsFiles, &r.userHostsFrom)
	case "globalknownhostsfile":
		err = r.hostFiles(l, active, &s.GlobalKnownHostsFiles, &r.globalHostsFrom)
	case "hostkeyalias":
		err = text(l, active, &s.HostKeyAlias)
	case "hostkeyalgorithms":
		err = text(l, active, &s.HostKeyAlgorithms)
	case "stricthostkeychecking":
		err = one(l, active, &s.StrictHostKeyChecking, parseStrict)
	case "hashknownhosts":
		err = one(l, active, &s.HashKnownHosts, parseFlag)
	case "connecttimeout":
		err = duration(l, active, &s.ConnectTimeout)
	case "serveraliveinterval":
		err = duration(l, active, &s.ServerAliveInterval)
	case "serveralivecountmax":
		err = one(l, active, &s.ServerAliveCountMax, func(s string) (int, error) {
			n, err := parseInt(s, math.MaxInt32)
			return int(n), err
		})
	case "proxyjump":
		var jumps []Jump
		if jumps, err = parseJumps(l.raw); err == nil && active && !s.ProxyJump.isSet() && !s.ProxyCommand.isSet() {
			s.ProxyJump = Value[[]Jump]{V: jumps, Raw: l.raw, From: l.pos}
		}
	case "proxycommand":
		// "ProxyJump none" keeps later ProxyJump lines out, but not a ProxyCommand.
		if active && len(s.ProxyJump.V) == 0 && !s.ProxyCommand.isSet() {
			raw := strings.TrimLeft(l.raw, space+"=")
			s.ProxyCommand = Value[string]{V: raw, Raw: raw, From: l.pos}
		}
	case "tag":
		err = text(l, active, &s.Tag)
	case "ignoreunknown":
		var v Value[string]
		if err = text(l, true, &v); err == nil && active && r.ignoreUnknown == "" {
			r.ignoreUnknown = v.V
		}
	default:
		return r.notHandled(l, active)
	}
	if err != nil {
		return &Error{Pos: l.pos, Msg: l.key, Err: err}
	}
	return nil
}

// notHandled decides about a directive there is no field for.
func (r *resolver) notHandled(l *line, active bool) error {
	kw, known := unsupported[l.key]
	if !known {
		if r.ignoreUnknown != "" && matchList(l.key, r.ignoreUnknown, true) {
			return nil
		}
		return errorAt(l.pos, "%q is not a directive of ssh; correct it, or name it in IgnoreUnknown before this line", l.key)
	}
	if !active || r.seen[l.key] && !kw.multi {
		return nil
	}
	r.seen[l.key] = true
	value := strings.Join(l.args, " ")
	if slices.Contains(kw.fine, lower(value)) {
		return nil
	}
	if kw.fatal != "" {
		return errorAt(l.pos, "%s %s: %s", l.key, value, kw.fatal)
	}
	if slices.ContainsFunc(r.s.Unsupported, func(d Directive) bool { return d.From == l.pos }) {
		return nil // second pass
	}
	r.s.Unsupported = append(r.s.Unsupported, Directive{Keyword: l.key, Value: l.raw, From: l.pos, Minor: kw.minor})
	return nil
}

// single returns the only word of a line.
func single(l *line) (string, error) {
	switch {
	case len(l.args) == 0 || l.args[0] == "":
		return "", errMissing
	case len(l.args) > 1:
		return "", errExtra
	}
	return l.args[0], nil
}

// one checks a line of one word and sets v if the line is active and v not set yet: the first value wins.
func one[T any](l *line, active bool, v *Value[T], parse func(string) (T, error)) error {
	word, err := single(l)
	if err != nil {
		return err
	}
	x, err := parse(word)
	if err != nil {
		return err
	}
	if active && !v.isSet() {
		*v = Value[T]{V: x, Raw: word, From: l.pos}
	}
	return nil
}

func text(l *line, active bool, v *Value[string]) error {
	return one(l, active, v, func(s string) (string, error) { return s, nil })
}

// duration is one for times. In OpenSSH "none" leaves the setting open, so that a later line can still set it.
func duration[T ~int64](l *line, active bool, v *Value[T]) error {
	if word, err := single(l); err == nil && word == None {
		return nil
	}
	return one(l, active, v, func(s string) (T, error) {
		d, err := parseTime(s)
		return T(d), err
	})
}

func (r *resolver) appendFile(l *line, active bool, list *[]Value[string]) error {
	word, err := single(l)
	if err != nil || !active {
		return err
	}
	if slices.ContainsFunc(*list, func(v Value[string]) bool { return v.Raw == word }) {
		return nil
	}
	if len(*list) >= maxIdentities {
		return fmt.Errorf("more than %d files", maxIdentities)
	}
	*list = append(*list, Value[string]{V: word, Raw: word, From: l.pos})
	return nil
}

// hostFiles takes a list that is set as a whole by the first active line.
func (r *resolver) hostFiles(l *line, active bool, list *[]Value[string], from *hosts.Pos) error {
	if len(l.args) == 0 {
		return errMissing
	}
	if len(l.args) > maxHostFiles {
		return fmt.Errorf("more than %d files", maxHostFiles)
	}
	var files []Value[string]
	for _, word := range l.args {
		if word == "" {
			return errMissing
		}
		if lower(word) == None {
			if len(l.args) > 1 {
				return errors.New("none must stand alone")
			}
			continue
		}
		files = append(files, Value[string]{V: word, Raw: word, From: l.pos})
	}
	if active && from.File == "" {
		*list, *from = files, l.pos
	}
	return nil
}

// checkAgent checks the two forms that name an environment variable.
func (r *resolver) checkAgent(s string) (string, error) {
	// "$NAME" is an older form; the text behind it must be a name.
	if name, ok := strings.CutPrefix(s, "$"); ok && !strings.HasPrefix(name, "{") {
		for i := range len(name) {
			if c := name[i]; !isAlnum(c) && c != '_' {
				return "", fmt.Errorf("%q is not the name of an environment variable", s)
			}
		}
		return s, nil
	}
	if strings.Contains(s, "${") {
		if _, err := expand(strings.ReplaceAll(s, "%", "%%"), nil, r.env); err != nil {
			return "", err
		}
	}
	return s, nil
}
