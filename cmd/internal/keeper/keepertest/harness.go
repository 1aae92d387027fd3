package keepertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Here is the inventory of a World: this machine twice, for development and for production.
const Here = "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev}\n  - {name: there, transport: local, tier: prod}\n"

// World is a keeper that runs in the test, and what is around it.
type World struct {
	T         testing.TB
	Dir       string
	Places    listen.Places
	Cfg       keeper.Config
	Inventory string
	*client.Client
	StopServing func() error // ends it, and says how that went
}

// Start runs a keeper for the time of the test.
func Start(t testing.TB, change ...func(*keeper.Config)) *World {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &World{T: t, Dir: dir, Places: listen.Places{Socket: filepath.Join(dir, "r", "k.sock"), Log: filepath.Join(dir, "k.log")}}
	w.Inventory = filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(w.Inventory, []byte(Here), 0o600))
	sink, err := audit.Open(filepath.Join(dir, "audit"), audit.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { sink.Close() })
	w.Cfg = keeper.Config{
		Principal: "operator/ada", Inventory: w.Inventory, Audit: sink, AuditDir: filepath.Join(dir, "audit"), Version: "test", Idle: -1,
		Policy:      func() (*rules.Engine, error) { return w.policy() },
		PolicyFiles: []string{filepath.Join(dir, "policy.yaml")},
	}
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(dir, "state", "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { st.Close() })
	w.Cfg.Store, w.Cfg.ID = st, "k1"
	for _, f := range change {
		f(&w.Cfg)
	}
	w.Serve()
	return w
}

// policy is the built-in one, changed by a file of the world's.
func (w *World) policy() (*rules.Engine, error) {
	f, err := rules.ReadFile(filepath.Join(w.Dir, "policy.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return rules.New(rules.Config{}), nil
	}
	if err != nil {
		return nil, err
	}
	return rules.New(rules.Config{User: f}), nil
}

// Serve runs the keeper of w.Cfg until the test ends or StopServing is called.
func (w *World) Serve() {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, over := make(chan struct{}), make(chan error, 1)
	go func() { over <- keeper.Serve(ctx, w.Cfg, w.Places, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-over:
		cancel()
		require.NoError(w.T, err)
	}
	c := client.New(client.Config{Socket: w.Places.Socket})
	w.Client = c
	done := false
	w.StopServing = func() error {
		cancel()
		c.Close()
		if done {
			return nil
		}
		done = true
		return <-over
	}
	w.T.Cleanup(func() { require.NoError(w.T, w.StopServing()) })
}

// HTTP calls the keeper without a client of ours.
func (w *World) HTTP() *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.Places.Socket)
	}}
	w.T.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// OpenSession opens one on a host; name may be empty.
func (w *World) OpenSession(host, name string) wire.Session {
	w.T.Helper()
	s, err := w.Open(w.T.Context(), wire.Open{Host: host, Name: name})
	require.NoError(w.T, err)
	return s
}

// RunIn runs a command to its end.
func (w *World) RunIn(c *client.Client, session, script string) *wire.Result {
	w.T.Helper()
	r, err := c.Run(w.T.Context(), session, wire.Run{Command: script}, "")
	require.NoError(w.T, err)
	return r
}

// CodeOf is the code of a problem.
func CodeOf(t testing.TB, err error) string {
	t.Helper()
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	return p.Code
}

// OverSSH is a keeper with the host "sshd".
func OverSSH(t testing.TB, sshd *sessiontest.SSHD) *World {
	t.Helper()
	return Start(t, func(c *keeper.Config) {
		c.Inventory = filepath.Join(filepath.Dir(c.Inventory), "sshd.yaml")
		text := fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, ssh_config: %q, tier: dev}\n", sshd.Config)
		require.NoError(t, os.WriteFile(c.Inventory, []byte(text), 0o600))
	})
}
