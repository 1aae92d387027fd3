package oracle

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
)

//go:embed known.txt
var knownText string

type knownRule struct {
	kind          Kind
	program, what string
}

var known = readKnown(knownText)

func readKnown(text string) (rules []knownRule) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 3 {
			panic(fmt.Sprintf("known.txt:%d: three words are needed", n))
		}
		rules = append(rules, knownRule{Kind(f[0]), f[1], strings.Join(f[2:], " ")})
	}
	return rules
}

func isKnown(e Event) bool {
	what := e.What
	switch e.Kind {
	case Start:
		what = e.name()
	case Other:
		what = e.Call
	}
	for _, r := range known {
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
		if base == "busybox" && len(e.Args) > 1 {
			base = e.Args[1]
		}
	}
	return base
}
