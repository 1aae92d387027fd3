package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// kept is a world whose hosts are reached over connections, and whose keeper says what a test wants.
type kept struct {
	*world
	t      *testing.T
	socket string
	asked  []wire.NewRun // what it was asked to run
}

// newKept answers requests to run with what answer says.
func newKept(t *testing.T, answer func(in wire.NewRun) (status int, text string), names ...string) *kept {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	k := &kept{world: newWorld(t, names...), t: t, socket: filepath.Join(dir, "k.sock")}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/runs", func(w http.ResponseWriter, r *http.Request) {
		var in wire.NewRun
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		k.asked = append(k.asked, in)
		status, text := answer(in)
		if status == http.StatusOK {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		io.WriteString(w, text)
	})
	srv := httptest.NewUnstartedServer(mux)
	srv.Listener, err = net.Listen("unix", k.socket)
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(srv.Close)
	k.env["FAIRLEAD_KEEPER"] = ""
	k.Keepers = k
	k.Inventory = func() (*hosts.Inventory, error) {
		var hs []hosts.Host
		for i, n := range names {
			hs = append(hs, hosts.Host{Name: n, Tier: k.tier, Shell: "sh", Env: []string{"HOST=" + n}, Source: hosts.Pos{File: "test.yaml", Line: i + 1}})
		}
		return hosts.NewInventory(hs, nil)
	}
	return k
}

func (k *kept) Find(ctx context.Context) (*client.Client, error) { return k.Start(ctx) }
func (k *kept) Start(context.Context) (*client.Client, error) {
	c := client.New(client.Config{Socket: k.socket})
	k.t.Cleanup(c.Close)
	return c, nil
}

func refusedWith(status int, code, detail string) func(wire.NewRun) (int, string) {
	return func(wire.NewRun) (int, string) {
		return status, fmt.Sprintf(`{"status":%d,"code":%q,"detail":%q}`, status, code, detail)
	}
}

func event(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }

func begins(host int) string { return event("begin", fmt.Sprintf(`{"host":%d}`, host)) }

// ended is the result of a host that was not reached, or not logged in to.
func ended(host int, name, status string) string {
	return event("result", fmt.Sprintf(`{"host":%d,"result":{"host":%q,"state":"done","status":%q,"error":{"code":%q,"message":"run %s: because","reason":"because","address":"10.0.0.1:22"}}}`,
		host, name, status, status, name))
}

func TestAKeeperThatGoesAwayLeavesTheOutcomeUnknownWhereItHadBegun(t *testing.T) {
	k := newKept(t, func(wire.NewRun) (int, string) {
		return 200, begins(0) + event("output", `{"host":0,"stream":"stdout","encoding":"utf-8","data":"begun\n"}`) + begins(1) + ended(1, "web2", "unreachable")
	}, "web1", "web2", "web3")
	code, err := k.run(t.Context(), "all", "--", "true")
	require.NoError(t, err)
	assert.Equal(t, 6, code)
	assert.Equal(t, "web1 | begun\n", k.out.String())
	assert.Equal(t, `fairlead: 3 of 3 hosts failed, 0 succeeded
  web3  error: the keeper went away before it came to this host
  web1  outcome unknown: the keeper went away, and how the command ended is not known
  web2  unreachable: 10.0.0.1:22: because
`, k.err.String())
}

func TestWhatAKeeperCannotDoIsDoneFromHereAndWhatItRefusesIsNot(t *testing.T) {
	for code, tt := range map[string]struct {
		exit int
		out  string
		err  string
	}{
		"stale":     {0, "web1 | web1\nweb2 | web2\n", "fairlead: going on without a keeper: because\n"},
		"not_found": {0, "web1 | web1\nweb2 | web2\n", "fairlead: going on without a keeper: because\n"},
		"full":      {0, "web1 | web1\nweb2 | web2\n", "fairlead: going on without a keeper: because\n"},
		"denied":    {5, "", "fairlead: 2 of 2 hosts failed, 0 succeeded\n  web[1-2]  denied: because\n"},
		"quota":     {5, "", "fairlead: 2 of 2 hosts failed, 0 succeeded\n  web[1-2]  denied: because\n"},
		"policy":    {6, "", "fairlead: 2 of 2 hosts failed, 0 succeeded\n  web[1-2]  error: because\n"},
	} {
		t.Run(code, func(t *testing.T) {
			k := newKept(t, refusedWith(400, code, "because"), "web1", "web2")
			exit, err := k.run(t.Context(), "all", "--forks", "1", "--", "echo $HOST")
			require.NoError(t, err)
			assert.Equal(t, tt.exit, exit)
			assert.Equal(t, tt.out, k.out.String())
			assert.Equal(t, tt.err, k.err.String())
		})
	}
	k := newKept(t, refusedWith(409, "stale", "because"), "web1", "web2")
	k.env["FAIRLEAD_KEEPER"] = "require"
	exit, err := k.run(t.Context(), "all", "--", "echo $HOST")
	require.NoError(t, err)
	assert.Equal(t, 6, exit)
	assert.Empty(t, k.out.String(), "one is required")
	k = newKept(t, refusedWith(422, "invalid", "because"), "web1")
	_, err = k.run(t.Context(), "all", "--", "true")
	var usage *cmdutil.UsageError
	require.ErrorAs(t, err, &usage)
}

