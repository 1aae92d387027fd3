package proof

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Complaints lists what a run did that its report does not name, each once. Expected are faults that are known: they are
// counted, not listed.
func Complaints(program string, rep judge.Report, out Outcome, expected Rules) (list []string, faults int) {
	add := func(e Event) {
		switch s := e.String(); {
		case known.Match(e):
		case expected.Match(e):
			faults++
		case !slices.Contains(list, s):
			list = append(list, s)
		}
	}
	for _, e := range out.Events {
		if unnamed(rep, e) {
			add(e)
		}
	}
	switch {
	case out.Endless:
		add(Event{Kind: Endless, By: program, Call: "it does not end", What: "time"})
	case out.Flood:
		add(Event{Kind: Endless, By: program, Call: "its output does not end", What: "output"})
	case out.Left != "":
		add(Event{Kind: Endless, By: program, Call: "it leaves a process: " + out.Left, What: "process"})
	}
	return list, faults
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
