package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
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

// BenchmarkSessionExec is `true` in a warm session on OpenSSH's sshd, called over the protocol on standard input and output:
// with the program as the server, with a keeper behind it, and without anything between, in turns.
func BenchmarkSessionExec(b *testing.B) {
	sshd := sessiontest.OpenSSHD(b)
	p := newPlace(b, fmt.Sprintf("version: 1\nhosts:\n  - {name: sshd, ssh_config: %s, tier: dev}\n", sshd.Config))
	p.keeper()
	ctx := context.Background()
	caller := func(a *agent) func() {
		opened := a.call("session_open", args{"host": "sshd"})
		require.Nil(b, opened.Error)
		params := &sdk.CallToolParams{Name: "session_exec", Arguments: json.RawMessage(`{"session_id":"` + opened.SessionID + `","command":"true"}`)}
		return func() {
			if r, err := a.CallTool(ctx, params); err != nil || r.IsError {
				b.Fatal(r, err)
			}
		}
	}
	relayed, served := caller(p.stdio()), caller(p.stdio("--keeper", "off"))

	sink, err := audit.Open(b.TempDir()+"/audit", audit.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { sink.Close() })
	d, err := sshconn.Static([]ssh.Signer{sshd.ClientKey}, sshd.HostKeys(b))
	require.NoError(b, err)
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Principal: "agent/mcp", Policy: rules.New(rules.Config{}), Audit: sink}})
	require.NoError(b, err)
	b.Cleanup(func() { pool.Close() })
	s, err := pool.Open(sshd.Host(b, "sshd"))
	require.NoError(b, err)
	direct := func() {
		if r, err := s.Run(ctx, session.Command{Script: "true"}); err != nil || r.Status != session.StatusOK {
			b.Fatal(r.Status, err)
		}
	}

	all := []struct {
		name string
		f    func()
		took []time.Duration
	}{{name: "µs/keeper", f: relayed}, {name: "µs/in-process", f: served}, {name: "µs/Session.Run", f: direct}}
	for _, m := range all {
		median(50, m.f)
	}
	for b.Loop() {
		for i := range all {
			all[i].took = append(all[i].took, median(300, all[i].f))
		}
	}
	for _, m := range all {
		slices.Sort(m.took)
		b.ReportMetric(float64(m.took[len(m.took)/2].Nanoseconds())/1000, m.name)
	}
	b.ReportMetric(0, "ns/op")
}
