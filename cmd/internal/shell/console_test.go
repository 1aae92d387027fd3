package shell_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cli"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
)

// asProgram makes the test binary be the program.
const asProgram = "FAIRLEAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main())
	}
	goleak.VerifyTestMain(m)
}

// patience is when a test that hangs is given up.
const patience = time.Minute

// place is where a program under test keeps its files.
type place struct {
	dir       string
	inventory string
}

// newPlace writes the lines of hosts into an inventory.
func newPlace(t *testing.T, hosts ...string) place {
	t.Helper()
	p := place{dir: t.TempDir()}
	p.inventory = filepath.Join(p.dir, "inventory.yaml")
	text := "version: 1\ndefaults: {tier: dev}\nhosts:\n"
	for _, h := range hosts {
		text += "  - " + h + "\n"
	}
	require.NoError(t, os.WriteFile(p.inventory, []byte(text), 0o600))
	return p
}

func (p place) audit() string      { return filepath.Join(p.dir, "fairlead", "audit") }
func (p place) recordings() string { return filepath.Join(p.dir, "fairlead", "recordings") }

// command is the program with these arguments.
func (p place) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{"-i", p.inventory}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isAgents), asProgram+"=1", "HOME="+p.dir, "XDG_STATE_HOME="+p.dir, "XDG_CONFIG_HOME=", "TERM=xterm", "SHELL=/bin/sh",
		"FAIRLEAD_KEEPER=off", "HISTFILE=", "ENV=", "PS1=outer ", "LC_ALL=C.UTF-8")
	return cmd
}

// isAgents reports whether a variable makes the caller an agent: a person sits at these terminals.
func isAgents(kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	f := &cmdutil.Factory{Getenv: func(n string) string {
		if n == name {
			return value
		}
		return ""
	}}
	return f.Caller().Mark != ""
}

// console is a person's terminal with a program on it.
type console struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	tty    *os.File
	before *xterm.State
	ended  chan struct{}

	mu     sync.Mutex // guards what follows
	raw    []byte     // everything that was printed
	drops  bool       // keep only the end of it, and draw nothing
	screen *screen.Screen
}

// open starts cmd on a terminal of 80 columns and 24 rows.
func open(t *testing.T, cmd *exec.Cmd) *console {
	t.Helper()
	c := newConsole(t)
	c.cmd = cmd
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.tty, c.tty, c.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait() // ProcessState says how
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-c.ended
	})
	return c
}

// newConsole makes a terminal without a program.
func newConsole(t *testing.T) *console {
	t.Helper()
	c := &console{t: t, ended: make(chan struct{}), screen: screen.New(screen.Config{Render: emulate.Render})}
	var err error
	c.master, c.tty, err = pty.Open()
	require.NoError(t, err)
	c.resize(80, 24)
	c.before, err = xterm.GetState(int(c.tty.Fd()))
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := c.master.Read(buf)
			c.mu.Lock()
			c.raw = append(c.raw, buf[:n]...)
			if c.drops {
				c.raw = c.raw[max(0, len(c.raw)-tail):]
			} else {
				_, _ = c.screen.Write(buf[:n])
			}
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		c.tty.Close() // ends the reading
		wg.Wait()
		c.master.Close()
	})
	return c
}

func (c *console) resize(cols, rows int) {
	c.t.Helper()
	require.NoError(c.t, pty.Setsize(c.tty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.screen.Resize(cols, rows)
}

// keys types.
func (c *console) keys(text string) {
	c.t.Helper()
	_, err := c.master.WriteString(text)
	require.NoError(c.t, err)
}

// enter types a line and waits for the echo's end, so that what is then seen is an answer.
func (c *console) enter(line string) {
	c.t.Helper()
	c.keys(line + "\r")
}

// lines is what the screen shows.
func (c *console) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.Render().Lines
}

// until waits for a screen that is as wanted.
func (c *console) until(what string, ok func(lines []string) bool) {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return ok(c.lines()) }, patience, 20*time.Millisecond, "%s never came\n%s", what, show{c})
}

// show prints the screen when it is asked to, which is after the waiting.
type show struct{ c *console }

func (s show) String() string { return strings.Join(s.c.lines(), "\n") }

// see waits for a line that contains text.
func (c *console) see(text string) {
	c.t.Helper()
	c.until(fmt.Sprintf("%q", text), func(lines []string) bool {
		for _, l := range lines {
			if strings.Contains(l, text) {
				return true
			}
		}
		return false
	})
}

// printed waits for a text among all that was ever printed.
func (c *console) printed(text string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return bytes.Contains(c.raw, []byte(text))
	}, patience, 10*time.Millisecond, "%q never came\n%s", text, show{c})
}

// tail is what is kept of a flood.
const tail = 8 << 10

// drop prepares for a flood.
func (c *console) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops = true
}

// output is all that was ever printed.
func (c *console) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// atShell waits until a shell takes commands, and gives it a prompt to know. Nothing is kept in its history.
func (c *console) atShell() {
	c.t.Helper()
	c.until("a prompt", func(lines []string) bool {
		return len(lines) > 0 && strings.ContainsAny(lines[len(lines)-1][max(0, len(lines[len(lines)-1])-1):], "$#%>")
	})
	c.enter("unset HISTFILE; PS1='re''ady> '")
	c.until("the prompt", func(lines []string) bool { return len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "ready>") })
}

// clear empties the screen of a shell.
func (c *console) clear() {
	c.t.Helper()
	c.enter("clear")
	c.until("an empty screen", func(lines []string) bool { return len(lines) == 1 && strings.HasPrefix(lines[0], "ready>") })
}

// exit waits for the program's end, and returns its exit code. The terminal must be as it was before.
func (c *console) exit() int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		require.Fail(c.t, "the program did not end", show{c})
	}
	c.restored()
	return c.cmd.ProcessState.ExitCode()
}

// restored checks that the terminal is as it was before.
func (c *console) restored() {
	c.t.Helper()
	after, err := xterm.GetState(int(c.tty.Fd()))
	require.NoError(c.t, err)
	assert.Equal(c.t, c.before, after, "the terminal's settings")
}

// need skips the test where a program is not installed, and fails it in CI.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); errors.Is(err, exec.ErrNotFound) {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed, and CI must not go without it", p)
			}
			t.Skipf("%s is not installed", p)
		}
	}
}

// cook makes the terminal as it was before, behind the program's back.
func (c *console) cook() {
	c.t.Helper()
	require.NoError(c.t, xterm.Restore(int(c.tty.Fd()), c.before))
}

// echoes reports whether the terminal shows what is typed.
func (c *console) echoes() bool {
	c.t.Helper()
	tio, err := unix.IoctlGetTermios(int(c.tty.Fd()), getTermios)
	require.NoError(c.t, err)
	return tio.Lflag&unix.ECHO != 0
}
