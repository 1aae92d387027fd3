package mcpserver

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/parse"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// maxGroups is how many groups are shown.
const maxGroups = 60

// outcome is what must be equal for hosts to be told together.
type outcome struct {
	state, status  string
	code           int
	signal, why    string
	stdout, stderr [sha256.Size]byte
}

// group is the hosts of one outcome.
type group struct {
	outcome
	fault   *faultOut
	members []registry.Member
}

// Statuses of hosts that are not done.
const (
	statusRunning = "running"
	statusWaiting = "waiting" // for its turn
	statusAwaits  = string(session.AwaitingApproval)
)

// showFleet shows what is known of a run.
func (s *Server) showFleet(f *registry.Fleet, b output.Budget) (*runOut, error) {
	members := f.Members()
	out := &runOut{Run: f.ID(), Statuses: map[string]string{}, counts: map[string]int{}, Rollout: rolledOut(f)}
	if len(members) > 1 {
		out.Hosts, out.State = len(members), string(session.Done)
	}
	red := s.redactor()
	script, _ := red(f.Command().Script)
	command, _ := red.command(script)
	if command != printable.Clip(f.Command().Script, maxCommand) {
		out.Command = command
	}
	names := map[string][]string{}
	var groups []*group
	byOutcome := map[outcome]*group{}
	undone, awaiting := 0, 0
	for _, m := range members {
		o, fault := outcomeOf(m)
		d := f.Decision(m.Host)
		names[o.status] = append(names[o.status], m.Host.Name)
		if o.status == statusWaiting && f.Awaiting() && d.Verdict == policy.Ask {
			o.status = statusAwaits // grouped by why
		}
		if o.status == statusAwaits {
			o.why = d.Rule + d.Reason
		}
		if !done(o.state) {
			out.State = statusRunning
			undone++
		}
		if m.Awaits {
			awaiting++
		}
		if o.status == statusWaiting {
			continue
		}
		g := byOutcome[o]
		if g == nil {
			g = &group{outcome: o, fault: fault}
			byOutcome[o] = g
			groups = append(groups, g)
		}
		g.members = append(g.members, m)
	}
	if f.Awaiting() || awaiting > 0 && awaiting == undone {
		out.State, out.Command = statusAwaits, command
	}
	for status, n := range names {
		out.Statuses[status], out.counts[status] = hosts.Fold(n), len(n)
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(len(b.members), len(a.members)) })
	if len(groups) > maxGroups {
		out.More = len(groups) - maxGroups
		groups = groups[:maxGroups]
	}
	b = budgetOf(b, len(groups))
	reads := false
	for _, g := range groups {
		o, err := g.show(b, red, len(members) > 1)
		if err != nil {
			return out, err
		}
		if o.Decision = decided(f.Decision(g.members[0].Host), red.text); o.Decision != nil && (o.State == statusAwaits || o.Status == string(session.StatusDenied)) {
			reads = s.explainDecision(g.members[0].Host, f.Command(), f.Decision(g.members[0].Host), g.members[0].Exec, o.Decision) || reads
		} else {
			o.Decision = nil
		}
		if o.Error != nil {
			o.Error.Message, _ = red(o.Error.Message)
		}
		out.Groups = append(out.Groups, o)
	}
	answered := func(g *group) bool {
		return g.status == string(session.StatusOK) || g.status == string(session.StatusExit)
	}
	if slices.ContainsFunc(groups, answered) && parse.LeavesBehind(f.Command().Script) {
		out.Note = "what the command has left in the background ended with it: wait for it, keep it with nohup or setsid, or use job_start"
	}
	s.nextOfRun(out, reads)
	return out, nil
}

// nextOfRun says what to call next, and leaves out what is usual.
func (s *Server) nextOfRun(o *runOut, reads bool) {
	switch {
	case o.State == statusAwaits:
		o.Next = fmt.Sprintf("session_output with exec_id %s waits for the answer", o.Run)
	case o.State != "" && !done(o.State):
		o.Next = fmt.Sprintf("session_output with exec_id %s waits for it", o.Run)
	}
	if reads {
		o.Next = strings.TrimPrefix(o.Next+"; "+nextLook, "; ")
	}
	if o.Hosts == 0 && o.State == "" && len(o.Groups) == 1 {
		o.Run = ""
	}
}

// outcomeOf sorts one host.
func outcomeOf(m registry.Member) (o outcome, fault *faultOut) {
	switch {
	case m.Exec == nil && m.Err == nil:
		o.state, o.status = statusWaiting, statusWaiting
		return o, nil
	case m.Exec == nil:
		fault = faultOf(m.Err)
		o.state, o.status, o.why = string(session.Done), statusOf(fault.Code), fault.Code+fault.Message
		return o, fault
	case m.Awaits:
		o.state, o.status = statusAwaits, statusAwaits
		return o, nil
	case m.Exec.Running():
		o.state, o.status = statusRunning, statusRunning
		return o, nil
	}
	v, err := m.Exec.View(registry.Budgets{Stdout: output.Budget{MaxBytes: 1}, Stderr: output.Budget{MaxBytes: 1}})
	if err == nil {
		o.stdout, err = m.Exec.Sum(registry.Stdout)
	}
	if err == nil {
		o.stderr, err = m.Exec.Sum(registry.Stderr)
	}
	r := &v.Result
	o.state, o.status, o.signal = string(session.Done), string(r.Status), r.Signal
	if r.ExitCode != nil {
		o.code = *r.ExitCode
	}
	if fault = faultOf(errOf(r.Err)); err != nil {
		fault = faultOf(err)
	}
	if m.Late {
		fault = faultOf(&callError{code: string(session.StatusTimeout), err: rollout.ErrDeadline})
		o.status = fault.Code
	}
	if no := verifyFault(m.Verified); no != nil {
		o.status, fault = no.Code, no
	}
	if fault != nil {
		o.why = fault.Code + fault.Message
	}
	return o, fault
}

// statusOf is the status of a host where no command began.
func statusOf(code string) string {
	switch code {
	case "unreachable", "auth", "hostkey", "denied", "expired", "canceled", "lost":
		return code
	case rollout.CodeNotRun:
		return string(session.StatusCanceled)
	}
	return string(session.StatusError)
}

// show tells a group by its first host.
func (g *group) show(b output.Budget, red redactor, many bool) (groupOut, error) {
	var names []string
	for _, m := range g.members {
		names = append(names, m.Host.Name)
	}
	o := groupOut{Hosts: hosts.Fold(names), Error: g.fault}
	if len(names) > 1 {
		o.Count = len(names)
	}
	if done(g.state) {
		o.Status, o.Signal = g.status, g.signal
	} else {
		o.State = g.status
	}
	x := g.members[0].Exec
	if x == nil {
		return o, nil
	}
	v, err := x.View(budgets(b))
	var se *session.Error
	if errors.As(err, &se) && se.Code == registry.CodeGone {
		return o, nil
	} else if err != nil {
		return o, err
	}
	o.fill(&v, b, red)
	if len(o.Omitted)+len(o.Cleaned)+len(o.Binary) > 0 || many {
		o.Exec = x.ID()
	}
	if !done(g.state) {
		// Hosts that run are one group, whatever they have printed.
		o.outputOut = outputOut{}
		for _, m := range g.members {
			put(&o.Execs, m.Host.Name, m.Exec.ID())
		}
		return o, nil
	}
	o.ExitCode, o.StoppedBy, o.MayRun = exitCode(&v.Result), v.Result.StoppedBy, v.Result.MayRun
	return o, nil
}
