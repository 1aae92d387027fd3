package serve_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/serve"
)

// asProgram makes the test's own binary be the program.
const asProgram = "FAIRLEAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(program())
	}
	os.Exit(m.Run())
}

// program is the command with the surroundings that the real program gives it.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	f := &cmdutil.Factory{IO: iostreams.System(os.Getenv), Getenv: os.Getenv}
	var sink *audit.Tee
	f.Audit = func() (_ audit.Sink, err error) {
		sink, err = f.OpenAudit()
		return sink, err
	}
	root := &cobra.Command{Use: "fairlead", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().StringVarP(&f.InventoryFile, "inventory", "i", "", "")
	root.AddCommand(serve.NewCmd(f, nil))
	err := root.ExecuteContext(ctx)
	if sink != nil {
		sink.Close()
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// place is a program's surroundings.
type place struct {
	home   string
	places listen.Places
	env    []string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	p := place{home: dir, env: []string{asProgram + "=1", "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME="}}
	p.places, err = listen.FindPlaces(func(k string) string { return map[string]string{"HOME": dir, "XDG_RUNTIME_DIR": dir}[k] })
	require.NoError(t, err)
	conf := filepath.Join(dir, ".config", "fairlead")
	require.NoError(t, os.MkdirAll(conf, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(conf, "inventory.yaml"), []byte("version: 1\nhosts:\n  - {name: here, transport: local, tier: dev}\n"), 0o600))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := reach.Stop(ctx, p.places); !errors.Is(err, reach.ErrNone) {
			assert.NoError(t, err)
		}
		os.RemoveAll(dir)
	})
	return p
}

func (p place) dial(ctx context.Context, args ...string) (*client.Client, error) {
	return reach.Dial(ctx, reach.Config{Places: p.places, Command: append([]string{os.Args[0], "serve", "--auto"}, args...), Env: p.env})
}

func TestAKeeperStartsOnFirstUseAndOutlivesItsCaller(t *testing.T) {
	p := newPlace(t)
	c, err := p.dial(t.Context())
	require.NoError(t, err)
	h, err := c.Health(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, os.Getpid(), h.PID)
	sid, err := syscallGetsid(h.PID)
	require.NoError(t, err)
	assert.Equal(t, h.PID, sid, "it has no terminal of its caller's")
	s, err := c.Open(t.Context(), wire.Open{Host: "here", Name: "work"})
	require.NoError(t, err)
	c.Close()

	c, err = p.dial(t.Context())
	require.NoError(t, err)
	defer c.Close()
	again, err := c.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, h.PID, again.PID, "the same one answers")
	r, err := c.Run(t.Context(), "work", wire.Run{Command: "echo $SSH_AUTH_SOCK $CLAUDECODE kept"}, "")
	require.NoError(t, err)
	assert.Equal(t, "kept\n", r.Stdout)
	assert.Equal(t, s.ID, r.Session)
}

func TestCallersThatStartAKeeperAtTheSameTimeGetTheSame(t *testing.T) {
	p := newPlace(t)
	const n = 6
	pids := make(chan int, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			c, err := p.dial(t.Context())
			if !assert.NoError(t, err) {
				pids <- 0
				return
			}
			defer c.Close()
			h, err := c.Health(t.Context())
			assert.NoError(t, err)
			pids <- h.PID
		})
	}
	wg.Wait()
	first := <-pids
	for range n - 1 {
		assert.Equal(t, first, <-pids)
	}
}

func TestAKeeperThatCannotStartSaysWhy(t *testing.T) {
	p := newPlace(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".config", "fairlead", "policy.yaml"), []byte("nonsense: true\n"), 0o600))
	_, err := p.dial(t.Context())
	require.ErrorContains(t, err, "cannot be started")
	require.ErrorContains(t, err, "policy.yaml")
	p.env = append(p.env, "CLAUDECODE=1")
	_, err = p.dial(t.Context())
	require.ErrorContains(t, err, "CLAUDECODE")
	p.places.Socket += "x" // nobody is there
	_, err = reach.Dial(t.Context(), reach.Config{Places: p.places, Command: []string{"/nonexistent/fairlead"}})
	require.ErrorContains(t, err, "cannot be started")
	_, err = reach.Dial(t.Context(), reach.Config{Places: p.places, Command: []string{"true"}})
	require.ErrorContains(t, err, "ended before it was ready")
}

func TestServeRunsInTheForegroundUntilItIsAskedToEnd(t *testing.T) {
	p := newPlace(t)
	for name, end := range map[string]func(t *testing.T, cmd *exec.Cmd){
		"SIGTERM": func(t *testing.T, cmd *exec.Cmd) { require.NoError(t, cmd.Process.Signal(syscall.SIGTERM)) },
		"--stop": func(t *testing.T, _ *exec.Cmd) {
			out, err := p.command("serve", "--stop").CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.NoFileExists(t, p.places.Socket)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := p.command("serve")
			said, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line := make([]byte, 1)
			_, err = io.ReadFull(said, line)
			require.NoError(t, err)
			out, err := p.command("serve").CombinedOutput()
			assert.Error(t, err, "there is one already")
			assert.Contains(t, string(out), "another one is running")
			end(t, cmd)
			rest, err := io.ReadAll(said)
			require.NoError(t, err)
			require.NoError(t, cmd.Wait(), "%s", rest)
			assert.Contains(t, string(rest), "the keeper listens on "+p.places.Socket)
		})
	}
	out, err := p.command("serve", "--stop").CombinedOutput()
	require.NoError(t, err)
	assert.Contains(t, string(out), "no keeper runs")
}

func TestANewKeeperTakesOverFromOneThatWasKilled(t *testing.T) {
	p := newPlace(t)
	cmd := p.command("serve")
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(said, make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.FileExists(t, p.places.Socket)
	c, err := p.dial(t.Context())
	require.NoError(t, err)
	defer c.Close()
	h, err := c.Health(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, cmd.Process.Pid, h.PID)
}

func (p place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, p.env...)
	return cmd
}

func TestFlagsThatContradictAreMistakes(t *testing.T) {
	for _, argv := range [][]string{{"--stop", "--idle", "1s"}, {"--stop", "--auto"}, {"--idle", "-1s"}, {"extra"}, {"--agent", "a"}, {"--agent-socket", "/x"}, {"--stop", "--agent", "a", "--agent-socket", "/x"}} {
		ios, _, _, _ := iostreams.Test()
		cmd := serve.NewCmd(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }}, func(context.Context, *serve.Options) error { return nil })
		cmd.SetArgs(argv)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		var usage *cmdutil.UsageError
		assert.ErrorAs(t, cmd.ExecuteContext(t.Context()), &usage, "%v", argv)
	}
}
