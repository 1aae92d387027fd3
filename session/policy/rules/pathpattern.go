package rules

import (
	"errors"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// pathPattern is an absolute path by its names. below means that it is for everything below them.
type pathPattern struct {
	names []string
	below bool
}

func parsePathPattern(s string) (pathPattern, error) {
	if !strings.HasPrefix(s, "/") {
		return pathPattern{}, errors.New("must be absolute: begin it with /")
	}
	p := pathPattern{names: strings.Split(s[1:], "/")}
	if n := len(p.names); p.names[n-1] == "**" {
		p.names, p.below = p.names[:n-1], true
	}
	for _, name := range p.names {
		switch {
		case name == "" || name == "." || name == "..":
			return p, errors.New("must be clean: without empty names, and without . and .. as names")
		case strings.Contains(name, "**"):
			return p, errors.New("may hold ** only as a name of its own, and the last one")
		case strings.ContainsAny(name, "[]{}\\"):
			return p, errors.New("knows * and ? and no other patterns")
		}
	}
	if len(p.names) == 0 && !p.below {
		return p, errors.New("must name more than the root")
	}
	return p, nil
}

// base is the directory that the pattern begins with, as far as it is spelled out.
func (p pathPattern) base() string {
	dir := "/"
	for i, name := range p.names {
		if strings.ContainsAny(name, "*?") || i == len(p.names)-1 && !p.below {
			break
		}
		dir = path.Join(dir, name)
	}
	return dir
}

// covers reports whether an absolute, clean path surely matches.
func (p pathPattern) covers(abs string) bool {
	return p.compare(abs) == yes
}

// compare walks a clean absolute path along the pattern: yes if it matches, maybe if what matches may lie below it.
func (p pathPattern) compare(abs string) match {
	rest, more := strings.TrimPrefix(abs, "/"), abs != "/"
	for _, name := range p.names {
		if !more {
			return maybe
		}
		var have string
		have, rest, more = strings.Cut(rest, "/")
		if !wildcard.Match(have, name) {
			return no
		}
	}
	switch {
	case more && !p.below:
		return no
	case !more && p.below:
		return maybe
	}
	return yes
}

// touches says whether a written path matches, or may come to do so.
func (p pathPattern) touches(w judge.Path) match {
	abs, known := absolute(w)
	if !known {
		return maybe
	}
	m := p.compare(abs)
	if m == yes && w.Remote {
		return maybe // the same name on another machine
	}
	return m
}

// absolute returns where a path that is written leads, by its text alone.
func absolute(w judge.Path) (string, bool) {
	switch {
	case !w.Literal || w.Text == "" || w.Text[0] == '~':
		return "", false
	case w.Text[0] == '/':
		return path.Clean(w.Text), true
	case strings.HasPrefix(w.Dir, "/"):
		return path.Join(w.Dir, w.Text), true
	}
	return "", false
}
