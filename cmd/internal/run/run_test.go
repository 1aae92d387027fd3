package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// world is a factory over real local shells; hosts whose names begin with "down", "auth" or "key" fail to connect. Shells
// know their host's name as $HOST.
type world struct {
	*cmdutil.Factory
	out, err *bytes.Buffer
	audit    audit.Sink
	policy   policy.Decider // instead of the request's own
	env      map[string]string
	tier     string
}

func newWorld(t testing.TB, names ...string) *world {
	t.Helper()
	ios, _, out, errOut := iostreams.Test()
	w := &world{out: out, err: errOut, audit: audit.Discard{}, env: map[string]string{"FAIRLEAD_KEEPER": "off"}, tier: "dev"}
	w.Factory = &cmdutil.Factory{
		IO: ios, Getenv: func(k string) string { return w.env[k] },
		Inventory: func() (*hosts.Inventory, error) {
			var hs []hosts.Host
			for _, n := range names {
				hs = append(hs, hosts.Host{Name: n, Transport: hosts.Local, Tier: w.tier, Shell: "sh", Env: []string{"HOST=" + n},
					Source: hosts.Pos{File: "test.yaml", Line: 1}})
			}
			return hosts.NewInventory(hs, nil)
		},
		Pool: func(o cmdutil.PoolOptions) (*session.Pool, error) {
			decider := w.policy
			if decider == nil {
				decider = o.Policy
			}
			pool, err := session.NewPool(session.PoolConfig{Dial: dial, Forks: o.Forks, Session: session.Config{
				Principal: w.Caller().Principal, Policy: decider, Audit: w.audit, Trace: o.Trace, Grace: time.Second,
				Redact: cmdutil.Redactor(o.Redact),
			}})
			if err == nil {
				t.Cleanup(func() { pool.Close() })
			}
			return pool, err
		},
	}
	return w
}

func dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	switch {
	case strings.HasPrefix(h.Name, "down"):
		return nil, errors.New("connection refused")
	case strings.HasPrefix(h.Name, "auth"):
		return nil, fmt.Errorf("%w: no key was accepted", session.ErrAuth)
	case strings.HasPrefix(h.Name, "key"):
		return nil, fmt.Errorf("%w: it has changed", session.ErrHostKey)
	}
	h.Transport = hosts.Local
	return localpty.Dial(ctx, h)
}

