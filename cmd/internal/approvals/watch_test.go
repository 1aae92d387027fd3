package approvals_test

import (
	"bufio"
	"io"
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

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
)

// patience is when a test that hangs is given up.
const patience = 3 * time.Minute

// home is where a program under test keeps its files.
type home struct{ dir string }

func newHome(t *testing.T) home {
	dir, err := os.MkdirTemp("", "fl") // the name of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return home{dir}
}

// env is the environment of a person who sits at a terminal.
func (h home) env(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		f := &cmdutil.Factory{Getenv: func(n string) string { return map[string]string{name: value}[n] }}
		return f.Caller().Mark != "" || name == "SSH_AUTH_SOCK"
	})
	return append(append(env, "HOME="+h.dir, "XDG_RUNTIME_DIR="+h.dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "TERM=xterm", "NO_COLOR=1",
		"LC_ALL=C.UTF-8"), more...)
}

// asker is a process that asks for one command.
type asker struct {
	t     *testing.T
	id    string
	lines *bufio.Scanner
}

func (h home) asks(t *testing.T, command string) *asker {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("sh", "-c", `"$0" "$1" & wait`, self, command)
	cmd.Env = h.env(deskDir+"="+filepath.Join(h.dir, "fairlead", "approvals"), deskApprovers+"="+filepath.Join(h.dir, ".config", "fairlead", "approvers"))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r.Close()
	t.Cleanup(func() { w.Close(); io.Copy(io.Discard, out); cmd.Wait() })
	a := &asker{t: t, lines: bufio.NewScanner(out)}
	require.True(t, a.lines.Scan())
	a.id = a.lines.Text()
	return a
}

// hears waits for the answer.
func (a *asker) hears() string {
	require.True(a.t, a.lines.Scan())
	return a.lines.Text()
}

// console is a person's terminal with the program on it.
type console struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	ended  chan struct{}

	mu     sync.Mutex // guards what follows
	raw    []byte
	screen *screen.Screen
}

// runs starts the program on a terminal of 100 columns.
func (h home) runs(t *testing.T, rows int, env []string, args ...string) *console {
	self, err := os.Executable()
	require.NoError(t, err)
	c := &console{t: t, cmd: exec.Command(self, args...), ended: make(chan struct{}), screen: screen.New(screen.Config{Render: emulate.Render})}
	c.cmd.Env = h.env(append(env, asProgram+"=1")...)
	master, tty, err := pty.Open()
	require.NoError(t, err)
	c.master = master
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Cols: 100, Rows: uint16(rows)}))
	c.screen.Resize(100, rows)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.cmd.Start())
	tty.Close()
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			c.mu.Lock()
			c.raw = append(c.raw, buf[:n]...)
			_, _ = c.screen.Write(buf[:n])
			c.mu.Unlock()
			if err != nil {
				return // the program has ended, and with it its terminal
			}
		}
	})
	wg.Go(func() { _ = c.cmd.Wait(); close(c.ended) })
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); <-c.ended; wg.Wait(); master.Close() })
	return c
}

func (c *console) keys(text string) {
	c.t.Helper()
	_, err := c.master.WriteString(text)
	require.NoError(c.t, err)
}

// text is what the screen shows.
func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.screen.Render().Lines, "\n")
}

// printed is all that was ever printed.
func (c *console) printed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// String is text, when it is asked for: after the waiting.
func (c *console) String() string { return c.text() }

// ready presses a key once what is chosen has been on the screen long enough to be answered. The note of the answer before it
// hides the line that says so; a key that does nothing takes that away.
func (c *console) ready(key string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		if strings.Contains(c.text(), "y approve") {
			return true
		}
		c.keys("b")
		return false
	}, patience, 50*time.Millisecond, "%s", c)
	c.keys(key)
}

// see waits for texts on the screen.
func (c *console) see(texts ...string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		shown := c.text()
		return !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(shown, s) })
	}, patience, 5*time.Millisecond, "%q never came\n%s", texts, c)
}

// exit waits for the program's end.
func (c *console) exit() int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		require.Fail(c.t, "the program did not end", "%s", c)
	}
	return c.cmd.ProcessState.ExitCode()
}

