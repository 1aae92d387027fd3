package session_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

type (
	reply  = sessiontest.Reply
	faults = sessiontest.Faults
)

var web1 = hosts.Host{Name: "web1"}

// permissive allows and records nothing.
func permissive() session.Config {
	return session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}
}

// inBubble runs f where time is fake and every goroutine must end.
func inBubble(t *testing.T, f func(t *testing.T, d *sessiontest.Dialer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, sessiontest.NewDialer(t)) })
}

// on returns a session on a connection of its own to a scripted host; both end with the test.
func on(t testing.TB, d *sessiontest.Dialer, h hosts.Host, cfg session.Config) *session.Session {
	t.Helper()
	tr, err := d.Dial(t.Context(), h)
	require.NoError(t, err)
	s, err := session.Open(tr, h, cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, tr.Close())
	})
	return s
}

// poolOn returns a pool of connections to scripted hosts; it ends with the test.
func poolOn(t testing.TB, d *sessiontest.Dialer, cfg session.PoolConfig) *session.Pool {
	t.Helper()
	if cfg.Dial == nil {
		cfg.Dial = d.Dial
	}
	if cfg.Session.Policy == nil {
		cfg.Session.Policy = policy.AllowAll
	}
	if cfg.Session.Audit == nil {
		cfg.Session.Audit = audit.Discard{}
	}
	p, err := session.NewPool(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		s := p.Stats()
		require.Zero(t, s.Dialing+s.Idle+s.Used+s.Sessions+s.Waiting, "after Close: %+v", s)
		require.Zero(t, session.Keys(p), "after Close")
	})
	return p
}

// mustOpen opens a session of p on h.
func mustOpen(t testing.TB, p *session.Pool, h hosts.Host) *session.Session {
	t.Helper()
	s, err := p.Open(h)
	require.NoError(t, err)
	return s
}

// runOK runs a command that must exit with 0.
func runOK(t testing.TB, s *session.Session, script string) session.Result {
	t.Helper()
	r, err := s.Run(t.Context(), session.Command{Script: script})
	require.NoError(t, err)
	require.Equal(t, session.StatusOK, r.Status)
	return r
}

// begun starts a command and waits until it runs.
func begun(t testing.TB, s *session.Session, cmd session.Command) *session.Exec {
	t.Helper()
	x, err := s.Start(t.Context(), cmd)
	require.NoError(t, err)
	synctest.Wait()
	return x
}

// ended is what Run returned in another goroutine.
type ended struct {
	r   session.Result
	err error
}

// running runs a command in another goroutine and waits until it can go no further.
func running(ctx context.Context, run func(context.Context, session.Command) (session.Result, error), cmd session.Command) <-chan ended {
	out := make(chan ended, 1)
	go func() {
		r, err := run(ctx, cmd)
		out <- ended{r, err}
	}()
	synctest.Wait()
	return out
}

// ledger is a Sink that keeps what it is told, and fails on demand.
type ledger struct {
	mu     sync.Mutex
	events []audit.Event
	before func(e audit.Event) error // nil allows everything
}

func (l *ledger) Record(_ context.Context, e audit.Event) error {
	if l.before != nil {
		if err := l.before(e); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	return nil
}

// kinds returns the kinds of what is on record.
func (l *ledger) kinds() []audit.Kind {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []audit.Kind
	for _, e := range l.events {
		out = append(out, e.Kind)
	}
	return out
}

func (l *ledger) all() []audit.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// says is a policy of one verdict.
func says(v policy.Verdict, reason string) policy.Decider {
	return policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Verdict: v, Rule: "test", Reason: reason}, nil
	})
}

// asError returns the Error that err is.
func asError(t testing.TB, err error) *session.Error {
	t.Helper()
	var e *session.Error
	require.True(t, errors.As(err, &e), "%v is no *session.Error", err)
	return e
}
