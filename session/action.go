package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// kind is the kind of a record about x.
func (x *Exec) kind(k audit.Kind) audit.Kind {
	request := k == audit.CommandRequest
	switch {
	case x.cmd.inner.action != nil && request:
		return audit.FileRequest
	case x.cmd.inner.action != nil:
		return audit.FileResult
	case x.cmd.inner.wrapping != nil && request:
		return audit.JobRequest
	case x.cmd.inner.wrapping != nil:
		return audit.JobResult
	}
	return k
}

// shown is what is approved and recorded of x.
func (x *Exec) shown(hide func(string) string) string {
	if x.cmd.inner.action != nil {
		return x.cmd.inner.action.Text(hide)
	}
	text := x.cmd.Script
	if x.cmd.inner.wrapping != nil {
		text = x.cmd.inner.wrapping.Text(text)
	}
	if hide == nil {
		return text
	}
	return hide(text)
}

// act gets ready to do what has been allowed and recorded, as long as ctx lasts, and does it in a goroutine of its own, which
// Close awaits: a caller who has started it may leave.
func (s *Session) act(ctx context.Context, x *Exec) {
	x.mu.Lock()
	x.res.Lane, x.res.StderrMode = "", ""
	x.mu.Unlock()
	deed, release, err := s.openDeed(ctx, x)
	if deed == nil {
		if err != nil {
			s.failStart(ctx, x, err)
		}
		return
	}
	if err := s.leads(ctx, deed); err != nil {
		deed.Close()
		release()
		x.fail(StatusDenied, "denied", err)
		return
	}
	ctx, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	x.mu.Lock()
	x.abort = abort
	if x.why != "" {
		abort(nil)
	}
	x.mu.Unlock()
	if x.cmd.Timeout > 0 {
		x.timer = time.AfterFunc(x.cmd.Timeout, func() { x.stop(StatusTimeout) })
	}
	s.wg.Go(func() {
		defer abort(nil)
		err := deed.Do(ctx, actionOutput{x})
		deed.Close()
		release()
		x.acted(err)
	})
}

// leads refuses a Deed that touches paths which were not judged, if the policy does not allow those, too.
func (s *Session) leads(ctx context.Context, d seam.Deed) error {
	l, ok := d.(seam.Leading)
	if !ok {
		return nil
	}
	script, err := l.Leads()
	if err != nil || script == "" {
		return err
	}
	if d := s.decide(ctx, script, true); d.Verdict != policy.Allow {
		return fmt.Errorf("%w: a symbolic link leads elsewhere, and that needs more (%s): name the real path", ErrDenied, d.Reason)
	}
	return nil
}

// openDeed gets x's action ready. Without a Deed and without an error x has failed already.
func (s *Session) openDeed(ctx context.Context, x *Exec) (d seam.Deed, release func(), err error) {
	if s.aside(x) {
		return s.openAside(ctx, x)
	}
	for range maxShells {
		// The session's own shell comes with a connection, and says where the session stands.
		sh := s.shellFor(ctx, x)
		if sh == nil && x.bare {
			d, err = s.openOn(ctx, s.transport(), x)
			return d, func() {}, err
		}
		if sh == nil {
			return nil, nil, nil
		}
		d, err = s.openOn(ctx, s.transport(), x)
		switch {
		case err == nil:
			return d, func() {}, nil
		case ctx.Err() != nil:
			return nil, nil, err
		case errors.Is(err, ErrFull) && s.pool != nil:
			return s.openElsewhere(ctx, x)
		case !errors.Is(err, ErrClosed):
			return nil, nil, err
		}
		sh.close() // it ends with its connection, and another comes with both
	}
	return nil, nil, err
}

// aside reports whether x needs a connection, and no shell of the session's, which has none.
func (s *Session) aside(x *Exec) bool {
	a, ok := x.cmd.inner.action.(seam.Aside)
	if !ok || !a.Aside() || s.pool == nil || !s.cfg.OneOff || s.cfg.Program != nil || s.elevation != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sh == nil
}

