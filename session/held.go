package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// What Result.Held says.
const (
	heldByKernel = "kernel"
	heldNot      = "no"
)

// hold finds out whether x, about which d was decided, runs held to reading, and returns what is decided then: where the policy
// requires it and the host cannot, that is Decision.Unheld. It may start the shell, and so the connection: an error of those
// is kept for when x would be sent.
func (s *Session) hold(ctx context.Context, x *Exec, d policy.Decision) policy.Decision {
	required := d.Verdict == policy.Allow && d.Unheld != nil
	switch {
	case x.cmd.Held:
		x.held = true
		return d
	case d.Verdict == policy.Allow && (d.Hold || d.Unfit != "" && len(d.Sockets) > 0):
		s.holdIfItCan(ctx, x, d)
		return d
	case d.Verdict == policy.Allow && d.Unfit != "":
		x.note(func(r *Result) { r.Held, r.NotHeld = heldNot, d.Unfit })
		return d
	case !required:
		return d
	case x.cmd.inner.action != nil: // it reads a file itself, and runs nothing
		x.note(func(r *Result) { r.Held, r.NotHeld = heldNot, "Fairlead reads the file itself" })
		return d
	}
	x.sockets = d.Sockets
	why := s.whyNotHeld(ctx, x)
	if why == "" {
		x.held = true
		return d
	}
	x.note(func(r *Result) { r.Held, r.NotHeld = heldNot, why })
	not := *d.Unheld
	not.Reason = fmt.Sprintf("%s, and %s cannot hold this: %s", not.Reason, s.host.Name, why)
	return not
}

// holdIfItCan has x run held, with the sockets that are open for it, where that can be; else as it is judged.
func (s *Session) holdIfItCan(ctx context.Context, x *Exec, d policy.Decision) {
	why := ""
	if d.Hold && slices.Contains(d.Sets, "*") && !s.cfg.OneOff {
		why = "the names that it sets for the session cannot be determined"
	} else if why = s.noHold(x); why == "" {
		x.sockets, x.ifItCan = d.Sockets, true
		why = s.whyNotHeld(ctx, x)
		x.ifItCan = false
	}
	if x.unready != nil && !s.heldAlone(ctx, x.unready) {
		x.held = true // the session's own shell would not start either
		return
	}
	if x.unready != nil {
		why = "no held shell could be started: " + x.unready.Error()
		s.mu.Lock()
		s.unwilling = why
		s.mu.Unlock()
	}
	if x.held = why == ""; x.held {
		return
	}
	x.sockets, x.unready = nil, nil
	if d.Unfit != "" {
		why = strings.TrimSuffix(d.Unfit+"; "+why, "; ")
	}
	x.note(func(r *Result) { r.Held, r.HeldBy, r.RefusedUnknown, r.NotHeld = heldNot, "", "", why })
}

// heldGives ends the session's held shell where err says that there is no room for its own one, and reports whether it did.
func (s *Session) heldGives(err error) bool {
	s.mu.Lock()
	there := s.heldSide.sh != nil
	s.mu.Unlock()
	if there = there && errors.Is(err, ErrFull); there {
		s.closeSide(laneHeld)
	}
	return there
}

// noHold says why x is not tried held where that is only wished for: a held shell did not start before.
func (s *Session) noHold(x *Exec) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unwilling
}

// heldAlone reports whether err, for which a held shell did not start, leaves hope for one that is not held.
func (s *Session) heldAlone(ctx context.Context, err error) bool {
	var dialed *dialError
	return ctx.Err() == nil && s.closing.Err() == nil && !errors.As(err, &dialed) && !errors.Is(err, errPoolClosed) && !errors.Is(err, ErrClosed)
}

// whyNotHeld says why x cannot be held, there or anywhere; "" where it can.
func (s *Session) whyNotHeld(ctx context.Context, x *Exec) string {
	if why := x.unholdable(); why != "" {
		return why
	}
	return s.holdable(ctx, x)
}

// closeSockets ends the shell of a command that sockets were open for: nothing that it left goes on, and the next one has none of them.
func (x *Exec) closeSockets(sh *shell) {
	if x.res.Lane == laneHeld && len(x.sockets) > 0 {
		sh.retire()
		x.s.wg.Go(sh.close)
	}
}

// holdWith returns spec with the texts that hold its shell.
func holdWith(spec framing.Shell, t held.Texts) framing.Shell {
	spec.Hold, spec.Watch, spec.HoldPython, spec.WatchPython = t.Hold, t.Watch, t.HoldPython, t.WatchPython
	return spec
}

// heldBy notes what holds a shell.
func heldBy(sh *shell) func(*Result) {
	return func(r *Result) {
		r.Held, r.HeldBy, r.RefusedUnknown = heldByKernel, sh.hello.HeldBy, sh.hello.Unwatched
	}
}

