package mcpserver_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// book is a sink that remembers.
type book struct {
	mu     sync.Mutex
	events []audit.Event
	fail   error
}

func (b *book) Record(_ context.Context, e audit.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	b.events = append(b.events, e)
	return nil
}

func (b *book) all() []audit.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]audit.Event(nil), b.events...)
}

// inside is a server in this process, under the built-in policy, whose desk and record can be looked at.
type inside struct {
	*mcpserver.Server
	desk   *approval.Desk
	asked  <-chan approval.Event
	book   *book
	policy *rules.Engine
	way    atomic.Pointer[string] // to all hosts
}

func newInside(t *testing.T, elicit bool) *inside {
	t.Helper()
	return within(t, newPlace(t, here, ""), elicit)
}

// within is newInside for another inventory.
func within(t *testing.T, p place, elicit bool) *inside {
	t.Helper()
	return under(t, p, rules.New(rules.Config{}), approval.Config{}, elicit)
}

// under is within for another policy and desk.
func under(t *testing.T, p place, e *rules.Engine, desk approval.Config, elicit bool) *inside {
	t.Helper()
	return configured(t, p, e, desk, elicit, func(*mcpserver.Config) {})
}

// configured is under for a server that is configured in a way of its own.
func configured(t *testing.T, p place, e *rules.Engine, desk approval.Config, elicit bool, change func(*mcpserver.Config)) *inside {
	t.Helper()
	in := &inside{desk: approval.NewDesk(desk), book: &book{}, policy: e}
	in.way.Store(new(string))
	events, stop := in.desk.Subscribe(100)
	t.Cleanup(stop)
	in.asked = events
	inv, _, err := inventory.Load(p.inventory, inventory.Options{})
	require.NoError(t, err)
	var approver policy.Approver = in.desk
	var elicitor *mcpserver.Elicitor
	if elicit {
		elicitor = mcpserver.NewElicitor(in.desk, "agent/test")
		approver = elicitor
	}
	secrets := redact.New(redact.Config{})
	pool, err := session.NewPool(session.PoolConfig{Dial: localpty.Dial, Session: session.Config{
		Principal: "agent/test", Policy: in.policy, Audit: in.book, Approver: approver, Redact: cmdutil.Redactor(secrets), Sending: cmdutil.Learner(secrets, "agent/test"),
	}})
	require.NoError(t, err)
	reg, err := registry.New(registry.Config{Open: pool.Open, Secrets: secrets})
	require.NoError(t, err)
	t.Cleanup(func() { reg.Close(); pool.Close() })
	jobs := jobwork.New(jobwork.Config{Pool: pool, Secrets: secrets, Host: inv.Lookup})
	t.Cleanup(jobs.Close)
	cfg := mcpserver.Config{
		Registry: reg, Jobs: jobs, Inventory: func() (*hosts.Inventory, error) { return inv, nil }, Principal: "agent/test", Policy: in.policy, Asks: true, Approver: approver,
		Way: func(hosts.Host) string { return *in.way.Load() }, LeastProof: in.policy.LeastProof, Limits: func() rules.Limits { return in.policy.Limits("agent/test") }, Elicit: elicitor,
	}
	change(&cfg)
	in.Server, err = mcpserver.New(cfg)
	require.NoError(t, err)
	return in
}

// connect connects a client in memory; both ends end with the test.
func (in *inside) connect(t *testing.T, opts *mcp.ClientOptions) *client {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = in.Run(ctx, ours) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	// The last version in which a server asks by itself.
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).
		Connect(context.Background(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return &client{t, s}
}

// waiting returns the next question that comes to the desk and has not been given up.
func (in *inside) waiting(t *testing.T) approval.Pending {
	t.Helper()
	for e := range in.asked {
		if e.Kind == approval.Asked {
			if p, err := in.desk.Get(e.ID); err == nil {
				return p
			}
		}
	}
	t.Fatal("the desk is gone")
	return approval.Pending{}
}

func (in *inside) answer(t *testing.T, p approval.Pending, yes bool) {
	t.Helper()
	require.NoError(t, in.desk.Answer(approval.Response{ID: p.ID, Digest: p.Digest(), By: "operator/ada", Approved: yes}))
}