const watching = "--interval=10ms"

func TestWatchShowsWhatComesAndAnswers(t *testing.T) {
	h := newHome(t)
	c := h.runs(t, 40, nil, "approvals", "watch", watching)
	c.see("no pending approvals", "q quit")
	one := h.asks(t, "systemctl restart nginx")
	c.see("1 request waiting", "> "+one.id[:8], "agent/x on web1", "| systemctl restart nginx", "web1 (ssh root@10.0.0.1:2222 through gate; tier prod)", "y approve")
	two := h.asks(t, "echo \x1b[2J\u202etwo")
	c.see("2 requests waiting", "> "+one.id[:8], "  "+two.id[:8])
	c.keys("j")
	c.see("> "+two.id[:8], `| echo \x1b[2J\u202etwo`, "what cannot be seen written as in Go")
	c.keys("k")
	c.see("> "+one.id[:8], "| systemctl restart nginx", "y approve")

	c.keys("y")
	c.see("Let this run on web1, for agent/x? [y/N]")
	c.keys("n")
	c.see("it stays pending", "2 requests waiting")
	c.keys("y")
	c.see("Let this run on web1, for agent/x? [y/N]")
	c.keys("y")
	c.see("approved "+one.id, "1 request waiting", "> "+two.id[:8])
	assert.Contains(t, one.hears(), "approved=true by=operator/")

	c.ready("n")
	c.see("Reject this without a reason? [y/N]")
	c.keys("\x1b")
	c.see("it stays pending")
	c.keys("r")
	c.see("Why it is rejected")
	c.keys("\r\u202enot during thw\x7fe day\r")
	c.see("rejected "+two.id, "no pending approvals")
	assert.Contains(t, two.hears(), "approved=false by=operator/")
	c.keys("q")
	assert.Equal(t, 0, c.exit())
	assert.NotRegexp(t, "\x1b\\[[0-9;]+m", c.printed(), "there is no colour")
}

func TestWatchTellsTheReasonOfANo(t *testing.T) {
	h := newHome(t)
	one := h.asks(t, "touch /srv/x")
	c := h.runs(t, 40, nil, "approvals", "watch", watching)
	c.see("> "+one.id[:8], "y approve")
	c.keys("r")
	c.see("Why it is rejected")
	c.keys("later, please\r")
	c.see("rejected " + one.id)
	assert.Contains(t, one.hears(), "reason=later, please")
	c.keys("\x03")
	assert.Equal(t, 0, c.exit())
}

func TestWatchApprovesOnlyWhatWasOnTheScreen(t *testing.T) {
	h := newHome(t)
	one := h.asks(t, strings.Repeat("echo line\n", 60)+"echo the end")
	c := h.runs(t, 24, nil, "approvals", "watch", watching)
	c.see("> "+one.id[:8], "more lines below: space", "y approve")
	c.keys("y")
	c.see("there is more of it below: space reads on")
	for !strings.Contains(c.text(), "| echo the end") {
		before := c.text()
		c.keys(" ")
		require.Eventually(t, func() bool { return c.text() != before }, patience, 5*time.Millisecond, "%s", c)
	}
	c.keys("b")
	c.see("more lines below", "| echo line")
	c.keys("y")
	c.see("Let this run on")
	c.keys("y")
	c.see("approved " + one.id)
	assert.Contains(t, one.hears(), "approved=true")
	c.keys("q")
	assert.Equal(t, 0, c.exit())
}