// openAside is openDeed without a shell.
func (s *Session) openAside(ctx context.Context, x *Exec) (d seam.Deed, release func(), err error) {
	if err := s.renew(ctx, x); err != nil {
		return nil, nil, err
	}
	why := errNoConn
	for range maxShells {
		if s.transport() == nil || errors.Is(why, ErrClosed) {
			if err := s.reconnect(ctx, x, why); err != nil {
				return nil, nil, err
			}
		}
		d, err = s.openOn(ctx, s.transport(), x)
		switch {
		case err == nil:
			return d, func() {}, nil
		case ctx.Err() != nil:
			return nil, nil, err
		case errors.Is(err, ErrFull):
			return s.openElsewhere(ctx, x)
		case !errors.Is(err, ErrClosed):
			return nil, nil, err
		}
		why = err
	}
	return nil, nil, err
}

// openOn is Open within the time that a shell has to become ready.
func (s *Session) openOn(ctx context.Context, t Transport, x *Exec) (seam.Deed, error) {
	if t == nil {
		return nil, errNoConn
	}
	ctx, cancel := s.readyIn(ctx, "the host was not ready for it within %v")
	defer cancel()
	return x.cmd.inner.action.Open(ctx, s.held(t), s.host)
}

// openElsewhere gets x's action ready on another connection of the session's pool, because its own has no room.
func (s *Session) openElsewhere(ctx context.Context, x *Exec) (seam.Deed, func(), error) {
	if s.pool.moved() {
		return nil, nil, errMoved
	}
	w := x.wantOnce()
	for try := 0; ; try++ { // the pool may not know yet which connections have no room
		c, _, err := s.pool.pool.acquire(ctx, s.host, w)
		if err != nil {
			return nil, nil, err
		}
		d, err := s.openOn(ctx, c.t, x)
		if err == nil {
			return d, func() { s.pool.pool.giveBack(c, w, nil) }, nil
		}
		s.pool.pool.giveBack(c, w, err)
		if try == maxShells || !errors.Is(err, ErrFull) || ctx.Err() != nil {
			return nil, nil, err
		}
	}
}

// actionOutput is standard output of an action.
type actionOutput struct{ x *Exec }

func (o actionOutput) Write(p []byte) (int, error) {
	o.x.output(framing.Event{Kind: framing.Stdout, Data: p})
	return len(p), nil
}

// acted ends x with what its action returned. What has been done counts, also where it was to be stopped.
func (x *Exec) acted(err error) {
	dir := x.s.Dir()
	x.mu.Lock()
	r := &x.res
	r.Dir = dir
	x.sent = true
	var (
		e   *Error
		not *become.Error
	)
	switch {
	case err == nil && x.werr == nil:
		r.Status = StatusOK
	case err == nil:
		r.Status = StatusError
		r.Err = x.error("write", false, fmt.Errorf("the output could not be written: %w", x.werr))
	case errors.Is(err, ErrUnknownOutcome):
		r.Status, r.Err = StatusLost, x.error("lost", false, err)
	case x.why != "":
		r.Status = x.why
		r.Err = x.error(string(x.why), true, x.unfinished())
	case errors.As(err, &e):
		if r.Status = StatusError; errors.Is(e, ErrUnreachable) {
			r.Status = StatusUnreachable
		}
		r.Err = x.error(e.Code, e.Retriable, e.Err)
	case errors.As(err, &not):
		r.Status, r.Err = StatusAuth, x.error("become", false, not)
	case errors.Is(err, ErrClosed):
		r.Status, r.Err = StatusUnreachable, x.error("unreachable", true, &lostEarlyError{err})
	default:
		r.Status, r.Err = StatusError, x.error("error", false, err)
	}
	x.mu.Unlock()
	x.finish()
}

// lostEarlyError is the end of an action whose connection was lost.
type lostEarlyError struct{ err error }

func (e *lostEarlyError) Error() string {
	const text = "the connection was lost before it was done"
	// What packages of files say of it says no more.
	why := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(e.err.Error(), ErrClosed.Error()), ": "), "the connection was lost")
	if why = strings.TrimPrefix(why, ": "); why != "" {
		return text + ": " + why
	}
	return text
}

func (e *lostEarlyError) Unwrap() error { return e.err }

// unfinished says what there is of an action that was stopped. x.mu is held.
func (x *Exec) unfinished() error {
	why := "it was stopped before it was done: nothing has changed"
	if several, ok := x.cmd.inner.action.(seam.Several); ok && several.Several() {
		why = "it was stopped before all was done: the files that it has reported are done, and no other file has changed"
	}
	if x.cause != nil {
		return fmt.Errorf("%s: %w", why, x.cause)
	}
	return errors.New(why)
}