// run runs the command line and returns the exit code, as the program would.
func (w *world) run(ctx context.Context, args ...string) (int, error) {
	cmd := run.NewCmd(w.Factory, nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var exit *cmdutil.ExitError
	if errors.As(err, &exit) {
		return exit.Code, nil
	}
	return 0, err
}

func TestASingleHostsBytesComeThroughExactly(t *testing.T) {
	w := newWorld(t, "web1")
	code, err := w.run(t.Context(), "web1", "--", `printf 'a\r\n\000\377 no end'; printf 'warn\r' >&2; exit 7`)
	require.NoError(t, err)
	assert.Equal(t, 7, code)
	assert.Equal(t, "a\r\n\x00\xff no end", w.out.String())
	assert.Equal(t, "warn\r", w.err.String(), "and nothing of ours: the code says it")
}

func TestSeveralHostsComeInWholeLinesWithTheirNames(t *testing.T) {
	w := newWorld(t, "web1", "database")
	code, err := w.run(t.Context(), "all", "--", `echo one; echo oops >&2; printf 'no end'`)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.ElementsMatch(t, strings.SplitAfter("web1     | one\nweb1     | no end\ndatabase | one\ndatabase | no end\n", "\n"),
		strings.SplitAfter(w.out.String(), "\n"))
	assert.ElementsMatch(t, strings.SplitAfter("web1     | oops\ndatabase | oops\n", "\n"), strings.SplitAfter(w.err.String(), "\n"))
}

func TestOneArgumentIsSourceAndSeveralAreWords(t *testing.T) {
	w := newWorld(t, "web1")
	_, err := w.run(t.Context(), "web1", "--", `echo $HOST '*'`)
	require.NoError(t, err)
	_, err = w.run(t.Context(), "web1", "--", `printf`, `%s\n`, `$HOST`, `it's; a "b"`, ``)
	require.NoError(t, err)
	assert.Equal(t, "web1 *\n$HOST\nit's; a \"b\"\n\n", w.out.String())
}

func TestFailuresAreToldOncePerReasonWithTheirHosts(t *testing.T) {
	w := newWorld(t, "web1", "web2", "web3", "down1", "down2", "auth1", "key1")
	code, err := w.run(t.Context(), "all", "--", `case $HOST in web1) ;; *) exit 3;; esac`)
	require.NoError(t, err)
	assert.Equal(t, 3, code)
	assert.Empty(t, w.out.String())
	assert.Equal(t, `fairlead: 6 of 7 hosts failed, 1 succeeded
  down[1-2]  unreachable: connection refused
  auth1      not logged in: not authenticated: no key was accepted
  key1       not trusted: host key not trusted: it has changed
  web[2-3]   exit 3
`, w.err.String())
}

func TestASingleHostThatIsNotReachedSaysWhy(t *testing.T) {
	w := newWorld(t, "down1")
	code, err := w.run(t.Context(), "down1", "--", "true")
	require.NoError(t, err)
	assert.Equal(t, 3, code)
	assert.Equal(t, "fairlead: down1: unreachable: connection refused\n", w.err.String())
}

func TestJSONIsOneResultPerLineAndASummary(t *testing.T) {
	w := newWorld(t, "web1", "web2", "down1")
	code, err := w.run(t.Context(), "all", "--json", "--", `echo out; echo err >&2; cd /; [ $HOST = web1 ]`)
	require.NoError(t, err)
	assert.Equal(t, 3, code)
	byHost := map[string]map[string]any{}
	var summary map[string]any
	lines := strings.Split(strings.TrimSuffix(w.out.String(), "\n"), "\n")
	require.Len(t, lines, 4)
	for i, line := range lines {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		if i == 3 {
			summary = v["summary"].(map[string]any)
		} else {
			byHost[v["host"].(string)] = v
		}
	}
	assert.Equal(t, "ok", byHost["web1"]["status"])
	assert.Equal(t, "out\n", byHost["web1"]["stdout"])
	assert.Equal(t, "err\n", byHost["web1"]["stderr"])
	assert.Equal(t, "/", byHost["web1"]["cwd"])
	assert.Equal(t, "exit", byHost["web2"]["status"])
	assert.Equal(t, "unreachable", byHost["down1"]["status"])
	assert.Regexp(t, "^r_", summary["run"])
	delete(summary, "duration_ms")
	delete(summary, "run")
	assert.Equal(t, map[string]any{
		"hosts": 3.0, "exit_code": 3.0, "interrupted": false, "not_started": "",
		"counts": map[string]any{"ok": 1.0, "exit": 1.0, "unreachable": 1.0},
		"names":  map[string]any{"ok": "web1", "exit": "web2", "unreachable": "down1"},
	}, summary)
}

func TestFoldPrintsIdenticalOutcomesOnceLargestFirst(t *testing.T) {
	w := newWorld(t, "a1", "web1", "web2", "web3", "web4", "down1")
	code, err := w.run(t.Context(), "all", "--fold", "--", `case $HOST in
		a1) printf old; echo careful >&2;;
		web4) echo new; exit 1;;
		*) echo new;; esac`)
	require.NoError(t, err)
	assert.Equal(t, 3, code)
	assert.Equal(t, `== web[1-3] (3 hosts): ok
new

== a1 (1 host): ok
old
-- stderr
careful

== web4 (1 host): exit 1
new

== down1 (1 host): unreachable: connection refused
`, w.out.String())
}

func TestFoldComparesAllOfLargeOutputs(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	_, err := w.run(t.Context(), "all", "--fold", "--",
		`i=0; while [ $i -lt 9000 ]; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; i=$((i+1))
		if [ $i = 4500 ] && [ $HOST = b ]; then printf X; elif [ $i = 4500 ]; then printf Y; fi; done`)
	require.NoError(t, err)
	out := w.out.String()
	assert.Contains(t, out, "== a,c (2 hosts): ok\n")
	assert.Contains(t, out, "== b (1 host): ok\n")
	assert.Contains(t, out, "bytes omitted …\n")
}

func TestInterruptStopsWhatRunsAndNamesWhatIsNotDone(t *testing.T) {
	w := newWorld(t, "web1", "web2", "web3")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	out := &trigger{w: w.out, at: "web1 | ready\n", do: func() {
		cancel(&cmdutil.SignalError{Signal: syscall.SIGINT, Number: 2})
	}}
	w.IO = iostreams.New(strings.NewReader(""), out, w.err)
	code, err := w.run(ctx, "all", "--forks", "1", "--", "echo ready; sleep 60")
	require.NoError(t, err)
	assert.Equal(t, 130, code)
	assert.Equal(t, "web1 | ready\n", w.out.String())
	assert.Contains(t, w.err.String(), "fairlead: interrupted: 0 of 3 hosts are done\n")
	assert.Contains(t, w.err.String(), "  web[2-3]  not run\n")
	assert.Contains(t, w.err.String(), "  web1      stopped")
}

// trigger does something once when a text has been written.
type trigger struct {
	w    io.Writer
	at   string
	do   func()
	once sync.Once
	fail error // returned from then on
}

func (t *trigger) Write(p []byte) (int, error) {
	if strings.Contains(string(p), t.at) {
		t.once.Do(t.do)
		if t.fail != nil {
			return 0, t.fail
		}
	}
	return t.w.Write(p)
}

func TestClosedOutputEndsTheRunQuietlyAndKeepsTheRecord(t *testing.T) {
	w := newWorld(t, "web1", "web2", "web3")
	events := &recorder{}
	w.audit = audit.SinkFunc(events.record)
	w.IO = iostreams.New(strings.NewReader(""), &trigger{w: w.out, at: "ready", do: func() {}, fail: syscall.EPIPE}, w.err)
	code, err := w.run(t.Context(), "all", "--forks", "2", "--", "echo ready; sleep 60")
	require.NoError(t, err)
	assert.Equal(t, 141, code)
	assert.Empty(t, w.err.String())
	assert.Equal(t, events.count(audit.CommandRequest), events.count(audit.CommandResult))
	assert.NotZero(t, events.count(audit.CommandRequest))
}

func TestAFullDiskBehindStandardOutputIsAnError(t *testing.T) {
	w := newWorld(t, "web1")
	w.IO = iostreams.New(strings.NewReader(""), &trigger{w: w.out, at: "ready", do: func() {}, fail: syscall.ENOSPC}, w.err)
	_, err := w.run(t.Context(), "all", "--", "echo ready; sleep 60")
	assert.EqualError(t, err, "cannot write to standard output: no space left on device")
}

type recorder struct {
	mu     sync.Mutex
	events []audit.Event
}

func (r *recorder) record(_ context.Context, e audit.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

func (r *recorder) count(k audit.Kind) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

func TestNothingIsSentWhenItCannotBeRecorded(t *testing.T) {
	w := newWorld(t, "web1", "web2")
	w.audit = audit.SinkFunc(func(context.Context, audit.Event) error { return audit.ErrUnavailable })
	code, err := w.run(t.Context(), "all", "--", "echo ran")
	require.NoError(t, err)
	assert.Equal(t, 6, code)
	assert.Empty(t, w.out.String())
	assert.Contains(t, w.err.String(), "  web[1-2]  error: cannot be recorded")
}

func TestADeniedCommandExitsWith5(t *testing.T) {
	w := newWorld(t, "web1")
	w.policy = policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Verdict: policy.Deny, Reason: "not on a Friday"}, nil
	})
	code, err := w.run(t.Context(), "web1", "--", "true")
	require.NoError(t, err)
	assert.Equal(t, 5, code)
	assert.Equal(t, "fairlead: web1: denied: not on a Friday\n", w.err.String())
}

