package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Bounds of a command that is tried first. Past one of them it needs approval like any other.
const (
	trialTime = 10 * time.Second
	trialKeep = 4 << 20 // bytes of its output, which nobody sees before it has ended
)

// trialRule is the rule by which a command that was tried first is done: rules.HeldFirstRule.
const trialRule = "builtin/held-first"

// trial is what a command does in a shell that is held to reading, before anybody is asked about it. Its shell runs nothing else.
type trial struct {
	done chan struct{} // closed at the end of a frame and of the shell
	full chan struct{} // closed when it has printed too much

	mu      sync.Mutex // guards what follows
	out     []framing.Event
	size    int
	over    bool
	refused refusals
	end     *framing.Event // Ended or Exited
}

// tries reports whether x is tried first: not what a person types at or passes on to, what outlives the shell, and what changes a shell
// that goes on or may rest on what was set there.
func (s *Session) tries(x *Exec) bool {
	d, c := &x.res.Decision, &x.cmd
	if d.Verdict != policy.Ask || d.First == nil || c.Interactive || c.Stdin != nil || c.inner.action != nil || c.inner.wrapping != nil {
		return false
	}
	if by, ok := s.approver(x).(policy.SettledApprover); ok && by.Settled() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unheld == "" && s.untried == "" && (s.cfg.OneOff || !d.First.Shapes && !s.sets)
}

// tryFirst tries x. done says that this was all there is to do: x has ended. Else it returns x's decision, whose Reason says what the
// command tried.
func (s *Session) tryFirst(ctx context.Context, x *Exec) (d policy.Decision, done bool) {
	d = x.res.Decision
	defer s.closeSide(laneTrial)
	sh, err := s.sideShell(ctx, x, laneTrial)
	var un *framing.UnheldError
	switch {
	case errors.As(err, &un):
		s.mu.Lock()
		s.unheld = un.Reason
		s.mu.Unlock()
		return d, false
	case err == nil && sh != nil && sh.hello.Unwatched != "":
		s.mu.Lock()
		s.untried = sh.hello.Unwatched
		s.mu.Unlock()
		return d, false
	case err != nil && (ctx.Err() != nil || errors.As(err, new(*dialError)) || errors.Is(err, ErrClosed)):
		if s.recordRequest(ctx, x) {
			s.failStart(ctx, x, err)
		}
		return d, true
	case err != nil: // whatever keeps it from being tried, somebody can be asked
		return d, false
	case sh == nil:
		return d, true
	}
	asks := d
	d.Verdict, d.Rule, d.Needs, d.Hint, d.LeastProof = policy.Allow, trialRule, "", "", ""
	d.Reason = "it was tried held to reading, and the kernel refused it nothing"
	x.note(func(r *Result) { r.Decision = d })
	x.note(heldBy(sh))
	if !s.recordRequest(ctx, x) {
		return d, true
	}
	began := time.Now()
	t := &trial{done: make(chan struct{}, 4), full: make(chan struct{})}
	why := s.runTrial(ctx, x, sh, t)
	if ctx.Err() != nil {
		s.failStart(ctx, x, ctxerr.Of(ctx))
		return d, true
	}
	if why == "" {
		s.tried(x, t)
		return d, true
	}
	asks.Reason = strings.TrimPrefix(asks.Reason+"; "+why, "; ")
	s.recordTrial(x, t, why, time.Since(began))
	x.note(func(r *Result) { r.Decision, r.Held, r.HeldBy, r.RefusedUnknown = asks, "", "", "" })
	x.mu.Lock()
	x.recorded, x.asked = false, nil
	x.waited += time.Since(began)
	x.mu.Unlock()
	return asks, false
}

