package store_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		childMain(what)
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		postgres.Stop()
		os.Exit(code)
	}))
}

// clock is a time that only moves when told.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// backend makes a new empty store, and opens it again.
type backend struct {
	name string
	new  func(t *testing.T) store.Config // where an empty store is to be
}

// backends are all kinds of store; the conformance suite runs on each.
var backends = []backend{
	{"sqlite", inSQLite},
	{"postgres", inPostgres},
}

// everywhere runs a test on each kind.
func everywhere(t *testing.T, test func(t *testing.T, cfg store.Config, clock *clock)) {
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			cfg := b.new(t)
			clock := newClock()
			cfg.Now, cfg.Patience, cfg.Timeout = clock.Now, -1, time.Minute // however busy the machine is
			test(t, cfg, clock)
		})
	}
}

// open opens a store until the test ends.
func open(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

const (
	asker    = "agent/mcp"
	ada      = "operator/ada"
	keeperID = "keeper/one"
)

// pending is a command that waits.
func pending() store.NewCommand {
	return store.NewCommand{
		Command: store.Command{
			Session: "s_1", Host: "web01", Command: "rm «redacted:token:1»", Cwd: "/srv", AskReason: "clean up", Status: store.Pending,
			Verdict: "ask", Class: "dangerous", Rule: "builtin/dangerous", Reason: "it removes files", RequestedBy: asker,
		},
		Exact:    []byte("rm hunter2\x00\xff"),
		Document: []byte("fairlead approval 1\nrm hunter2"),
	}
}

// wait keeps a pending command.
func wait(t *testing.T, s *store.Store, change func(*store.NewCommand)) store.Command {
	t.Helper()
	n := pending()
	if change != nil {
		change(&n)
	}
	c, made, err := s.Create(t.Context(), n)
	require.NoError(t, err)
	require.True(t, made)
	return c
}

// yes is ada's approval of what pending asks for.
func yes() store.Decision {
	return store.Decision{Approve: true, By: ada, Proof: "passphrase", Digest: store.Digest(pending().Document), Fingerprint: "SHA256:abc", Signature: []byte{0, 1, 2, 0xff}}
}
