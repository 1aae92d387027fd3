package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Action is something that is done on a session's host without its shell, such as replacing a file. It passes the same
// gate as a command: [Command].Script is judged, as shell source that would do the same; Text is approved and recorded; and
// nothing happens before. It runs as the session's command, so another one finds the session busy.
type Action interface {
	// Text says exactly what will be done. hide, if not nil, takes secrets out of a piece of text: for the record. It
	// returns the same every time.
	Text(hide func(string) string) string

	// Open gets ready on t, which leads to h and is not the Action's to close; where the session's programs are held it is
	// a [Held]. Nothing may change yet: after an error that wraps ErrClosed or ErrFull it is called again with another
	// connection. An *Error says with its Code what went wrong. ctx bounds it.
	Open(ctx context.Context, t Transport, h hosts.Host) (Deed, error)

	// Record puts what there is to say of the result on record. It is called once, when the action has ended, also where
	// it was never begun.
	Record(e *audit.Event)
}

// Deed is an Action that is ready. Both methods are called once, Do first or not at all.
type Deed interface {
	// Do does it. What it writes to out is standard output. When ctx ends it returns soon. An *Error says with its Code what
	// went wrong; an error that wraps ErrUnknownOutcome, that it may have been done or not; after any other nothing was.
	Do(ctx context.Context, out io.Writer) error

	Close() error
}

// kind is the kind of a record about x.
func (x *Exec) kind(k audit.Kind) audit.Kind {
	request := k == audit.CommandRequest
	switch {
	case x.cmd.Action != nil && request:
		return audit.FileRequest
	case x.cmd.Action != nil:
		return audit.FileResult
	case x.cmd.Wrapping != nil && request:
		return audit.JobRequest
	case x.cmd.Wrapping != nil:
		return audit.JobResult
	}
	return k
}

// shown is what is approved and recorded of x.
func (x *Exec) shown(hide func(string) string) string {
	if x.cmd.Action != nil {
		return x.cmd.Action.Text(hide)
	}
	text := x.cmd.Script
	if x.cmd.Wrapping != nil {
		text = x.cmd.Wrapping.Text(text)
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

// openDeed gets x's action ready. Without a Deed and without an error x has failed already.
func (s *Session) openDeed(ctx context.Context, x *Exec) (d Deed, release func(), err error) {
	for range maxShells {
		// The session's own shell comes with a connection, and says where the session stands.
		sh := s.shellFor(ctx, x)
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

// openOn is Open within the time that a shell has to become ready.
func (s *Session) openOn(ctx context.Context, t Transport, x *Exec) (Deed, error) {
	if t == nil {
		return nil, errNoConn
	}
	if s.cfg.Ready > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.Ready, fmt.Errorf("the host was not ready for it within %v", s.cfg.Ready))
		defer cancel()
	}
	return x.cmd.Action.Open(ctx, s.held(t), s.host)
}

// openElsewhere gets x's action ready on another connection of the session's pool, because its own has no room.
func (s *Session) openElsewhere(ctx context.Context, x *Exec) (Deed, func(), error) {
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
	var e *Error
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
		r.Err = x.error(string(x.why), true, errors.New("it was stopped before it was done: nothing has changed"))
	case errors.As(err, &e):
		r.Status, r.Err = StatusError, x.error(e.Code, e.Retriable, e.Err)
	case errors.Is(err, ErrClosed):
		r.Status, r.Err = StatusUnreachable, x.error("unreachable", true, fmt.Errorf("the connection was lost before it was done: %w", err))
	default:
		r.Status, r.Err = StatusError, x.error("error", false, err)
	}
	x.mu.Unlock()
	x.finish()
}
