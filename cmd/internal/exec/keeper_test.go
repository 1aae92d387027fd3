package exec_test

import (
	"bytes"
	"context"
	"errors"
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

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exec"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// world is a program whose keeper says what a test wants, and whose own hosts are this machine.
type world struct {
	*cmdutil.Factory
	t        *testing.T
	socket   string
	out, err *bytes.Buffer

	find     error            // of looking for the keeper that runs
	sessions http.HandlerFunc // tells of a session; nil knows none
}

// newWorld answers requests to run, and to open a session, with answer.
func newWorld(t *testing.T, answer http.HandlerFunc) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{t: t, socket: filepath.Join(dir, "k.sock")}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/runs", answer)
	mux.HandleFunc("POST /v1/sessions", answer)
	mux.HandleFunc("GET /v1/sessions/{id}", func(rw http.ResponseWriter, r *http.Request) {
		if w.sessions != nil {
			w.sessions(rw, r)
			return
		}
		problem(rw, 404, "not_found", "there is no such thing")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { problem(w, 404, "not_found", "there is no such thing") })
	srv := httptest.NewUnstartedServer(mux)
	srv.Listener, err = net.Listen("unix", w.socket)
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(srv.Close)

	ios, _, out, errOut := iostreams.Test()
	w.out, w.err = out, errOut
	w.Factory = &cmdutil.Factory{
		IO: ios, Getenv: func(string) string { return "" }, Keepers: w,
		Inventory: func() (*hosts.Inventory, error) {
			return hosts.NewInventory([]hosts.Host{{Name: "far", Tier: "dev", Shell: "sh", Source: hosts.Pos{File: "i.yaml", Line: 1}}}, nil)
		},
		Pool: func(o cmdutil.PoolOptions) (*session.Pool, error) {
			pool, err := session.NewPool(session.PoolConfig{
				Dial: func(ctx context.Context, h hosts.Host) (session.Transport, error) {
					h.Transport = hosts.Local
					return localpty.Dial(ctx, h)
				},
				Session: session.Config{Principal: w.Caller().Principal, Policy: o.Policy, Audit: audit.Discard{}},
			})
			if err == nil {
				t.Cleanup(func() { pool.Close() })
			}
			return pool, err
		},
	}
	return w
}

func (w *world) Find(ctx context.Context) (*client.Client, error) {
	if w.find != nil {
		return nil, w.find
	}
	return w.Start(ctx)
}
func (w *world) Start(context.Context) (*client.Client, error) {
	c := client.New(client.Config{Socket: w.socket})
	w.t.Cleanup(c.Close)
	return c, nil
}

// run runs the command and returns its exit code.
func (w *world) run(args ...string) int {
	w.t.Helper()
	cmd := exec.NewCmd(w.Factory, nil)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(w.t.Context())
	var (
		exit  *cmdutil.ExitError
		usage *cmdutil.UsageError
	)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &usage):
		fmt.Fprintln(w.err, err)
		return 2
	}
	require.NoError(w.t, err)
	return -1
}

