package session

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// longText is the length from which a frame is written by a goroutine of its own: the shell's first answers may have to
// be read before the last of it fits.
const longText = 2048

// sendTo sends x's frame, or fails x. It reports false when the shell had ended, and so nothing was sent.
func (s *Session) sendTo(ctx context.Context, sh *shell, x *Exec) bool {
	script, err := x.text(sh.hello.Dialect)
	if err != nil {
		x.fail(StatusError, "invalid", err)
		return true
	}
	if s.single && x.res.Lane != laneHeld && x.cmd.inner.wrapping == nil && !x.cmd.Interactive {
		script = leaving(script, sh.hello.Dialect)
	}
	s.mu.Lock()
	cmd := framing.Command{Script: script, Trace: s.trace && x.res.Lane == laneSession}
	if x.cmd.inner.wrapping == nil {
		cmd.Status = s.status
	}
	text := make([]byte, 0, len(script)+96)
	if s.typed { // ends what was typed past the end of a command: the shell passes over such a line
		text = append(text, '\n')
	}
	s.typed = x.cmd.Interactive
	s.mu.Unlock()
	switch {
	case x.cmd.Interactive:
		cmd.Mode, cmd.Rows, cmd.Cols = framing.Interactive, x.cmd.Size.Rows, x.cmd.Size.Cols
	case x.cmd.Merged:
		cmd.Mode = framing.Merged
	}
	if x.feed != nil {
		cmd.Stdin = x.feed.f.Path
	}
	text, err = framing.Append(text, sh.hello.Dialect, x.tok, cmd)
	if err != nil {
		x.fail(StatusError, "invalid", err)
		return true
	}
	sh.mind(script)
	if !x.traceless() {
		sh.worn.Store(true)
	}
	x.mu.Lock()
	x.sent = x.why == "" && ctx.Err() == nil
	sent := x.sent
	x.sh = sh
	x.mu.Unlock()
	if !sent {
		s.failStart(ctx, x, ctxerr.Of(ctx))
		return true
	}
	switch {
	case x.res.Lane == laneHeld:
		s.spend(x)
	case x.res.Lane == laneClean && (x.res.Decision.ForSession != "" || x.res.Decision.Ends):
		s.spendLane(laneClean)
	}
	s.leaves(x.res.Lane, x.res.Decision)
	x.sending()
	x.startClocks(sh, len(text))
	own := s.forget(sh)
	if !sh.take(x, x.tok) {
		x.mu.Lock()
		x.sent = false
		x.mu.Unlock()
		return false
	}
	if f := s.cfg.Trace.Sent; f != nil {
		f(ctx, s.host, x.id, len(text))
	}
	if text = append(own, text...); len(text) <= longText {
		// A shell that takes nothing more must not hold a caller who has gone.
		unwatch := context.AfterFunc(ctx, func() { x.stopFor(StatusCanceled, ctxerr.Of(ctx)) })
		sh.write(text)
		unwatch()
	} else {
		s.wg.Go(func() { sh.write(text) })
	}
	return true
}

// leaving is the script of a one-off command that may set a trap on EXIT, with the end of its shell behind it: so the trap runs while
// its output is waited for, and not when the shell is ended later, or never. The exit is in no trace of bash and sh; the others run
// the trap with the streams that the exit has.
func leaving(script string, d framing.Dialect) string {
	if !mayTrapExit.MatchString(script) {
		return script
	}
	evaluated, err := evaluating(script)
	if err != nil {
		return script // which cannot be sent either, and it is told why
	}
	if d == framing.Bash || d == framing.POSIX {
		return evaluated + "\n{ \\exit; } 2>/dev/null"
	}
	return evaluated + "\n\\exit"
}

// mayTrapExit finds what sets a trap on EXIT, by its name or number; TRAPEXIT is a function of zsh.
var mayTrapExit = lazyregexp.New(`(?is)trap.*(exit|\b0\b)`)

// sending says that the command may run and is sent now.
func (x *Exec) sending() {
	f := x.cmd.Sending
	if f == nil {
		f = x.s.cfg.Sending
	}
	if f != nil {
		f(x.shown(nil))
	}
}

// exited notes the exit code that the next command sees as that of the one before, in whichever lane.
func (s *Session) exited(x *Exec, code int) {
	if x.cmd.inner.wrapping != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = code
}

// frameEnded notes the state that a command leaves.
func (s *Session) frameEnded(lane string, t framing.Trailer) {
	if lane == laneSession {
		s.mu.Lock()
		s.trace = t.Trace
		s.mu.Unlock()
	}
	s.stands(lane, t.Dir)
}

// input gets the standard input ready of a command that sh runs, or fails x.
func (s *Session) input(ctx context.Context, sh *shell, x *Exec) bool {
	if x.cmd.Stdin == nil || x.cmd.Interactive || x.feed != nil {
		return true
	}
	ready, cancel := s.readyIn(ctx, "the host was not ready for it within %v")
	defer cancel()
	f, err := s.openFeed(ready, x, sh.noPerl)
	if err != nil {
		if s.ended(ctx, x) || errors.Is(err, ErrClosed) {
			s.failStart(ctx, x, err)
			return false
		}
		if full, ok := x.whyFull(ctx, err); ok {
			x.fail(StatusError, "full", full)
			return false
		}
		x.fail(StatusError, "stdin", err)
		return false
	}
	x.feed = f
	return true
}
