package registry_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

type reply = sessiontest.Reply

const me = "agent/test"

type callT = sessiontest.Call

type faultsT = sessiontest.Faults

var sessiontestAuth = sessiontest.Faults{Dial: session.ErrAuth}

// world is a registry over hosts that answer as scripted.
type world struct {
	*registry.Registry
	t      *testing.T
	dialer *sessiontest.Dialer
	pool   *session.Pool
	ready  sync.Once
	held   chan struct{} // lets the command "held" be judged
}

// Decide allows everything, "held" only when it may go on, and has "asked" be asked about where it is typed.
func (w *world) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if req.Command == "held" {
		<-w.held
	}
	if strings.HasPrefix(req.Command, "denied") {
		return policy.Decision{Verdict: policy.Deny, Reason: "not " + req.Command}, nil
	}
	if req.Input == "asked" {
		return policy.Decision{Verdict: policy.Ask}, nil
	}
	return policy.AllowAll.Decide(ctx, req)
}

// bubble runs f with a registry and a clock of its own.
func bubble(t *testing.T, cfg registry.Config, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		w := &world{t: t, dialer: d, held: make(chan struct{})}
		pool, err := session.NewPool(session.PoolConfig{
			Dial: d.Dial, IdleTimeout: -1, MaxLifetime: -1,
			Session: session.Config{Policy: w, Audit: audit.Discard{}, Approver: refuser{}},
		})
		require.NoError(t, err)
		defer pool.Close()
		cfg.Open = pool.Open
		r, err := registry.New(cfg)
		require.NoError(t, err)
		defer r.Close()
		w.Registry, w.pool = r, pool
		f(t, w)
	})
}

func (w *world) open(host, name string) *registry.Entry {
	w.t.Helper()
	w.ready.Do(func() { w.dialer.On(":", reply{}) })
	e, err := w.Open(w.t.Context(), registry.OpenRequest{Principal: me, Host: hosts.Host{Name: host}, Name: name})
	require.NoError(w.t, err)
	return e
}

func (w *world) start(e *registry.Entry, cmd registry.Command) *registry.Exec {
	w.t.Helper()
	x, err := e.Start(w.t.Context(), cmd)
	require.NoError(w.t, err)
	return x
}

// run runs a script to its end.
func (w *world) run(e *registry.Entry, script string) registry.View {
	w.t.Helper()
	x := w.start(e, registry.Command{Script: script})
	require.NoError(w.t, x.Wait(context.Background()))
	return w.view(x)
}

func (w *world) view(x *registry.Exec) registry.View {
	w.t.Helper()
	v, err := x.View(registry.Budgets{})
	require.NoError(w.t, err)
	return v
}

func codeOf(t *testing.T, err error) string {
	t.Helper()
	var e *session.Error
	if assert.ErrorAs(t, err, &e) {
		return e.Code
	}
	return ""
}
