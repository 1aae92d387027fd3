package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

var errMine = errors.New("the user left")

// endings are the ways in which a caller's context ends after a second.
var endings = map[string]struct {
	ctx func(context.Context) (context.Context, func())
	is  []error
}{
	"deadline": {func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		return ctx, cancel
	}, []error{context.DeadlineExceeded}},
	"deadline with a cause": {func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithTimeoutCause(ctx, time.Second, errMine)
		return ctx, cancel
	}, []error{context.DeadlineExceeded, errMine}},
	"canceled": {func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}, []error{context.Canceled}},
	"canceled with a cause": {func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { cancel(errMine) })
		return ctx, func() { cancel(nil) }
	}, []error{context.Canceled, errMine}},
}

func TestErrorsSayWhichContextEnded(t *testing.T) {
	for how, end := range endings {
		for what, tt := range map[string]struct {
			faults faults
			slow   bool // to dial
			sent   bool
			call   func(context.Context, *session.Pool) error
		}{
			"Run, while it runs": {sent: true, call: func(ctx context.Context, p *session.Pool) error {
				_, err := p.Run(ctx, web1, session.Command{Script: "hang"})
				return err
			}},
			"Run, while it dials": {slow: true, call: func(ctx context.Context, p *session.Pool) error {
				_, err := p.Run(ctx, web1, session.Command{Script: "hang"})
				return err
			}},
			"Run, while the shell starts": {faults: faults{Mute: true}, call: func(ctx context.Context, p *session.Pool) error {
				_, err := p.Run(ctx, web1, session.Command{Script: "hang"})
				return err
			}},
			"Run, before anything": {call: func(ctx context.Context, p *session.Pool) error {
				<-ctx.Done()
				_, err := p.Run(ctx, web1, session.Command{Script: "hang"})
				return err
			}},
			"Run in a session": {sent: true, call: func(ctx context.Context, p *session.Pool) error {
				s, err := p.Open(web1)
				if err != nil {
					return err
				}
				defer s.Close()
				_, err = s.Run(ctx, session.Command{Script: "hang"})
				return err
			}},
			"Start": {slow: true, call: func(ctx context.Context, p *session.Pool) error {
				s, err := p.Open(web1)
				if err != nil {
					return err
				}
				defer s.Close()
				_, err = s.Start(ctx, session.Command{Script: "hang"})
				return err
			}},
			"Wait": {call: func(ctx context.Context, p *session.Pool) error {
				s, err := p.Open(web1)
				if err != nil {
					return err
				}
				defer s.Close()
				x, err := s.Start(context.WithoutCancel(ctx), session.Command{Script: "hang"})
				if err != nil {
					return err
				}
				_, err = x.Wait(ctx)
				return err
			}},
			"Each, one that runs": {sent: true, call: func(ctx context.Context, p *session.Pool) error {
				for _, r := range p.Each(ctx, []hosts.Host{web1}, session.Command{Script: "hang"}) {
					return r.Err
				}
				return nil
			}},
			"Each, one that was not begun": {call: func(ctx context.Context, p *session.Pool) (err error) {
				for h, r := range p.Each(ctx, []hosts.Host{web1, {Name: "web2"}}, session.Command{Script: "hang", Forks: 1}) {
					if h.Name == "web2" {
						err = r.Err
					}
				}
				return err
			}},
			"Lend": {slow: true, call: func(ctx context.Context, p *session.Pool) error {
				_, err := session.Lend(ctx, p, web1, func(session.Transport) error { return nil })
				return err
			}},
			"Shutdown": {call: func(ctx context.Context, p *session.Pool) error {
				mustOpen(t, p, web1)
				return p.Shutdown(ctx)
			}},
		} {
			t.Run(what+"/"+how, func(t *testing.T) {
				inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
					d.On("hang", reply{Hang: true})
					if tt.slow {
						tt.faults.Slow = make(chan struct{}) // of this bubble
					}
					d.Fault("web1", tt.faults)
					p := poolOn(t, d, session.PoolConfig{})
					ctx, cancel := end.ctx(t.Context())
					defer cancel()
					err := tt.call(ctx, p)
					require.Error(t, err)
					for _, is := range end.is {
						assert.ErrorIs(t, err, is)
					}
					var e *session.Error
					if errors.As(err, &e) {
						assert.Equal(t, tt.sent, e.Sent)
						assert.Equal(t, "canceled", e.Code)
					}
					d.On("*")
					d.Fault("web1", faults{})
					p2 := poolOn(t, d, session.PoolConfig{})
					_, err = p2.Run(context.Background(), web1, session.Command{Script: "hang", Timeout: time.Second})
					require.Error(t, err)
					assert.NotErrorIs(t, err, context.DeadlineExceeded, "Command.Timeout is not a context")
					_, err = p2.Run(context.Background(), web1, session.Command{Script: "used"})
					require.NoError(t, err)
					synctest.Wait()
				})
			})
		}
	}
}

func TestStopIsNoContext(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true})
		p := poolOn(t, d, session.PoolConfig{})
		s := mustOpen(t, p, web1)
		x := begun(t, s, session.Command{Script: "hang"})
		x.Stop()
		assert.Equal(t, session.StatusCanceled, x.Result().Status)
		assert.NotErrorIs(t, x.Result().Err, context.Canceled)
	})
}

func TestExitErrorOfASignalHasNoCodeZero(t *testing.T) {
	var e *session.ExitError
	require.ErrorAs(t, session.Result{Status: session.StatusSignal, Signal: "KILL"}.ExitErr(), &e)
	assert.Equal(t, -1, e.Code, "as in os/exec")
	assert.Equal(t, "KILL", e.Signal)
	code := 3
	require.ErrorAs(t, session.Result{Status: session.StatusExit, ExitCode: &code}.ExitErr(), &e)
	assert.Equal(t, 3, e.Code)
}
