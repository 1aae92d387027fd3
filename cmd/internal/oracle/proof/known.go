package proof

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
)

//go:embed known.txt
var knownText string

// Rules name what programs do, in the grammar that known.txt describes.
type Rules []rule

type rule struct {
	kind          Kind
	program, what string
}

var known = MustReadRules("known.txt", knownText)

// MustReadRules reads rules, and panics at a line that is none.
func MustReadRules(name, text string) (rules Rules) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 3 {
			panic(fmt.Sprintf("%s:%d: three words are needed", name, n))
		}
		rules = append(rules, rule{Kind(f[0]), f[1], strings.Join(f[2:], " ")})
	}
	return rules
}

// Match reports whether a rule names the event.
func (rules Rules) Match(e Event) bool {
	what := e.What
	switch e.Kind {
	case Start:
		what = e.name()
	case Other:
		what = e.Call
	}
	for _, r := range rules {
		if r.kind == e.Kind && glob(r.program, e.By) && glob(r.what, what) {
			return true
		}
	}
	return false
}

// glob matches with * for anything, slashes too.
func glob(pattern, s string) bool {
	if pattern == "*" || pattern == s {
		return true
	}
	const slash = "\x01"
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(s, "/", slash))
	return err == nil && ok
}

// name is the name of a started program, as a report has it.
func (e Event) name() string {
	base := path.Base(e.What)
	if len(e.Args) > 0 && (base == "exe" || base == "busybox") {
		base = path.Base(e.Args[0])
		if base == "busybox" && len(e.Args) > 1 && !strings.HasPrefix(e.Args[1], "-") {
			base = e.Args[1]
		}
	}
	return base
}