func TestWatchAsksForThePassphrase(t *testing.T) {
	h := newHome(t)
	e := h.runs(t, 24, nil, "approvals", "enroll", "--new", "--name", "ada")
	e.see("A passphrase for the key of ada:")
	e.keys("correct horse\r")
	e.see("The same again:")
	e.keys("correct horse\r")
	require.Equal(t, 0, e.exit(), "%s", e)
	one := h.asks(t, "touch /srv/x")
	c := h.runs(t, 40, nil, "approvals", "watch", watching)
	c.see("> "+one.id[:8], "needs    a passphrase, of an enrolled approver", "y approve")
	yes := func(phrase string) {
		c.keys("y")
		c.see("Let this run on")
		c.keys("y")
		c.see("Passphrase of ada's key")
		c.keys(phrase)
	}
	yes("\x1b")
	c.see("it stays pending")
	c.keys("y")
	c.see("Let this run on")
	c.keys("correct horse") // at the wrong question: "r" would reject with the rest as the reason
	c.see("what is typed now is dropped")
	c.keys("\r")
	c.see("it stays pending")
	yes("correct house\r")
	c.see("That is not the passphrase of the key. Passphrase of ada's key")
	c.keys("correct house\x7f\x7f\x7frse\r")
	c.see("approved " + one.id)
	assert.Contains(t, one.hears(), "proof=passphrase approver=ada")
	c.keys("q")
	assert.Equal(t, 0, c.exit())
	assert.NotContains(t, c.printed(), "correct", "it is never shown")
}

func TestWatchApprovesWithInput(t *testing.T) {
	h := newHome(t)
	e := h.runs(t, 24, nil, "approvals", "enroll", "--new", "--name", "ada")
	e.see("A passphrase for the key of ada:")
	e.keys("correct horse\r")
	e.see("The same again:")
	e.keys("correct horse\r")
	require.Equal(t, 0, e.exit(), "%s", e)
	one := h.asks(t, "touch /srv/x")
	c := h.runs(t, 50, nil, "approvals", "watch", watching)
	c.see("> "+one.id[:8], "y approve  n reject")
	c.keys("i")
	c.see("nothing can be typed at this while it runs: y approves it")
	c.keys("ny")
	c.see("rejected " + one.id)
	two := h.asks(t, "interactive: python3 -q")
	c.see("> "+two.id[:8], "| python3 -q")
	c.ready("j") // a key takes the note away
	c.see("i approve with input")
	c.keys("i")
	c.see("Let this run on web1, for agent/x, and whatever is typed into it? [y/N]")
	c.keys("y")
	c.see("Passphrase of ada's key")
	c.keys("correct horse\r")
	c.see("approved " + two.id + " with input")
	assert.Contains(t, two.hears(), "proof=passphrase approver=ada reason= with input")
	three := h.asks(t, "python3 -q <- print(1)")
	c.see("> "+three.id[:8], "typed at: python3 -q", "> print(1)")
	c.ready("y")
	c.see("Let this be typed on web1, for agent/x? [y/N]")
	c.keys("\x03")
	assert.Equal(t, 0, c.exit())
}

func TestWatchApprovesForTheSession(t *testing.T) {
	h := newHome(t)
	one := h.asks(t, "systemctl restart nginx")
	c := h.runs(t, 50, nil, "approvals", "watch", watching)
	c.see("> "+one.id[:8], "s for the session")
	c.keys("s")
	c.see("or type the first words of the commands")
	c.keys("systemctl\r")
	c.see("a prefix is a program and at least one more word")
	c.keys("s")
	c.see("or type the first words of the commands")
	c.keys("systemctl restart\r")
	c.see("and the session's commands that begin with: systemctl restart?")
	c.keys("y")
	c.see("approved " + one.id + " for the session: commands that begin with: systemctl restart")
	assert.Contains(t, one.hears(), "reason=commands that begin with: systemctl restart")
	two := h.asks(t, "touch x; touch y")
	c.see("> " + two.id[:8])
	c.ready("s")
	c.see("Enter approves this exact command")
	c.keys("\r")
	c.see("and the same command again in the session? [y/N]")
	c.keys("y")
	c.see("approved " + two.id + " for the session: this command")
	c.keys("q")
	assert.Equal(t, 0, c.exit())
}

func TestWatchIsForPersonsAtTerminals(t *testing.T) {
	h := newHome(t)
	c := h.runs(t, 24, []string{"CLAUDECODE=1"}, "approvals", "watch")
	c.see("agents may not answer approvals")
	assert.Equal(t, 5, c.exit())
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "approvals", "watch")
	cmd.Env = h.env(asProgram + "=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 2, cmd.ProcessState.ExitCode())
	assert.Contains(t, string(out), "approvals watch needs a terminal")
}
