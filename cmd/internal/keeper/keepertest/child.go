package keepertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// The test binary is its own child: a keeper at the place that the first variable names, which comes to a halt at the
// point that the second does.
const (
	childEnv = "FAIRLEAD_KEEPER_CHILD"
	pointEnv = "FAIRLEAD_KEEPER_POINT"
)

// halt says that a point was reached, and goes no further: what comes next is a kill.
func halt(point string) {
	if os.Getenv(pointEnv) == point {
		fmt.Println("at", point)
		select {}
	}
}

// halting is a record that halts before and after what a marked command is recorded.
type halting struct {
	audit.Sink
	id string // that is the marked command's
}

// Marked is in every command that the points are about.
const Marked = ">> ran"

// Record halts around what the marked command is recorded.
func (h *halting) Record(ctx context.Context, e audit.Event) error {
	mine := strings.Contains(e.Command, Marked) || e.ID != "" && e.ID == h.id
	if (e.Kind == audit.CommandRequest || e.Kind == audit.ApprovalRequest) && mine {
		h.id = e.ID
	}
	if mine {
		halt("before " + string(e.Kind))
	}
	err := h.Sink.Record(ctx, e)
	if mine {
		halt("after " + string(e.Kind))
	}
	return err
}

// childMain is a keeper of its own process. It ends on SIGTERM, and when its parent does.
func childMain(dir string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	keeper.LimitMemory()
	w := &World{Dir: dir}
	err := func() error {
		sink, err := audit.Open(filepath.Join(dir, "audit"), audit.Config{})
		if err != nil {
			return err
		}
		defer sink.Close()
		st, err := store.Open(ctx, store.Config{Path: filepath.Join(dir, "state", "store.db")})
		if err != nil {
			return err
		}
		defer st.Close()
		cfg := keeper.Config{
			Principal: "operator/ada", Inventory: filepath.Join(dir, "inventory.yaml"), Audit: &halting{Sink: sink},
			AuditDir: filepath.Join(dir, "audit"), Store: st, ID: "k1", Version: os.Getenv("FAIRLEAD_KEEPER_VERSION"), Idle: -1, Log: os.Stderr,
			PolicyFiles: []string{filepath.Join(dir, "policy.yaml")}, Recordings: filepath.Join(dir, "recordings"),
			Policy: func() (*rules.Engine, error) {
				if _, err := os.Stat(filepath.Join(dir, "judge")); err == nil {
					halt("judging")
				}
				return w.policy()
			},
		}
		return keeper.Serve(ctx, cfg, PlacesIn(dir), func() { fmt.Println("ready") })
	}()
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

// PlacesIn are those of a keeper in dir.
func PlacesIn(dir string) listen.Places {
	return listen.Places{Socket: filepath.Join(dir, "r", "k.sock"), Log: filepath.Join(dir, "k.log")}
}

// ChildKeeper is a keeper in a process of its own.
type ChildKeeper struct {
	*World
	Cmd   *exec.Cmd
	stdin io.Closer
	Lines *bufio.Reader
}

// StartChild starts one at a place that halts at a point; "" is nowhere.
func StartChild(t *testing.T, dir, point string, env ...string) *ChildKeeper {
	t.Helper()
	c := LaunchChild(t, dir, point, env...)
	c.Said("ready")
	return c
}

// LaunchChild is startChild for one that may not become ready.
func LaunchChild(t *testing.T, dir, point string, env ...string) *ChildKeeper {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), childEnv+"="+dir, pointEnv+"="+point), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &ChildKeeper{Cmd: cmd, stdin: in, Lines: bufio.NewReader(out)}
	c.World = &World{T: t, Dir: dir, Places: PlacesIn(dir), Client: client.New(client.Config{Socket: PlacesIn(dir).Socket})}
	t.Cleanup(c.Kill)
	return c
}

// Said waits for a line.
func (c *ChildKeeper) Said(want string) {
	c.T.Helper()
	line, err := c.Lines.ReadString('\n')
	require.NoError(c.T, err)
	require.Equal(c.T, want+"\n", line)
}

// Kill ends it as a power cut ends a process.
func (c *ChildKeeper) Kill() {
	c.Cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, c.Lines)
	_ = c.Cmd.Wait()
	c.Client.Close()
}

// End ends it as whoever stops or upgrades it does.
func (c *ChildKeeper) End() {
	c.T.Helper()
	require.NoError(c.T, c.Cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, c.Lines)
	require.NoError(c.T, c.Cmd.Wait())
	c.Client.Close()
}

// ChildPlace makes a place for keepers: on "here" agents may write, on "there" they have to ask.
func ChildPlace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inventory.yaml"), []byte(Here), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(
		"version: 1\nrules:\n  - {name: free, hosts: tier=dev, principals: [role=agent], classes: [read-only, write, unknown], verdict: allow, reason: ours}\n"), 0o600))
	return dir
}
