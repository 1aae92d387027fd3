package shell_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	places "github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/shell"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// inside is the command in this process, on a terminal of its own.
type inside struct {
	*console
	*shell.Options
	result chan error

	mu     sync.Mutex
	events []audit.Event
	refuse audit.Kind // cannot be recorded
}

func newInside(t *testing.T) *inside {
	t.Helper()
	in := &inside{console: newConsole(t), result: make(chan error, 1)}
	ios := iostreams.New(in.tty, in.tty, in.tty)
	ios.InTTY, ios.OutTTY, ios.ErrTTY = true, true, true
	in.Options = &shell.Options{
		IO: ios, Getenv: func(string) string { return "" },
		Inventory: func() (*hosts.Inventory, error) { return nil, errors.New("must not be asked") },
		Audit:     func() (audit.Sink, error) { return audit.SinkFunc(in.record), nil },
		Dial: func(context.Context, hosts.Host) (session.Transport, error) {
			return localpty.New(localpty.Config{Env: plainEnv(t)})
		},
		Policy:     decides(policy.AllowAll),
		Caller:     cmdutil.Caller{Principal: "operator/ada"},
		NoPrograms: func() bool { return false },
		Recordings: func() (string, error) { return filepath.Join(t.TempDir(), "recordings"), nil },
		Place:      places.Chooser{Mode: func() (config.KeeperMode, error) { return config.Off, nil }},
		MaxBytes:   terminals.MaxRecording, Escape: '~', Target: "ada@here",
	}
	return in
}

func decides(d policy.Decider) func() (policy.Decider, error) {
	return func() (policy.Decider, error) { return d, nil }
}

func plainEnv(t *testing.T) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "SHELL=/bin/sh"}
}

func (in *inside) record(_ context.Context, e audit.Event) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if e.Kind == in.refuse {
		return &audit.Error{Op: "write", Path: "/audit", Err: syscall.ENOSPC, Do: "free space"}
	}
	in.events = append(in.events, e)
	return nil
}

// last is the last event of a kind.
func (in *inside) last(k audit.Kind) (last audit.Event) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.events {
		if e.Kind == k {
			last = e
		}
	}
	return last
}

func (in *inside) start(ctx context.Context) {
	go func() { in.result <- shell.Run(ctx, in.Options) }()
}

// code waits for the end, and returns the exit code.
func (in *inside) code() int {
	in.console.t.Helper()
	err := <-in.result
	in.restored()
	var exit *cmdutil.ExitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	require.NoError(in.console.t, err)
	return 0
}

func TestNothingIsLeftBehind(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(in *inside, cancel context.CancelCauseFunc)
		want error
	}{
		"the shell ends": {func(in *inside, _ context.CancelCauseFunc) { in.enter("exit 3") }, cmdutil.Exit(3)},
		"hung up":        {func(in *inside, _ context.CancelCauseFunc) { in.keys("~.") }, cmdutil.Exit(130)},
		"a signal": {func(_ *inside, cancel context.CancelCauseFunc) {
			cancel(&cmdutil.SignalError{Signal: syscall.SIGTERM, Number: 15})
		}, &cmdutil.SignalError{Signal: syscall.SIGTERM, Number: 15}},
		"keys that nobody reads": {func(in *inside, _ context.CancelCauseFunc) {
			in.enter("kill -STOP $$")
			in.keys(strings.Repeat("x", 3000) + "\r")
			in.keys("~.")
		}, cmdutil.Exit(130)},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInside(t)
			before := goleak.IgnoreCurrent()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			in.start(ctx)
			in.atShell()
			tt.end(in, cancel)
			assert.Equal(t, tt.want, <-in.result)
			in.restored()
			cancel(nil)
			goleak.VerifyNone(t, before)
		})
	}
}

func TestAFloodLeavesMemoryFlatAndStopsTheRecordingOnce(t *testing.T) {
	in := newInside(t)
	in.MaxBytes = 1 << 20
	in.start(t.Context())
	in.atShell()
	in.drop()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	in.enter("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo fl''ood; exit")
	assert.Zero(t, in.code())
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))
	closed := in.last(audit.SessionClose)
	assert.Equal(t, "recording", closed.Error.Code)
	assert.LessOrEqual(t, closed.StdoutBytes, int64(1<<20))
	assert.Greater(t, in.last(audit.CommandResult).StdoutBytes, int64(20000000))
}

func TestWhatIsDeniedIsNotSent(t *testing.T) {
	for name, d := range map[string]policy.Decision{
		"denied: not on a Friday": {Verdict: policy.Deny, Reason: "not on a Friday"},
		"denied: four eyes; it needs an approval, and approvals are not available here": {Verdict: policy.Ask, Reason: "four eyes"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInside(t)
			in.Policy = decides(policy.DeciderFunc(func(_ context.Context, r policy.Request) (policy.Decision, error) {
				assert.True(t, r.Interactive)
				assert.Equal(t, "operator/ada", r.Principal)
				return d, nil
			}))
			in.Dial = func(context.Context, hosts.Host) (session.Transport, error) {
				return nil, errors.New("must not be dialled")
			}
			in.start(t.Context())
			assert.Equal(t, 5, in.code())
			in.printed("fairlead: here: " + name)
			assert.Equal(t, "denied", in.last(audit.CommandResult).Status)
			assert.Zero(t, in.last(audit.SessionOpen))
		})
	}
}

func TestAPolicyThatCannotDecideDenies(t *testing.T) {
	in := newInside(t)
	in.Policy = decides(policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Verdict: policy.Allow}, errors.New("broken")
	}))
	in.start(t.Context())
	assert.Equal(t, 5, in.code())
}

func TestTheRequestMustBeOnRecordBeforeTheShellStarts(t *testing.T) {
	for _, kind := range []audit.Kind{audit.SessionOpen, audit.CommandRequest} {
		t.Run(string(kind), func(t *testing.T) {
			in := newInside(t)
			dir := t.TempDir()
			in.Recordings = func() (string, error) { return dir, nil }
			in.refuse = kind
			in.start(t.Context())
			err := <-in.result
			require.ErrorIs(t, err, session.ErrAudit)
			require.ErrorIs(t, err, audit.ErrUnavailable)
			in.restored()
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left, "a recording of nothing")
		})
	}
}

func TestAnEndThatCannotBeRecordedIsTold(t *testing.T) {
	for typed, want := range map[string]int{"exit 3": 3, "exit 0": 6} {
		in := newInside(t)
		in.refuse = audit.CommandResult
		in.start(t.Context())
		in.atShell()
		in.enter(typed)
		assert.Equal(t, want, in.code())
		in.printed("but that cannot be recorded: ")
	}
}

func TestOthersThanOperatorsAreAlwaysRecorded(t *testing.T) {
	in := newInside(t)
	in.Caller.Principal = "agent/mcp"
	in.Recordings = func() (string, error) { return "/dev/null/recordings", nil }
	in.start(t.Context())
	err := <-in.result
	assert.ErrorContains(t, err, "the terminal cannot be recorded, so nothing was sent: ")
	in.restored()
}