func problem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"status":%d,"code":%q,"detail":%q}`, status, code, detail)
}

// events answers with these.
func events(w http.ResponseWriter, all ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, strings.Join(all, ""))
	_ = http.NewResponseController(w).Flush()
}

const printed = "event: output\ndata: {\"stream\":\"stdout\",\"encoding\":\"utf-8\",\"data\":\"begun\\n\"}\n\n"

func end(status, code, why string, sent bool) string {
	return fmt.Sprintf("event: end\ndata: {\"result\":{\"host\":\"far\",\"state\":\"done\",\"status\":%q,\"error\":{\"code\":%q,\"message\":\"x\"}},\"why\":%q,\"sent\":%v}\n\n",
		status, code, why, sent)
}

func TestAKeeperThatGoesAwayLeavesTheOutcomeUnknown(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) { events(w, printed) })
	assert.Equal(t, 4, w.run("far", "--", "true"))
	assert.Equal(t, "begun\n", w.out.String())
	assert.Equal(t, "fairlead: far: outcome unknown: the keeper went away, and how the command ended is not known\n", w.err.String())

	w = newWorld(t, func(w http.ResponseWriter, _ *http.Request) { events(w, printed) })
	assert.Equal(t, 4, w.run("far", "--json", "--", "true"))
	assert.Contains(t, w.out.String(), `"status":"lost"`)
}

func TestWhatAKeeperRefusesHasTheExitCodesOfResults(t *testing.T) {
	for name, tt := range map[string]struct {
		code string
		exit int
		said string
	}{
		"a host that is not reached": {"unreachable", 3, "fairlead: far: unreachable: because\n"},
		"a key that is not trusted":  {"hostkey", 3, "fairlead: far: not trusted: because\n"},
		"a command that is denied":   {"denied", 5, "fairlead: far: denied: because\n"},
		"a quota that is used up":    {"quota", 5, "fairlead: far: denied: because\n"},
		"a session that is busy":     {"busy", 6, "fairlead: far: error: because\n"},
		"too many sessions":          {"full", 6, "fairlead: far: full: because\n"},
		"a mistake":                  {"invalid", 2, "because\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) { problem(w, 400, tt.code, "because") })
			assert.Equal(t, tt.exit, w.run("far", "--", "true"))
			assert.Equal(t, tt.said, w.err.String())
			assert.Empty(t, w.out.String())
		})
	}
}

// noTerminal is one that nobody types at.
type noTerminal struct{ io.ReadWriter }

func (noTerminal) Close() error                    { return nil }
func (noTerminal) SetReadDeadline(time.Time) error { return nil }

// A key with a passphrase can be used where somebody types it, and only there.
func TestWhereTheKeeperCannotLogInAPersonMay(t *testing.T) {
	locked := func(w http.ResponseWriter, _ *http.Request) { events(w, end("auth", "auth", "not logged in", false)) }
	w := newWorld(t, locked)
	assert.Equal(t, 3, w.run("far", "--", "echo here"), "nobody is at a terminal")
	assert.Empty(t, w.out.String())

	w = newWorld(t, locked)
	w.Terminal = func() (cmdutil.Terminal, error) { return noTerminal{}, nil }
	assert.Equal(t, 0, w.run("far", "--", "echo here"), w.err.String())
	assert.Equal(t, "here\n", w.out.String())
	assert.Empty(t, w.err.String())

	w = newWorld(t, locked)
	w.Terminal = func() (cmdutil.Terminal, error) { return noTerminal{}, nil }
	w.KeeperFlag = config.Require
	assert.Equal(t, 3, w.run("far", "--", "echo here"))
	assert.Empty(t, w.out.String())

	w = newWorld(t, locked)
	w.Terminal = func() (cmdutil.Terminal, error) { return nil, errors.New("none") }
	assert.Equal(t, 3, w.run("far", "--", "echo here"))
}

func TestASessionThatCannotBeOpenedSaysWhy(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/sessions", r.URL.Path, "nothing runs")
		problem(w, 502, "unreachable", "connection refused")
	})
	assert.Equal(t, 3, w.run("-s", "build", "far", "--", "true"))
	assert.Equal(t, "fairlead: far: unreachable: connection refused\n", w.err.String())
}

// The name of an open session is no host's. Where the keeper that holds it does not say so, neither is said of it.
func TestASessionIsNoUnknownHostWhereTheKeeperFails(t *testing.T) {
	never := func(http.ResponseWriter, *http.Request) { t.Error("nothing runs") }
	command := func(w *world) error {
		cmd := exec.NewCmd(w.Factory, nil)
		cmd.SetArgs([]string{"build", "--", "true"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.ExecuteContext(t.Context())
	}
	const both = "no host named build; for a host that is listed nowhere, write user@build; whether it is an open session only the keeper knows: "
	var usage *cmdutil.UsageError

	w := newWorld(t, never)
	w.find = errors.New("the one that runs does not answer")
	err := command(w)
	require.EqualError(t, err, both+"the one that runs does not answer")
	assert.NotErrorAs(t, err, &usage)

	w = newWorld(t, never)
	w.sessions = func(w http.ResponseWriter, _ *http.Request) {
		problem(w, 503, "full", "too many requests are in progress")
	}
	err = command(w)
	require.EqualError(t, err, both+"too many requests are in progress")
	assert.NotErrorAs(t, err, &usage)

	w = newWorld(t, never)
	w.sessions = func(w http.ResponseWriter, _ *http.Request) {
		problem(w, 409, "elsewhere", "session build on far is open in another keeper")
	}
	err = command(w)
	require.EqualError(t, err, "session build on far is open in another keeper")
	require.ErrorAs(t, err, &usage)

	w = newWorld(t, never)
	err = command(w)
	require.Error(t, err)
	assert.Equal(t, "no host named build; for a host that is listed nowhere, write user@build", cmdutil.Text(err))
	assert.ErrorAs(t, err, &usage)
}
