package mcpserver_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// median runs f n times.
func median(n int, f func()) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		f()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[n/2]
}

// BenchmarkSessionExec is `true` in a warm session on OpenSSH's sshd, called over the protocol with the program as a child
// process, against the same call within one process, and against a call of the protocol that does nothing.
func BenchmarkSessionExec(b *testing.B) {
	sshd := sessiontest.OpenSSHD(b)
	c := newPlace(b, sshdInventory(sshd), "").start(b, nil)
	id := c.open("sshd")
	params := &mcp.CallToolParams{Name: "session_exec", Arguments: json.RawMessage(`{"session_id":"` + id + `","command":"true"}`)}
	ctx := context.Background()
	call := func() {
		if r, err := c.CallTool(ctx, params); err != nil || r.IsError {
			b.Fatal(r, err)
		}
	}
	ping := func() {
		if err := c.Ping(ctx, nil); err != nil {
			b.Fatal(err)
		}
	}
	s := direct(b, sshd, rules.New(rules.Config{}))
	run := func() {
		if r, err := s.Run(ctx, session.Command{Script: "true"}); err != nil || r.Status != session.StatusOK {
			b.Fatal(r.Status, err)
		}
	}
	for _, warm := range []func(){call, run, ping} {
		median(50, warm)
	}
	var calls, runs, pings []time.Duration
	for b.Loop() {
		calls, runs, pings = append(calls, median(300, call)), append(runs, median(300, run)), append(pings, median(300, ping))
	}
	p50 := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds())
	}
	b.ReportMetric(p50(calls), "µs/session_exec")
	b.ReportMetric(p50(runs), "µs/Session.Run")
	b.ReportMetric(p50(pings), "µs/ping")
	b.ReportMetric(0, "ns/op")
}

// direct is a session without anything between, with policy and record as the program has them.
func direct(b *testing.B, sshd *sessiontest.SSHD, p policy.Decider) *session.Session {
	b.Helper()
	sink, err := audit.Open(b.TempDir()+"/audit", audit.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { sink.Close() })
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Principal: "agent/mcp", Policy: p, Audit: sink}})
	require.NoError(b, err)
	b.Cleanup(func() { pool.Close() })
	h := sshd.Host(b, "sshd")
	s, err := pool.Open(hosts.Host(h))
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	return s
}
