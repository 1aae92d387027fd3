package cp

import (
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
)

// group are hosts of which the same is told.
type group struct {
	cause *outcome.Cause // nil where all is well
	text  string         // how much was copied, where all is well
	lines string         // on single files
	names []string
}

// takes reports whether another group tells the same, and adds its hosts then.
func (g *group) takes(other *group) bool {
	switch {
	case g.text != other.text || g.lines != other.lines || (g.cause == nil) != (other.cause == nil):
		return false
	case g.cause != nil && !g.cause.Join(other.cause):
		return false
	}
	g.names = append(g.names, other.names...)
	return true
}

// tell writes it.
func (g *group) tell(gate *outcome.Gate) {
	if g.cause != nil {
		g.cause.Tell(gate.Err())
		fmt.Fprint(gate.Err(), g.lines)
		return
	}
	fmt.Fprintf(gate.Out(), "%s: %s\n%s", hosts.Fold(g.names), g.text, g.lines)
}

// tell keeps what is told of a host, to be told with others.
func (v *view) tell(label string, r session.Result, reports []copies.Report) {
	one := &group{lines: v.details(reports), names: []string{label}}
	if r.Status == session.StatusOK {
		one.text = v.counted(reports)
	} else {
		if one.cause = outcome.CauseOf(label, r, ""); one.cause.What == string(session.StatusError) {
			one.cause.What = "failed" // the host's own refusal, most often
		}
	}
	for _, g := range v.groups {
		if g.takes(one) {
			return
		}
	}
	v.groups = append(v.groups, one)
}
