package run

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// jsonView prints one Result per line, then a summary.
type jsonView struct{ gate *outcome.Gate }

// summaryJSON is a stable format, as Result's is.
type summaryJSON struct {
	Hosts       int                       `json:"hosts"`
	Counts      map[session.Status]int    `json:"counts"`
	Names       map[session.Status]string `json:"names"`       // folded
	NotStarted  string                    `json:"not_started"` // folded; of the canceled ones, those that got nothing
	Interrupted bool                      `json:"interrupted"`
	ExitCode    int                       `json:"exit_code"`
	DurationMS  int64                     `json:"duration_ms"`
	Run         string                    `json:"run"` // its id

	// Of a rollout.
	Batches []wire.RunBatch `json:"batches,omitempty"`
	Stopped string          `json:"stopped,omitempty"` // what stopped it: "max-fail", "confirm" and so on
	Why     string          `json:"why,omitempty"`     // the same in words
	NotRun  string          `json:"notrun,omitempty"`  // folded: hosts that got nothing because it stopped
}

func (v *jsonView) start(*target) (stdout, stderr io.Writer) { return nil, nil }

func (v *jsonView) done(_ *target, r session.Result) { v.print(r) }

func (v *jsonView) finish(s *summary, code int) {
	j := summaryJSON{
		Hosts: s.total, Counts: map[session.Status]int{}, Names: map[session.Status]string{},
		NotStarted: hosts.Fold(slices.Concat(s.notStarted, s.notRun)), Interrupted: s.canceled > 0, ExitCode: code, DurationMS: s.took.Milliseconds(), Run: s.id,
	}
	if so := s.rollout; so != nil {
		j.Batches, j.Stopped, j.Why, j.NotRun = so.Batches, so.Stopped, so.Why, so.NotRun
	}
	for status, names := range s.names {
		j.Counts[status], j.Names[status] = len(names), hosts.Fold(names)
	}
	v.print(map[string]summaryJSON{"summary": j})
}

func (v *jsonView) print(what any) {
	line, err := json.Marshal(what)
	if err != nil {
		panic("run: internal error: " + err.Error()) // both types can always be written
	}
	v.gate.Out().Write(append(line, '\n'))
}
