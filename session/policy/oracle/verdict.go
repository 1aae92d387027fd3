package oracle

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Complaints lists what a run did that its report does not name, each once.
func Complaints(rep judge.Report, out Outcome) []string {
	var list []string
	add := func(s string) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, e := range out.Events {
		if unnamed(rep, e) && !isKnown(e) {
			add(e.String())
		}
	}
	switch {
	case out.Endless:
		add("it does not end")
	case out.Flood:
		add("its output does not end")
	case out.Left != "":
		add("it leaves a process: " + out.Left)
	}
	return list
}

func unnamed(rep judge.Report, e Event) bool {
	switch e.Kind {
	case Start:
		return !slices.Contains(rep.Uses, e.name())
	case Write:
		for _, w := range rep.Writes {
			if w.Text == e.What || path.Join(w.Dir, w.Text) == e.What || path.Join(Work, w.Text) == e.What {
				return false
			}
		}
		return true
	case Connect:
		return e.What != ""
	default:
		return true
	}
}

// Finding is a command that did what its report does not name.
type Finding struct {
	Shell, Script string
	Did           []string
	Said          string // by the judge
}

func (f Finding) String() string {
	return fmt.Sprintf("%s\t%q\t%s\t%s", f.Shell, f.Script, strings.Join(f.Did, "; "), f.Said)
}
