package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// scripted is a server in this process, over hosts that answer as told: web01 to web30.
func scripted(t *testing.T, opts *mcp.ClientOptions) (*client, *sessiontest.Dialer) {
	t.Helper()
	d := sessiontest.NewDialer(t)
	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(t, err)
	t.Cleanup(func() { pool.Close() })
	reg, err := registry.New(registry.Config{Open: pool.Open})
	require.NoError(t, err)
	t.Cleanup(func() { reg.Close() })
	var all []hosts.Host
	for i := range 30 {
		all = append(all, hosts.Host{Name: fmt.Sprintf("web%02d", i+1)})
	}
	inv, err := hosts.NewInventory(all, nil)
	require.NoError(t, err)
	s, err := mcpserver.New(mcpserver.Config{
		Registry: reg, Inventory: func() (*hosts.Inventory, error) { return inv, nil }, Principal: "agent/test", Policy: policy.AllowAll,
	})
	require.NoError(t, err)
	ours, theirs := mcp.NewInMemoryTransports()
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(context.Background(), ours) })
	t.Cleanup(wg.Wait)
	t.Cleanup(s.Hangup)
	return connect(t, theirs, opts), d
}

func TestOutcomesOfEveryKindAreFolded(t *testing.T) {
	c, d := scripted(t, nil)
	d.OnFunc("work", func(c *sessiontest.Call) sessiontest.Reply {
		switch c.Host {
		case "web07", "web09":
			return sessiontest.Reply{Stderr: "disk full\n", Exit: 28}
		case "web11":
			return sessiontest.Reply{Stdout: strings.Repeat("same\n", 4000) + "but"}
		}
		return sessiontest.Reply{Stdout: strings.Repeat("same\n", 4000)}
	})
	d.Fault("web20", sessiontest.Faults{Dial: session.ErrAuth})
	d.Fault("web21", sessiontest.Faults{Dial: errors.New("no route")})
	d.Fault("web22", sessiontest.Faults{Dial: errors.New("no route")})
	r := c.call("run", args{"targets": "all", "command": "work", "output": args{"max_bytes": 1 << 20}})
	require.Nil(t, r.Error)
	assert.Equal(t, map[string]string{
		"ok": "web[01-06,08,10-19,23-30]", "exit": "web[07,09]", "auth": "web20", "unreachable": "web[21-22]",
	}, r.Statuses)
	require.Len(t, r.Groups, 5)
	assert.Equal(t, "web[01-06,08,10,12-19,23-30]", r.Groups[0].Hosts)
	assert.Contains(t, r.Groups[0].Stdout, "omitted")
	assert.Less(t, len(r.Raw), 34<<10, "all groups together")
	assert.Contains(t, r.Text, "30 hosts: 1 auth (web20), 2 exit (web[07,09]), 25 ok (web[01-06,08,10-19,23-30]), 2 unreachable (web[21-22])")
	for _, g := range r.Groups {
		if g.Hosts == "web[07,09]" {
			assert.Equal(t, 28, *g.ExitCode)
			assert.Equal(t, "disk full\n", g.Stderr)
		}
	}
}

func TestHowFarAFleetIsIsTold(t *testing.T) {
	told := make(chan *mcp.ProgressNotificationParams, 10)
	c, d := scripted(t, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params },
	})
	goOn := make(chan struct{})
	d.OnFunc("work", func(c *sessiontest.Call) sessiontest.Reply {
		if c.Host == "web03" {
			<-goOn
		}
		return sessiontest.Reply{}
	})
	p := &mcp.CallToolParams{Name: "run", Arguments: args{"targets": "web[01-03]", "command": "work"}}
	p.SetProgressToken(7)
	done := make(chan answer, 1)
	go func() { done <- c.callWith(context.Background(), p) }()
	n := <-told
	assert.EqualValues(t, 2, n.Progress)
	assert.EqualValues(t, 3, n.Total)
	assert.Equal(t, "2 of 3 hosts are done", n.Message)
	// The protocol wants each progress to be greater than the last.
	for last := n.Progress; last < 2.15; last = n.Progress {
		n = <-told
		assert.Equal(t, "2 of 3 hosts are done", n.Message)
		assert.Less(t, n.Progress, 3.0)
		require.Greater(t, n.Progress, last)
	}
	close(goOn)
	assert.Equal(t, "done", (<-done).State)
}

func TestCancellingARunStopsItEverywhere(t *testing.T) {
	c, d := scripted(t, nil)
	begun, interrupted := make(chan struct{}, 3), make(chan bool, 3)
	d.OnFunc("work", func(c *sessiontest.Call) sessiontest.Reply {
		begun <- struct{}{}
		select {
		case <-c.Interrupted:
			interrupted <- true
		case <-c.HungUp:
			interrupted <- false
		}
		return sessiontest.Reply{Exit: 130}
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "run", Arguments: args{"targets": "web[01-03]", "command": "work"}})
		ended <- err
	}()
	for range 3 {
		<-begun
	}
	cancel()
	require.Error(t, <-ended)
	for range 3 {
		assert.True(t, <-interrupted)
	}
}

func TestAShellThatWasReplacedIsTold(t *testing.T) {
	c, d := scripted(t, nil)
	d.On(":", sessiontest.Reply{})
	d.On("exit 3", sessiontest.Reply{Ends: true, Exit: 3})
	d.On("work", sessiontest.Reply{})
	id := c.open("web01")
	assert.Equal(t, 3, *c.exec(id, "exit 3").ExitCode)
	r := c.exec(id, "work")
	assert.Contains(t, r.Raw, `"shell_restarted":true`)
	d.Break("web01")
	for r = c.exec(id, "work"); r.Status == "lost"; r = c.exec(id, "work") {
		// It was sent before the end of the connection was seen.
	}
	assert.Contains(t, r.Raw, `"reconnected":true`)
	assert.Equal(t, "ok", r.Status)
}
