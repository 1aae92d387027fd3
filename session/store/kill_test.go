package store_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// The test binary is its own child: what it does then is named in this variable.
const childEnv = "FAIRLEAD_STORE_CHILD"

// nobody is the uid of an account without rights.
const nobody = 65534

// process is a child and what it says, line by line.
type process struct {
	cmd   *exec.Cmd
	lines *bufio.Reader
	stdin io.Closer
}

// child starts one, which is killed when the test ends.
func child(t *testing.T, what string, cfg store.Config, more ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), append([]string{childEnv + "=" + what, "STORE_PATH=" + cfg.Path, "STORE_URL=" + cfg.URL, "STORE_KEY=" + hex.EncodeToString(cfg.Key)}, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	in, err := cmd.StdinPipe() // whose end the child waits for
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd, bufio.NewReader(out), in}
	t.Cleanup(func() { p.kill() })
	return p
}

// kill ends it as a power cut ends a process, and returns what it had still said.
func (p *process) kill() string {
	p.cmd.Process.Kill()
	rest, _ := io.ReadAll(p.lines)
	p.cmd.Wait()
	return string(rest)
}

// all lets it come to its end, and returns what it says.
func (p *process) all(t *testing.T) string {
	t.Helper()
	p.stdin.Close()
	text, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	p.cmd.Wait()
	return string(text)
}

// childMain is what the child does. It says each step once it was taken.
func childMain(what string) {
	cfg := store.Config{Path: os.Getenv("STORE_PATH"), URL: os.Getenv("STORE_URL"), Patience: -1}
	if key, _ := hex.DecodeString(os.Getenv("STORE_KEY")); len(key) > 0 {
		cfg.Key = key
	}
	ctx := context.Background()
	switch what {
	case "open":
		if os.Getuid() == 0 {
			if err := syscall.Setuid(nobody); err != nil {
				fmt.Println("setuid:", err)
				return
			}
		}
		s, err := store.Open(ctx, cfg)
		if err == nil {
			defer s.Close()
			_, _, err = s.Create(ctx, pending())
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("opened and written")
	case "steps":
		stop, _ := strconv.Atoi(os.Getenv("STORE_STOP"))
		taken := 0
		say := func(step, id string, err error) {
			if err != nil {
				fmt.Println("error", id, step, err)
				os.Exit(1)
			}
			fmt.Println(step, id)
			if taken++; taken == stop {
				io.Copy(io.Discard, os.Stdin)
			}
		}
		s, err := store.Open(ctx, cfg)
		say("opened", "-", err)
		for {
			c, _, err := s.Create(ctx, pending())
			say("created", c.ID, err)
			_, err = s.Decide(ctx, c.ID, yes())
			say("decided", c.ID, err)
			_, _, err = s.Begin(ctx, c.ID, keeperID)
			say("begun", c.ID, err)
			_, err = s.Finish(ctx, c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok"})
			say("finished", c.ID, err)
			_, err = s.Finalize(ctx, c.ID)
			say("finalized", c.ID, err)
		}
	}
}

// steps are what is said of a command, in their order.
var steps = []string{"created", "decided", "begun", "finished", "finalized"}

// heard reads what a child has said: how far each command came.
func heard(t *testing.T, text string) map[string]int {
	t.Helper()
	far := map[string]int{}
	for line := range strings.Lines(text) {
		step, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !strings.HasSuffix(line, "\n") || step == "opened" {
			continue // the last line may be torn
		}
		require.NotEqual(t, "error", step, line)
		for i, s := range steps {
			if s == step {
				far[id] = i
			}
		}
	}
	return far
}

func TestAKilledKeeperLosesNoDecisionAndNothingRunsTwice(t *testing.T) {
	everywhere(t, func(t *testing.T, cfg store.Config, clock *clock) {
		cfg.Now = nil // as the child's
		ran := map[string]int{}
		known := map[string]int{}
		for _, stop := range []int{1, 2, 3, 4, 5, 6, -2, -9, -13} {
			name := "after step " + strconv.Itoa(stop)
			if stop < 0 {
				name = "on the way from step " + strconv.Itoa(-stop)
			}
			t.Run(name, func(t *testing.T) {
				p := child(t, "steps", cfg, "STORE_STOP="+strconv.Itoa(stop))
				var said strings.Builder
				for range max(stop, -stop) {
					line, err := p.lines.ReadString('\n')
					require.NoError(t, err)
					said.WriteString(line)
				}
				said.WriteString(p.kill())
				for id, far := range heard(t, said.String()) {
					known[id] = far
					if far >= 2 {
						ran[id]++
					}
				}

				s, err := store.Open(t.Context(), cfg)
				require.NoError(t, err)
				defer s.Close()
				r, err := s.Recover(t.Context(), keeperID)
				require.NoError(t, err)
				for id, far := range known {
					c, err := s.Command(t.Context(), id)
					require.NoError(t, err, "what was said to be kept is there")
					if far >= 1 {
						assert.Equal(t, ada, c.ApprovedBy, "no decision is lost")
						a, err := s.Approval(t.Context(), id)
						require.NoError(t, err)
						assert.Equal(t, store.Approved, a.Decision)
					}
					switch {
					case far >= 3:
						assert.Equal(t, store.Executed, c.Status)
					case far == 2:
						assert.True(t, c.Status == store.Executed || c.Outcome == store.OutcomeLost, "%+v", c)
					}
					assert.True(t, far < 4 || !c.Finalized.IsZero())
				}
				for _, id := range r.Approved { // their exact bytes have outlived the keeper
					_, exact, err := s.Begin(t.Context(), id, keeperID)
					require.NoError(t, err)
					assert.Equal(t, pending().Exact, exact)
					ran[id]++
					_, err = s.Finish(t.Context(), id, keeperID, store.End{Status: store.Executed, Outcome: "ok"})
					require.NoError(t, err)
					known[id] = 3
				}
				for _, id := range r.Lost {
					_, _, err := s.Begin(t.Context(), id, keeperID)
					require.ErrorIs(t, err, store.ErrClaimed)
					known[id] = 2
				}
				for _, id := range r.Pending {
					_, err := s.Decide(t.Context(), id, yes())
					require.NoError(t, err)
					_, _, err = s.Begin(t.Context(), id, keeperID)
					require.NoError(t, err)
					ran[id]++
					_, err = s.Finish(t.Context(), id, keeperID, store.End{Status: store.Executed, Outcome: "ok"})
					require.NoError(t, err)
					known[id] = 3
				}
			})
		}
		for id, n := range ran {
			assert.Equal(t, 1, n, id)
		}
	})
}
