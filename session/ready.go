package session

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// readyPause is how long to wait between two checks of what was started.
const readyPause = 500 * time.Millisecond

// ready sees to it that what x needs is there, or fails x. Checks and starts are commands like any other: judged, recorded,
// and run in a session of their own beside this one.
func (s *Session) ready(ctx context.Context, x *Exec) bool {
	for _, hook := range s.host.Ready {
		if !needs(x, hook.Match) {
			continue
		}
		if err := s.readyFor(ctx, hook); err != nil {
			if ctx.Err() != nil {
				s.failStart(ctx, x, ctxerr.Of(ctx))
				return false
			}
			x.fail(StatusError, "not_ready", fmt.Errorf("%w: %s: %w", ErrNotReady, hook.Match, err))
			return false
		}
	}
	return true
}

// needs reports whether a command calls a program. What the policy did not look into is told by its first word.
func needs(x *Exec, program string) bool {
	for _, name := range x.res.Decision.Uses {
		if name == program {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(x.cmd.Script), " ")
	return path.Base(first) == program
}

func (s *Session) readyFor(ctx context.Context, hook hosts.Ready) error {
	side, err := s.beside()
	if err != nil {
		return err
	}
	defer side.Close()
	err = runHook(ctx, side, hook.Check, "check")
	if err == nil || hook.Start == "" || errors.Is(err, ErrDenied) {
		return err
	}
	if err := runHook(ctx, side, hook.Start, "start"); err != nil {
		return err
	}
	deadline := time.Now().Add(hook.Wait)
	for {
		if err = runHook(ctx, side, hook.Check, "check"); err == nil || !time.Now().Before(deadline) {
			return err
		}
		t := time.NewTimer(readyPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctxerr.Of(ctx)
		}
	}
}

// beside is a session on the same connection for commands that prepare one of s.
func (s *Session) beside() (*Session, error) {
	t := s.transport()
	if t == nil {
		return nil, errNoConn
	}
	h := s.host
	h.Ready = nil
	side := newSession(t, h, s.cfg, nil)
	side.single = true
	return side, nil
}

func runHook(ctx context.Context, side *Session, script, what string) error {
	r, err := side.Run(ctx, Command{Script: script, Timeout: side.cfg.Ready, Reason: "readiness " + what})
	switch {
	case err != nil:
		return fmt.Errorf("the %s of its readiness hook did not run: %w", what, err)
	case r.Status == StatusOK:
		return nil
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(r.Stderr)+string(r.Stdout)), "\n")
	if said = printable.Heard(said, 200); said != "" {
		said = ": " + said
	}
	return fmt.Errorf("the %s of its readiness hook failed%s", what, said)
}
