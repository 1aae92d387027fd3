package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// maxMine bounds how many of each are listed, and maxMineCommand how much of a command.
const (
	maxMine        = 50
	maxEnded       = 10 // runs that have ended, the newest
	maxMineCommand = 120
)

// mineOut is what a caller has: what session_output gives without arguments, to callers who have lost track.
type mineOut struct {
	Sessions []mineSession `json:"sessions"`
	Execs    []mineExec    `json:"execs,omitempty"` // running, or waiting for approval
	Runs     []mineRun     `json:"runs,omitempty"`  // those, and the last ones on many hosts that have ended, the newest first
	Jobs     []mineJob     `json:"jobs,omitempty"`
	Error    *faultOut     `json:"error,omitempty"`
}

type mineSession struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name,omitempty"`
	Host      string `json:"host"`
	CWD       string `json:"cwd,omitempty"`
	Last      string `json:"last_exec,omitempty"`
}

type mineExec struct {
	Exec    string `json:"exec"`
	Session string `json:"session"`
	Host    string `json:"host"`
	State   string `json:"state"`
	Command string `json:"command"`
}

type mineRun struct {
	Run      string         `json:"run"`
	Hosts    int            `json:"hosts"`
	State    string         `json:"state"`
	Statuses map[string]int `json:"statuses,omitempty"` // hosts by status, of one that has ended
	Command  string         `json:"command"`
}

type mineJob struct {
	JobID string `json:"job_id"`
	State string `json:"state,omitempty"`
}

func (o *mineOut) fault() **faultOut { return &o.Error }
func (o *mineOut) failed() bool      { return o.Error != nil }

// text implements result.
func (o *mineOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d open sessions, %d running or pending commands, %d runs, %d jobs", len(o.Sessions), len(o.Execs), len(o.Runs), len(o.Jobs))
	for _, s := range o.Sessions {
		fmt.Fprintf(&b, "\nsession %s%s on %s%s%s", s.SessionID, prefixed(", name ", s.Name), s.Host, prefixed(", in ", s.CWD), prefixed(", last exec ", s.Last))
	}
	for _, x := range o.Execs {
		fmt.Fprintf(&b, "\nexec %s in session %s on %s, %s: %s", x.Exec, x.Session, x.Host, plainState(x.State), oneLine(x.Command))
	}
	for _, r := range o.Runs {
		fmt.Fprintf(&b, "\nrun %s on %d hosts, %s%s: %s", r.Run, r.Hosts, plainState(r.State), counted(r.Statuses), oneLine(r.Command))
	}
	for _, j := range o.Jobs {
		fmt.Fprintf(&b, "\njob %s%s", j.JobID, prefixed(", ", plainState(j.State)))
	}
	return b.String()
}

// counted says how many hosts have which status.
func counted(statuses map[string]int) string {
	text := ""
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		text += fmt.Sprintf(", %d %s", statuses[status], status)
	}
	return text
}

func plainState(state string) string {
	if state == statusAwaits {
		return "waiting for approval"
	}
	return strings.ReplaceAll(state, "_", " ")
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "⏎") }

// mine lists what the caller has. Nothing is asked of any host.
func (s *Server) mine(out *outputResult) error {
	m := &mineOut{Sessions: []mineSession{}}
	r, red := s.cfg.Registry, s.redactor()
	short := func(c registry.Command) string {
		text, _ := red(c.Script)
		text, _ = red.command(text)
		return printable.Clip(text, maxMineCommand)
	}
	for _, e := range first(r.List(s.cfg.Principal)) {
		dir, _ := red(e.Dir())
		one := mineSession{SessionID: e.ID(), Name: e.Name(), Host: e.Host().Name, CWD: red.text(dir)}
		if x := e.Last(); x != nil {
			one.Last = x.ID()
		}
		m.Sessions = append(m.Sessions, one)
	}
	inRun := map[*registry.Exec]bool{}
	ended := 0
	for _, f := range slices.Backward(r.Fleets(s.cfg.Principal)) {
		members := f.Members()
		one := mineRun{Run: f.ID(), Hosts: len(members), State: statusRunning, Command: short(f.Command())}
		select {
		case <-f.Done():
			if len(members) == 1 || ended == maxEnded { // of one host it is an exec, which its answer has told
				continue
			}
			ended++
			one.State, one.Statuses = string(session.Done), map[string]int{}
			for _, member := range members {
				o, _ := outcomeOf(member)
				one.Statuses[o.status]++
			}
		default:
			if f.Awaiting() {
				one.State = statusAwaits
			}
		}
		for _, member := range members {
			inRun[member.Exec] = true
			if member.Awaits {
				one.State = statusAwaits
			}
		}
		m.Runs = append(m.Runs, one)
	}
	m.Runs = first(m.Runs)
	for _, x := range r.Running(s.cfg.Principal) {
		if inRun[x] {
			continue
		}
		state := string(session.Running)
		if x.Awaiting() {
			state = statusAwaits
		}
		m.Execs = append(m.Execs, mineExec{Exec: x.ID(), Session: x.Entry().ID(), Host: x.Entry().Host().Name, State: state, Command: short(x.Command())})
	}
	m.Execs = first(m.Execs)
	if s.cfg.Jobs != nil {
		for _, ref := range s.cfg.Jobs.Refs(maxMine) {
			one := mineJob{JobID: ref.String()}
			if st, ok := s.cfg.Jobs.Start(ref); ok && st.State != jobs.Running { // whether it runs still, its host knows
				one.State = string(st.State)
			}
			m.Jobs = append(m.Jobs, one)
		}
	}
	out.mine = m
	return nil
}

func first[T any](all []T) []T { return all[:min(len(all), maxMine)] }