// noTerminal is one that nobody types at.
type noTerminal struct{ io.ReadWriter }

func (noTerminal) Close() error                    { return nil }
func (noTerminal) SetReadDeadline(time.Time) error { return nil }

// A key with a passphrase can be used where somebody types it, and only there.
func TestHostsWhereTheKeeperCannotLogInAreTriedFromHereIfThereIsAPerson(t *testing.T) {
	locked := func(wire.NewRun) (int, string) {
		return 200, begins(0) + ended(0, "web1", "auth") + begins(1) + ended(1, "web2", "unreachable") + event("end", `{"counts":{}}`)
	}
	k := newKept(t, locked, "web1", "web2")
	k.Terminal = func() (cmdutil.Terminal, error) { return noTerminal{}, nil }
	k.input(strings.NewReader("input"))
	exit, err := k.run(t.Context(), "all", "--stdin=copy", "--", "echo $HOST; cat")
	require.NoError(t, err)
	assert.Equal(t, 3, exit)
	assert.Equal(t, "web1 | web1\nweb1 | input\n", k.out.String())
	assert.Equal(t, "fairlead: 1 of 2 hosts failed, 1 succeeded\n  web2  unreachable: 10.0.0.1:22: because\n", k.err.String())

	for name, change := range map[string]func(k *kept){
		"nobody is there":   func(*kept) {},
		"one is required":   func(k *kept) { k.env["FAIRLEAD_KEEPER"] = "require" },
		"there is no other": func(k *kept) { k.Terminal = func() (cmdutil.Terminal, error) { return nil, io.EOF } },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t, locked, "web1", "web2")
			if name == "one is required" {
				k.Terminal = func() (cmdutil.Terminal, error) { return noTerminal{}, nil }
			}
			change(k)
			exit, err := k.run(t.Context(), "all", "--", "echo $HOST")
			require.NoError(t, err)
			assert.Equal(t, 3, exit)
			assert.Empty(t, k.out.String())
			assert.Contains(t, k.err.String(), "web1  not logged in: 10.0.0.1:22: because\n")
		})
	}
}

func TestTheKeeperIsUsedWhereThatIsOfUse(t *testing.T) {
	everywhere := func(in wire.NewRun) (int, string) {
		text := ""
		for i, name := range in.Hosts {
			text += begins(i) + event("result", fmt.Sprintf(`{"host":%d,"result":{"host":%q,"state":"done","status":"ok","exit_code":0}}`, i, name))
		}
		return 200, text + event("end", `{"counts":{"ok":1}}`)
	}
	k := newKept(t, everywhere, "web1", "web2")
	exit, err := k.run(t.Context(), "web1,web2,root@web9:2222", "--yes", "--reason", "so", "--timeout", "1s", "--idle", "500ms", "--connect-timeout", "2s", "--forks", "3", "--", "echo a\xff")
	require.NoError(t, err)
	assert.Zero(t, exit, k.err.String())
	require.Len(t, k.asked, 1)
	in := k.asked[0]
	assert.Equal(t, []string{"web1", "web2", "root@web9:2222"}, in.Hosts)
	assert.Len(t, in.Sums, 3)
	script, err := in.Script()
	require.NoError(t, err)
	assert.Equal(t, "echo a\xff", script)
	assert.Equal(t, []any{"so", 1.0, 0.5, 2.0, 3, true, "flag", "", -1}, []any{in.Reason, *in.TimeoutS, *in.IdleS, *in.ConnectTimeoutS, in.Forks, in.Confirm, in.Answered, in.BreakGlass, in.Keep})
	assert.False(t, in.Stdin || in.Quiet || in.Redact || in.Partial)

	for name, args := range map[string][]string{
		"another policy": {"web1", "--policy", filepath.Join(t.TempDir(), "p.yaml"), "--", "true"},
		"it is off":      {"web1", "--", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t, everywhere, "web1")
			if name == "it is off" {
				k.env["FAIRLEAD_KEEPER"] = "off"
			} else {
				require.NoError(t, os.WriteFile(args[2], []byte("version: 1\n"), 0o600))
			}
			_, err := k.run(t.Context(), args...)
			require.NoError(t, err)
			assert.Empty(t, k.asked)
			if name == "it is off" {
				return
			}
			k.env["FAIRLEAD_KEEPER"] = "require"
			_, err = k.run(t.Context(), args...)
			var usage *cmdutil.UsageError
			require.ErrorAs(t, err, &usage)
			assert.ErrorContains(t, err, "--policy")
		})
	}
}