// unholdable says what about a command cannot be held anywhere; "" is nothing.
func (x *Exec) unholdable() string {
	switch {
	case x.cmd.Interactive:
		return "a command that can be typed at is more than what was judged"
	case x.cmd.inner.wrapping != nil:
		return "a job outlives its shell, and a held shell ends with everything that it started"
	case x.cmd.inner.action != nil:
		return "work on files is done over the connection, and not by a shell"
	}
	return ""
}

// holdable says why the host cannot hold x; "" where it can, or where that cannot be found out.
func (s *Session) holdable(ctx context.Context, x *Exec) string {
	s.mu.Lock()
	why := s.unheld
	s.mu.Unlock()
	if why != "" {
		return why
	}
	sh, err := s.sideShell(ctx, x, laneHeld)
	switch {
	case err == nil && len(x.sockets) > 0 && sh.hello.Unwatched != "":
		return "its sockets cannot be opened there: " + sh.hello.Unwatched
	case err == nil && len(x.sockets) > 0:
		leads, ok := s.askOwn(ctx, sh, framing.Command{Script: held.Elsewhere(x.sockets)})
		if leads = strings.Join(strings.Fields(leads), ", "); leads != "" || !ok {
			return strings.TrimSuffix("it may ask elsewhere there: "+leads, ": ")
		}
		x.note(heldBy(sh))
	case err == nil:
		x.note(heldBy(sh))
	}
	var un *framing.UnheldError
	if errors.As(err, &un) {
		s.mu.Lock()
		s.unheld = un.Reason
		s.mu.Unlock()
		return un.Reason
	}
	if errors.Is(err, ErrNoTerminal) {
		return "the server gives no terminal, and a held shell needs one"
	}
	x.unready = err
	return ""
}

// heldStarts fails x where its held shell could not be started before, for whatever has nothing to do with holding it; and where
// it asked to be held and cannot be.
func (s *Session) heldStarts(ctx context.Context, x *Exec) bool {
	if why := x.unholdable(); x.held && why != "" {
		x.note(func(r *Result) { r.Held, r.NotHeld = heldNot, why })
		x.fail(StatusDenied, "not_held", fmt.Errorf("%w: %s", ErrNotHeld, why))
		return false
	}
	if x.held && x.unready != nil {
		s.failStart(ctx, x, x.unready)
		return false
	}
	return true
}

// spend notes that a command of the held lane leaves more behind than a read does: the next one gets a new shell there.
func (s *Session) spend(x *Exec) {
	d := &x.res.Decision
	if x.cmd.Held || d.Taints || len(d.Sets) > 0 || d.Class != policy.ReadOnly && d.Class != policy.SensitiveRead {
		s.spendLane(laneHeld)
	}
}

// notHeld is failStart's error where the host cannot hold a command.
func (s *Session) notHeld(x *Exec, un *framing.UnheldError) {
	x.note(func(r *Result) { r.Held, r.NotHeld = heldNot, un.Reason })
	x.fail(StatusDenied, "not_held", fmt.Errorf("%w: %s", ErrNotHeld, un.Reason))
}

// heldWord is what the record says of how a command was held.
func (r *Result) heldWord() string {
	switch r.Held {
	case heldByKernel:
		return heldByKernel + ": " + r.HeldBy
	case heldNot:
		return heldNot + ": " + r.NotHeld
	}
	return ""
}

// HeldBy finds out by what the host's kernel holds commands of this session, such as "landlock 7, seccomp". It starts a held
// shell where there is none, and runs nothing; a session that runs a command is busy. The error says why the host cannot, or
// why that is not known: then it does not wrap ErrNotHeld.
func (s *Session) HeldBy(ctx context.Context) (string, error) {
	s.mu.Lock()
	busy := s.cur != nil
	s.mu.Unlock()
	if busy {
		return "", ErrBusy
	}
	x := &Exec{s: s, began: time.Now(), done: make(chan struct{})}
	sh, err := s.sideShell(ctx, x, laneHeld)
	var un *framing.UnheldError
	switch {
	case errors.As(err, &un):
		return "", fmt.Errorf("%w: %s", ErrNotHeld, un.Reason)
	case err != nil:
		return "", err
	}
	return sh.hello.HeldBy, nil
}

// maxRefused bounds how many refused calls a Result lists.
const maxRefused = 50

// refusals are the calls that were refused to one command. Exec.mu guards them.
type refusals struct {
	list []held.Refusal
	seen map[held.Refusal]bool
	more int
	left *held.Left // what its shell left behind; nil where it has not ended
}

// add takes a report of a held shell's supervisor.
func (r *refusals) add(report []byte) {
	call, left, ok := held.Refused(report)
	switch {
	case !ok || r.seen[call]:
		return
	case left != nil:
		r.left = left
		return
	case len(r.list) == maxRefused:
		r.more++
		return
	}
	if r.seen == nil {
		r.seen = map[held.Refusal]bool{}
	}
	r.seen[call] = true
	r.list = append(r.list, call)
}

// words are the refused calls of a Result as the audit log has them.
func (r *Result) refusedWords(redact func(string) string) (words []string) {
	for _, call := range r.Refused {
		words = append(words, redact(call.String()))
	}
	return words
}
