package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// plain is a client that does nothing but write a line and read one: what is measured with it is the server, and the SDK's
// client where one wants to see that too.
type plain struct {
	b   *testing.B
	in  io.Writer
	out *bufio.Reader
	id  int
}

// plainly starts "fairlead mcp" for such a client.
func (p *place) plainly(b *testing.B, args ...string) *plain {
	cmd := p.command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; exit`, "sh", p.self, "mcp"}, args...)
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		require.NoError(b, cmd.Wait())
	})
	c := &plain{b: b, in: in, out: bufio.NewReader(out)}
	c.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"plain","version":"1"}}`)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(b, err)
	return c
}

// call returns the line that answers.
func (c *plain) call(method, params string) []byte {
	c.id++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", c.id, method, params); err != nil {
		c.b.Fatal(err)
	}
	for {
		line, err := c.out.ReadSlice('\n')
		switch {
		case err != nil:
			c.b.Fatal(err)
		case !bytes.Contains(line, fmt.Appendf(nil, `"id":%d,`, c.id)):
		case bytes.Contains(line, []byte(`"isError":true`)) || bytes.Contains(line, []byte(`"error":`)):
			c.b.Fatalf("%s", line)
		default:
			return line
		}
	}
}

// BenchmarkSessionExec is `true` in a warm session on OpenSSH's sshd, called over the protocol on standard input and output:
// with the program as the server, with a keeper behind it, and without anything between, in turns. The first two also with
// the SDK's client, which does some work of its own.
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
	lines := func(c *plain) func() {
		var opened struct {
			Result struct {
				StructuredContent answer `json:"structuredContent"`
			} `json:"result"`
		}
		require.NoError(b, json.Unmarshal(c.call("tools/call", `{"name":"session_open","arguments":{"host":"sshd"}}`), &opened))
		params := `{"name":"session_exec","arguments":{"session_id":"` + opened.Result.StructuredContent.SessionID + `","command":"true"}}`
		return func() { c.call("tools/call", params) }
	}
	relayed, served := lines(p.plainly(b)), lines(p.plainly(b, "--keeper", "off"))
	sdkRelayed, sdkServed := caller(p.stdio()), caller(p.stdio("--keeper", "off"))

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
	}{
		{name: "µs/keeper", f: relayed}, {name: "µs/in-process", f: served}, {name: "µs/Session.Run", f: direct},
		{name: "µs/keeper+SDK", f: sdkRelayed}, {name: "µs/in-process+SDK", f: sdkServed},
	}
	for _, m := range all {
		median(50, m.f)
	}
	for b.Loop() {
		for i := range all {
			all[i].took = append(all[i].took, median(100, all[i].f))
		}
	}
	for _, m := range all {
		slices.Sort(m.took)
		b.ReportMetric(float64(m.took[len(m.took)/2].Nanoseconds())/1000, m.name)
	}
	b.ReportMetric(0, "ns/op")
}