// runTrial runs x in its shell to the end of both, and says why that does not count; "" is that it has only read.
func (s *Session) runTrial(ctx context.Context, x *Exec, sh *shell, t *trial) (why string) {
	limit := trialTime
	if x.cmd.Timeout > 0 {
		limit = min(limit, x.cmd.Timeout)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	defer sh.close()
	script, err := x.text(sh.hello.Dialect)
	if err != nil {
		return "it could not be tried held to reading"
	}
	s.mu.Lock()
	cmd := framing.Command{Script: script, Status: s.status}
	s.mu.Unlock()
	if x.cmd.Merged {
		cmd.Mode = framing.Merged
	}
	// Its shell ends with it: what it leaves behind is known then.
	for _, frame := range []framing.Command{cmd, {Script: "exit 0"}} {
		own := &Exec{s: s, tok: framing.NewToken(), done: make(chan struct{}), internal: true, trial: t}
		if !s.typeOwn(sh, own, frame) {
			break
		}
		select {
		case <-t.done:
		case <-t.full:
			return fmt.Sprintf("it was tried held to reading, and printed more than %d MiB", trialKeep>>20)
		case <-timer.C:
			return fmt.Sprintf("it was tried held to reading, and had not ended after %v%s", limit, t.refusedText(s.cfg.Redact))
		case <-ctx.Done():
			return "stopped"
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.refused.left
	switch {
	case len(t.refused.list) > 0:
		return "it was tried held to reading, and the kernel refused: " + t.refused.text(s.cfg.Redact)
	case t.end == nil || left == nil:
		return "it was tried held to reading, and how it ended is not known"
	case left.Processes:
		return "it was tried held to reading, and left processes running"
	case left.Files:
		return "it was tried held to reading, and left temporary files"
	}
	return ""
}

// nobody says why nobody can approve a command.
func (c *Command) nobody() string {
	if c.Unasked {
		return ""
	}
	return " (approvals are not available here)"
}

// event takes what the shell of a trial says.
func (t *trial) event(ev framing.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev.Kind {
	case framing.Stdout, framing.Stderr, framing.Stray:
		if t.end != nil || t.over {
			return
		}
		if t.size += len(ev.Data); t.size > trialKeep {
			t.over, t.out = true, nil
			close(t.full)
			return
		}
		ev.Data = bytes.Clone(ev.Data)
		t.out = append(t.out, ev)
	case framing.Refused:
		t.refused.add(ev.Data)
	case framing.Ended, framing.Exited:
		if t.end == nil {
			t.end = &ev
		}
		t.done <- struct{}{}
	case framing.Broken:
		t.end = nil
		t.refused.left = nil
		t.done <- struct{}{}
	}
}

// ends notes that the shell's stream has ended.
func (t *trial) ends(error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case t.done <- struct{}{}:
	default:
	}
}

// tried makes what a trial gave x's own. It ends x, once x's writers have taken what it printed: they may wait for whoever starts x.
func (s *Session) tried(x *Exec, t *trial) {
	x.note(func(r *Result) { r.Lane = laneHeld })
	x.sending()
	x.mu.Lock()
	x.sent, x.started = true, true
	x.mu.Unlock()
	close(x.begun)
	code, signal, dir := t.end.Trailer.ExitCode, 0, t.end.Trailer.Dir
	if t.end.Kind == framing.Exited {
		code, signal, dir = t.end.Exit.Code, t.end.Exit.Signal, t.end.Exit.Dir
	}
	s.mu.Lock()
	if dir != "" {
		s.moved, s.dir = s.moved || dir != s.dir, dir
	}
	s.mu.Unlock()
	s.wg.Go(func() {
		for _, ev := range t.out {
			if ev.Kind != framing.Stray {
				x.output(ev)
				continue
			}
			x.mu.Lock()
			x.stray = append(x.stray, ev.Data[:min(len(ev.Data), maxStray-len(x.stray))]...)
			x.mu.Unlock()
		}
		x.ended(code, signal, dir)
	})
}

// recordTrial puts on record what became of a trial that does not count.
func (s *Session) recordTrial(x *Exec, t *trial, why string, took time.Duration) {
	e := s.event(x.kind(audit.CommandResult), x)
	e.State, e.Status, e.Held, e.DurationMS = string(Done), string(StatusDenied), x.res.heldWord(), took.Milliseconds()
	t.mu.Lock()
	r := Result{Refused: t.refused.list}
	t.mu.Unlock()
	e.Refused = r.refusedWords(s.cfg.Redact)
	e.Error = audit.Fault{Code: "held_first", Message: why}
	x.mu.Lock()
	ctx := x.asked
	x.mu.Unlock()
	_ = s.cfg.Audit.Record(ctx, e) // where it cannot be written, the question about the command cannot be recorded either
}

// maxTriedShown bounds how many refused calls a question shows, and each of them in bytes.
const maxTriedShown, maxTriedText = 10, 300

// refusedText is what was refused as a part of a sentence; "" where nothing was.
func (t *trial) refusedText(redact func(string) string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.refused.list) == 0 {
		return ""
	}
	return "; the kernel refused: " + t.refused.text(redact)
}

// text lists refused calls for people.
func (r *refusals) text(redact func(string) string) string {
	var words []string
	for _, call := range r.list[:min(len(r.list), maxTriedShown)] {
		words = append(words, clipped(redact(call.String())))
	}
	if more := len(r.list) - len(words) + r.more; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}

// clipped is a text that is short enough to be one of several.
func clipped(text string) string {
	if len(text) > maxTriedText {
		return strings.ToValidUTF8(text[:maxTriedText], "") + "…"
	}
	return text
}
