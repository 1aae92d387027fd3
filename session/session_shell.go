package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// maxShells is how many shells a command tries. More than one is needed where a shell ends just before it takes the
// command.
const maxShells = 3

// laneOf returns the shell of x's lane, starting one where there is none, or fails x.
func (s *Session) laneOf(ctx context.Context, x *Exec) *shell {
	if x.res.Lane != laneSession {
		return s.laneFor(ctx, x)
	}
	return s.shellFor(ctx, x)
}

// shellFor returns the session's shell, starting one where there is none, or fails x.
func (s *Session) shellFor(ctx context.Context, x *Exec) *shell {
	s.settle(ctx)
	if err := s.renew(ctx, x); err != nil {
		s.failStart(ctx, x, err)
		return nil
	}
	s.mu.Lock()
	sh, dir, moved := s.sh, s.dir, s.moved
	s.moved = false
	s.mu.Unlock()
	if sh != nil && sh.alive() {
		if (!sh.cooked.Load() || s.repair(ctx, sh)) && (!moved || s.moveTo(ctx, sh, dir)) {
			return s.usable(sh, x)
		}
	}
	if sh != nil && sh.unused.Load() { // it died while it waited for its command
		sh.close()
	} else if sh != nil {
		sh.close()
		x.note(func(r *Result) { r.ShellRestarted = true })
		if f := s.cfg.Trace.ShellRestarted; f != nil {
			f(ctx, s.host, s.id)
		}
	}
	began, queued := time.Now(), x.res.Queue
	sh, err := s.newShell(ctx, x, dir)
	x.note(func(r *Result) { r.Dial += time.Since(began) - (r.Queue - queued) })
	if err != nil {
		if !s.bare(x, err) && !s.withoutTerminal(ctx, x, err) {
			s.failStart(ctx, x, err)
		}
		return nil
	}
	if x.res.ShellRestarted {
		var restored []string
		if dir != "" && sh.hello.Dir == dir {
			restored = append(restored, "cwd")
		}
		restored = append(restored, s.restore(ctx, sh)...)
		x.note(func(r *Result) { r.Restored = append(r.Restored, restored...) })
	}
	s.mu.Lock()
	s.sh, s.trace, s.typed = sh, false, false
	if s.dir == "" {
		s.dir = sh.hello.Dir
	}
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close has not seen this shell
		sh.close()
		s.failStart(ctx, x, ErrClosed)
		return nil
	}
	return s.usable(sh, x)
}

// renew gets the session another connection where the one that it has takes no new work. The shells on the old one end once there
// is another: until then they may still be of use.
func (s *Session) renew(ctx context.Context, x *Exec) error {
	t := s.transport()
	if t == nil {
		return nil
	}
	err := validate(t)
	if err == nil {
		return nil
	}
	if s.pool == nil {
		return &dialError{err}
	}
	began := time.Now()
	t, giveBack, queued, err := s.pool.renew(ctx, began.Add(x.slotWait()))
	x.note(func(r *Result) { r.Queue, r.Dial = r.Queue+queued, time.Since(began)-queued })
	if err != nil {
		return err
	}
	s.mu.Lock()
	sh := s.sh
	s.t, s.lost = t, false
	s.mu.Unlock()
	if sh != nil {
		sh.close()
		x.note(func(r *Result) { r.Reconnected = true })
	}
	s.closeSides()
	giveBack()
	return nil
}

func (s *Session) usable(sh *shell, x *Exec) *shell {
	if !sh.hello.Exact && !x.cmd.Merged && !x.cmd.Interactive {
		x.note(func(r *Result) { r.StderrMode = "lines" })
	}
	return sh
}

// newShell starts a shell in dir. Where the connection is gone, or has no room, it goes on with another one, if the
// session has a pool to get it from: nothing has been sent yet.
func (s *Session) newShell(ctx context.Context, x *Exec, dir string) (*shell, error) {
	spec := s.guarded(framing.Shell{Name: s.host.Shell, Login: s.host.Login, Dir: dir, Env: s.host.Env, Clean: s.cfg.cleanEnv()})
	if s.transport() == nil {
		if sh, _ := s.spareFor(ctx, x, spec); sh != nil {
			return sh, nil
		}
	}
	until := time.Now().Add(x.slotWait())
	for try := 0; ; {
		var sh *shell
		err := errNoConn
		if t := s.transport(); t != nil {
			if sh, err = s.shellOn(ctx, t, spec); s.heldGives(err) {
				sh, err = s.shellOn(ctx, t, spec)
			}
		}
		if err == nil || s.pool == nil || try == maxConns-1 || !errors.Is(err, errNoConn) && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrFull) || ctx.Err() != nil {
			return sh, err
		}
		// What is given back must not be used again, not even when there is nothing instead.
		s.mu.Lock()
		s.t, s.lost = nil, s.lost || errors.Is(err, ErrClosed)
		s.mu.Unlock()
		t, queued, again, lerr := s.pool.exchange(ctx, err, until)
		if !again {
			try++
		}
		x.note(func(r *Result) { r.Queue += queued })
		if lerr != nil {
			return nil, lerr
		}
		s.mu.Lock()
		lost := s.lost
		s.t, s.lost = t, false
		s.mu.Unlock()
		x.note(func(r *Result) { r.Reconnected = r.Reconnected || r.ShellRestarted && lost })
	}
}

