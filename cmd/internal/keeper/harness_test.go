package keeper_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestMain(m *testing.M) {
	sessiontest.HostileSFTPMain()
	if dir := os.Getenv(lenderEnv); dir != "" {
		os.Exit(lenderMain(dir))
	}
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(childMain(dir))
	}
	if len(os.Args) > 3 && os.Args[1] == "sandbox-exec" {
		fmt.Fprintln(os.Stderr, sandbox.Confine(os.Args[2], os.Args[3:], os.Environ()))
		os.Exit(126)
	}
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // tests wait for processes most of the time; the command line wins
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		postgres.Stop()
		os.Exit(code)
	}))
}

const here = "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev}\n  - {name: there, transport: local, tier: prod}\n"

// world is a keeper that runs in the test, and what is around it.
type world struct {
	t         testing.TB
	dir       string
	places    listen.Places
	cfg       keeper.Config
	inventory string
	*client.Client
	stop func() error // ends it, and says how that went
}

// start runs a keeper for the time of the test.
func start(t testing.TB, change ...func(*keeper.Config)) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{t: t, dir: dir, places: listen.Places{Socket: filepath.Join(dir, "r", "k.sock"), Log: filepath.Join(dir, "k.log")}}
	w.inventory = filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(w.inventory, []byte(here), 0o600))
	sink, err := audit.Open(filepath.Join(dir, "audit"), audit.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { sink.Close() })
	w.cfg = keeper.Config{
		Principal: "operator/ada", Inventory: w.inventory, Audit: sink, AuditDir: filepath.Join(dir, "audit"), Version: "test", Idle: -1,
		Policy:      func() (*rules.Engine, error) { return w.policy() },
		PolicyFiles: []string{filepath.Join(dir, "policy.yaml")},
	}
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(dir, "state", "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { st.Close() })
	w.cfg.Store, w.cfg.ID = st, "k1"
	for _, f := range change {
		f(&w.cfg)
	}
	w.serve()
	return w
}

// policy is the built-in one, changed by a file of the world's.
func (w *world) policy() (*rules.Engine, error) {
	f, err := rules.ReadFile(filepath.Join(w.dir, "policy.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return rules.New(rules.Config{}), nil
	}
	if err != nil {
		return nil, err
	}
	return rules.New(rules.Config{User: f}), nil
}

func (w *world) serve() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, over := make(chan struct{}), make(chan error, 1)
	go func() { over <- keeper.Serve(ctx, w.cfg, w.places, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-over:
		cancel()
		require.NoError(w.t, err)
	}
	c := client.New(client.Config{Socket: w.places.Socket})
	w.Client = c
	done := false
	w.stop = func() error {
		cancel()
		c.Close()
		if done {
			return nil
		}
		done = true
		return <-over
	}
	w.t.Cleanup(func() { require.NoError(w.t, w.stop()) })
}

// http calls the keeper without a client of ours.
func (w *world) http() *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.places.Socket)
	}}
	w.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func (w *world) open(host, name string) wire.Session {
	w.t.Helper()
	s, err := w.Open(w.t.Context(), wire.Open{Host: host, Name: name})
	require.NoError(w.t, err)
	return s
}

// run runs a command to its end.
func (w *world) run(c *client.Client, session, script string) *wire.Result {
	w.t.Helper()
	r, err := c.Run(w.t.Context(), session, wire.Run{Command: script}, "")
	require.NoError(w.t, err)
	return r
}

// codeOf is the code of a problem.
func codeOf(t testing.TB, err error) string {
	t.Helper()
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	return p.Code
}