func TestTimeoutStopsTheCommandAndExitsWith4(t *testing.T) {
	w := newWorld(t, "web1")
	code, err := w.run(t.Context(), "web1", "--timeout", "50ms", "--", "sleep 60")
	require.NoError(t, err)
	assert.Equal(t, 4, code)
	assert.Equal(t, "fairlead: web1: timeout: the command was stopped after 50ms\n", w.err.String())
}

func TestExitCodeOwnHidesTheHostsCode(t *testing.T) {
	w := newWorld(t, "web1")
	code, err := w.run(t.Context(), "web1", "--exit-code=own", "--", "exit 3")
	require.NoError(t, err)
	assert.Equal(t, 1, code)
}

func TestDoubleHostsOutsideTheInventoryAreToldApart(t *testing.T) {
	w := newWorld(t)
	w.Inventory = func() (*hosts.Inventory, error) { return nil, errors.New("must not be asked") }
	code, err := w.run(t.Context(), "root@down,ada@down,ada@down:2222,ada@down", "--", "true")
	require.NoError(t, err)
	assert.Equal(t, 3, code)
	assert.Contains(t, w.err.String(), "fairlead: 3 of 3 hosts failed")
	assert.Contains(t, w.err.String(), "ada@down:2222")
}

// What a command leaves in the background ends with its shell, and that is said once.
func TestItIsToldThatTheBackgroundEndsWithTheCommand(t *testing.T) {
	const told = "fairlead: what the command has left in the background ended with it: wait for it, keep it with nohup or setsid, or start it with fairlead jobs start\n"
	for script, want := range map[string]string{
		"sleep 100 & echo now":                  told,
		"(sleep 100; echo late) & echo now":     told,
		"true & wait; echo now":                 "",
		"nohup true >/dev/null 2>&1 & echo now": "",
		"echo now":                              "",
	} {
		w := newWorld(t, "web1", "web2")
		code, err := w.run(t.Context(), "all", "--fold", "--", script)
		require.NoError(t, err)
		assert.Zero(t, code)
		assert.Contains(t, w.out.String(), "now", script)
		if want == "" {
			assert.NotContains(t, w.err.String(), "background", script)
		} else {
			assert.Equal(t, 1, strings.Count(w.err.String(), told), "%s: %s", script, w.err.String())
		}
	}
}