const noShellWithin = "no shell was ready within %v: the account's start files may wait for input or be slow, or the server may force another command"

// shellOn starts a shell on one connection within the time that a shell has to become ready.
func (s *Session) shellOn(ctx context.Context, t Transport, spec framing.Shell) (*shell, error) {
	ctx, cancel := s.readyIn(ctx, noShellWithin)
	defer cancel()
	sh, err := startShell(ctx, s.held(t), spec)
	if err == nil && sh.free() {
		s.mayWarm()
	}
	return sh, err
}

// ended reports whether x was given up before it was sent, by whoever asked for it or with the session.
func (s *Session) ended(ctx context.Context, x *Exec) bool {
	return s.closing.Err() != nil || x.reason() != "" || ctx.Err() != nil
}

// failStart sorts out why there is no shell, or why x is not sent to the one that is there.
func (s *Session) failStart(ctx context.Context, x *Exec, err error) {
	var (
		un     *framing.UnheldError
		dialed *dialError
		place  *placeError
		told   *Error
	)
	if full, ok := x.whyFull(ctx, err); ok {
		x.fail(StatusError, "full", full)
		return
	}
	switch {
	case s.closing.Err() != nil, errors.Is(err, errPoolClosed):
		x.fail(StatusCanceled, "closed", ErrClosed)
	case x.reason() != "":
		why, cause := x.reasons()
		err := errors.New("stopped before anything was sent")
		if cause != nil {
			err = fmt.Errorf("%w: %w", err, cause)
		}
		x.fail(why, string(why), err)
	case ctx.Err() != nil:
		x.fail(StatusCanceled, "canceled", fmt.Errorf("stopped before anything was sent: %w", ctxerr.Of(ctx)))
	case errors.As(err, &un):
		s.notHeld(x, un)
	case errors.Is(err, errLane):
		x.fail(StatusError, "lane", err)
	case errors.As(err, &place):
		x.fail(StatusError, "error", err)
	case errors.As(err, &dialed):
		status, code := dialed.status()
		x.fail(status, code, dialed.Err)
	case errors.Is(err, ErrClosed):
		x.fail(StatusUnreachable, "unreachable", fmt.Errorf("the connection is gone: %w", err))
	case errors.Is(err, ErrFull):
		x.fail(StatusUnreachable, "full", err)
	case errors.As(err, &told) && x.cmd.inner.action != nil && told.Code != "":
		status := StatusError
		if errors.Is(told, ErrUnreachable) {
			status = StatusUnreachable
		}
		x.fail(status, told.Code, told.Err)
	case x.notBecome(err):
	default:
		x.fail(StatusUnreachable, "shell", err)
	}
}

// repair puts the terminal back as it was before a command changed it.
func (s *Session) repair(ctx context.Context, sh *shell) bool {
	_, ok := s.runOwn(ctx, sh, framing.Command{Script: framing.Repair, Mode: framing.Tty})
	sh.cooked.Store(false)
	return ok
}

// shellName is the kind of shell that runs the commands; before the first, what was asked for.
func (s *Session) shellName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sh := range []*shell{s.sh, s.heldSide.sh, s.cleanSide.sh} {
		if sh != nil {
			return sh.hello.Dialect.String()
		}
	}
	return s.host.Shell
}

// guarded returns the shell with what an agent's gets: variables and a function that keep reads from running code. No variable
// that was given undoes them.
func (s *Session) guarded(sh framing.Shell) framing.Shell {
	if hosts.RoleOf(s.cfg.Principal) == hosts.RoleAgent {
		if !sh.Clean {
			sh.Env = slices.Concat(sh.Env, policy.AgentEnviron())
		}
		sh.Prelude = policy.AgentPrelude
	}
	return sh
}
