package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// What a model can call next, where a result alone does not say it.

const (
	nextWithdraw = "session_input with signal INT withdraws it"
	nextReset    = "session_close with reset true gives the session a new shell"
	nextLook     = "look runs the parts that only read"
	nextPending  = "meanwhile commands that only read run in the session"
)

// nextFor says what to call after a fault.
func (s *Server) nextFor(f *faultOut, err error) string {
	var sess *session.Error
	_ = errors.As(err, &sess)
	switch f.Code {
	case "busy":
		if x, err := s.cfg.Registry.Exec(s.cfg.Principal, f.Exec); err == nil && x.Awaiting() {
			return fmt.Sprintf("%s is waiting for approval: session_output with exec_id %s waits for it; %s; %s", f.Exec, f.Exec, nextWithdraw, nextPending)
		}
		return fmt.Sprintf("session_output with exec_id %s waits for it; session_input with signal INT interrupts it; %s", f.Exec, nextReset)
	case registry.CodeNotRunning:
		return "session_exec starts a command; session_output shows the last one again"
	case registry.CodeNotInteractive:
		return "session_input with signal INT, TERM or KILL stops it; to type, start it again with session_exec and interactive true"
	case registry.CodeSignal:
		return nextReset
	case registry.CodeChanged:
		return "session_close closes it; session_open then opens one as the inventory says now"
	case registry.CodeClosed:
		return "session_open opens another session"
	case registry.CodeGone:
		return "run the command again only if that does no harm"
	case registry.CodeNotFound:
		if sess != nil && sess.Op == "find" {
			return s.mineInShort()
		}
	case registry.CodeFull:
		return "session_close closes a session of yours; " + s.mineInShort()
	}
	return ""
}

// mineInShort names the caller's sessions.
func (s *Server) mineInShort() string {
	var names []string
	for _, e := range s.cfg.Registry.List(s.cfg.Principal) {
		name := e.ID()
		if e.Name() != "" {
			name = e.Name() + " (" + name + ")"
		}
		names = append(names, name+" on "+e.Host().Name)
		if len(names) == 10 {
			names = append(names, "more")
			break
		}
	}
	if len(names) == 0 {
		return "you have no open sessions: session_open opens one; session_output without arguments lists your commands, runs and jobs"
	}
	return "your sessions are " + strings.Join(names, ", ") + "; session_output without arguments lists your commands, runs and jobs, too"
}

// explain adds why a command was not simply allowed, part by part, and what to call next.
func (s *Server) explain(x *registry.Exec, v *registry.View, o *execOut) {
	h, exec := x.Entry().Host(), v.Result.Exec
	reads := s.explainDecision(h, x.Command(), v.Result.Decision, x, o.Decision)
	id := x.Entry().Name()
	if id == "" {
		id = x.Entry().ID()
	}
	switch {
	case o.State == statusAwaits:
		o.Next = fmt.Sprintf("session_output with exec_id %s waits for the answer; %s", exec, nextWithdraw)
		if reads {
			o.Next += "; " + nextLook
		}
	case o.Typed != nil && o.Typed.State == statusAwaits:
		o.Next = fmt.Sprintf("session_output with exec_id %s waits for the answer", exec)
	case o.State != "":
		o.Next = fmt.Sprintf("session_output with exec_id %s waits for it; session_input with session_id %s and signal INT interrupts it", exec, id)
		if w := o.WaitingFor; w != nil && x.Command().Interactive && w.Kind != string(screen.Silent) {
			o.Next = fmt.Sprintf("session_input with session_id %s types; session_output with exec_id %s waits", id, exec)
		}
	case o.Error != nil && o.Status == string(session.StatusDenied) && reads:
		o.Next = nextLook
	}
	if o.Error != nil {
		o.Error.Next = s.nextFor(o.Error, errOf(v.Result.Err))
	}
}

// explainDecision names the parts of a command that were not allowed.
func (s *Server) explainDecision(h hosts.Host, cmd registry.Command, d policy.Decision, x *registry.Exec, o *decisionOut) (reads bool) {
	if o == nil || d.Verdict == policy.Allow || cmd.Action != nil {
		return false
	}
	dir := ""
	if x != nil {
		_, dir = x.Began()
	}
	named, reads := s.parts(context.Background(), h, cmd.Script, dir)
	if named != "" {
		o.Reason = named
	}
	return reads
}
