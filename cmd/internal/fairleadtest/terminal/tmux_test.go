package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// window is a terminal that people use, 60 columns wide, with a shell in it.
type window struct {
	t      *testing.T
	socket string
}

func newWindow(t *testing.T, dir string) *window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		needs.Part(t, "tmux is not installed")
	}
	w := &window{t: t, socket: filepath.Join(dir, "tmux")}
	w.run("-f", "/dev/null", "new-session", "-d", "-x", "60", "-y", "40", "env -i "+fairleadtest.Gorace+" PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH")+
		" HOME="+dir+" XDG_RUNTIME_DIR="+dir+" SHELL=/bin/sh LANG=C.UTF-8 TERM=screen NO_COLOR=1 PS1='shell> ' sh")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", w.socket, "kill-server").Run() })
	w.see("shell>")
	return w
}

func (w *window) run(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", w.socket}, args...)...).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}

// rows are those of the screen as they are to be seen, up to the last one with something on it.
func (w *window) rows() []string {
	return strings.Split(strings.TrimRight(w.run("capture-pane", "-p"), "\n"), "\n")
}

// screen has lines that the terminal has broken in one piece.
func (w *window) screen() string {
	return atEnds.ReplaceAllString(w.run("capture-pane", "-p", "-J"), "")
}

var atEnds = regexp.MustCompile(`(?m) +$`)

// see waits until a text is to be seen.
func (w *window) see(text string) {
	w.t.Helper()
	w.until(text, func() bool { return strings.Contains(w.screen(), text) })
}

func (w *window) until(what string, f func() bool) {
	w.t.Helper()
	var last string
	require.Eventually(w.t, func() bool { last = w.screen(); return f() }, time.Minute, 50*time.Millisecond, "%q never came; of the screen: %s", what, shownLate{&last})
}

type shownLate struct{ text *string }

func (s shownLate) String() string { return *s.text }

// types clears the screen and runs a line in the shell.
func (w *window) types(line string) { w.run("send-keys", "clear; "+line, "Enter") }

func (w *window) keys(names ...string) { w.run(append([]string{"send-keys"}, names...)...) }

// With a keeper and without, in a window of 60 columns: progress, a rollout, the prompt, ^C once and twice, tables and pipes.
func TestARealTerminalOfSixtyColumns(t *testing.T) {
	fairleadtest.TooLongForTheDetector(t)
	t.Parallel()
	for _, mode := range []string{"off", "require"} {
		t.Run("keeper "+mode, func(t *testing.T) {
			dir, _ := fairleadtest.KeeperHome(t)
			inventory := filepath.Join(dir, "i.yaml")
			require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts: [{name: \"machine[01-12]\", transport: demo, tier: dev, labels: [\"role=of-some-length\"]}]\n"), 0o600))
			fairleadtest.Program(t, dir)
			w := newWindow(t, dir)
			w.keys("export FAIRLEAD_INVENTORY="+inventory+" FAIRLEAD_KEEPER="+mode+"; cd "+dir, "Enter")
			for _, part := range []struct {
				name string
				f    func(*window)
			}{
				{"progress", func(w *window) { w.progress(dir) }}, {"rollout", (*window).rollout}, {"interrupts", func(w *window) { w.interrupts(dir) }},
				{"prompt", func(w *window) { w.prompt(dir) }}, {"tables", (*window).tables}, {"pipes", (*window).pipes},
			} {
				if !t.Run(part.name, func(t *testing.T) { part.f(&window{t, w.socket}) }) {
					return // the shell is elsewhere
				}
			}
		})
	}
}

// progress is one row, which goes.
func (w *window) progress(dir string) {
	w.types(`fairlead run 'machine*' --fold -- 'until [ -e ` + dir + `/go ]; do sleep 0.2; done'; echo code=$?`)
	w.see("0/12 done; waiting for machine")
	rows := w.rows()
	last := rows[len(rows)-1]
	assert.True(w.t, strings.HasPrefix(last, "0/12 done; waiting for machine"), "it is not broken: %q", rows)
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	w.see("code=0")
	assert.NotContains(w.t, w.screen(), "0/12 done")
	assert.Contains(w.t, w.screen(), "== machine[01-12] (12 hosts): ok")
}

// rollout asks, and shows what is answered.
func (w *window) rollout() {
	w.types(`fairlead run 'machine*' --batch 1,5,100% --confirm --fold -- 'test $(({n} % 5)) != 0'; echo code=$?`)
	w.see("Run batch 2 of 3 on machine[02-06]? [y/N]")
	w.keys("y", "Enter")
	w.see("code=1")
	screen := w.screen()
	assert.Contains(w.t, screen, "Run batch 2 of 3 on machine[02-06]? [y/N] y\n")
	assert.Contains(w.t, screen, "fairlead: the run stopped: 1 of 12 hosts failed, and max-fail is 0; not run: machine[07-12]")
	w.types(`fairlead run 'machine[01-02]' --batch 1 --confirm --fold -- true; echo code=$?`)
	w.see("Run batch 2 of 2 on machine02? [y/N]")
	w.keys("C-c")
	w.see("code=130")
}

// interrupts: one ends what runs, and a second one does not wait for what takes none.
func (w *window) interrupts(dir string) {
	busy := filepath.Join(dir, "busy")
	w.types(`fairlead run 'machine[01-03]' -- 'echo > ` + busy + `{n}; sleep 600; echo after'; echo code=$?`)
	w.until("the command", func() bool { return exists(busy+"1") && exists(busy+"2") && exists(busy+"3") })
	w.keys("C-c")
	w.see("code=130")
	assert.Contains(w.t, w.screen(), "fairlead: stopped by interrupt; stopping the command on ")
	assert.Contains(w.t, w.screen(), "fairlead: interrupted: 0 of 3 hosts are done")
	assert.NotContains(w.t, w.screen(), "| after")
	w.types(`fairlead run machine01 -- 'sh -c "trap : INT TERM HUP; echo > ` + busy + `; while :; do sleep 1; done"; true'; echo code=$?`)
	w.until("the command", func() bool { return exists(busy) })
	w.keys("C-c")
	w.see("press ^C again to quit without waiting")
	w.keys("C-c")
	w.see("code=130")
	assert.Contains(w.t, w.screen(), "ended at once. The command may still be running on machine01")
}

// prompt runs lines, and ^C ends the command that runs, not the prompt.
func (w *window) prompt(dir string) {
	busy := filepath.Join(dir, "busy-too")
	w.types(`fairlead run 'machine[01-04]'; echo code=$?`)
	w.see("4 hosts>")
	w.keys("test $(({n} % 2)) = 0", "Enter")
	w.see("4 hosts, 2 failed>")
	w.keys(":only failed", "Enter")
	w.see("2 of 4 hosts>")
	w.keys("echo > "+busy+"{n}; sleep 600; echo after", "Enter")
	w.until("the command", func() bool { return exists(busy+"1") && exists(busy+"2") })
	w.keys("C-c")
	w.see("fairlead: interrupted: 0 of 2 hosts are done")
	w.see("2 of 4 hosts, 2 failed>")
	w.keys(":all", "Enter", ":diff", "Enter")
	w.see("4 hosts> :diff")
	w.keys("seq $(( {n} == 1 ? 4 : 5 ))", "Enter")
	w.see("+++ machine01")
	w.keys("echo a line that is longer than the window is wide and goes on", "BSpace", "BSpace", "on there; exit 3", "Enter")
	w.see("4 hosts, 4 failed>")
	assert.Contains(w.t, w.screen(), "  a line that is longer than the window is wide and goes on\n  there\n", "it is broken between words")
	w.keys("C-d")
	w.see("code=1")
	assert.NotContains(w.t, w.screen(), "| after")
}

// tables fit in the window, with what matters in them.
func (w *window) tables() {
	for line, want := range map[string]string{
		"hosts list machine01": "machine01", "runs list -n 3": "  COMMAND\n", "history -n 3": "seq $((",
	} {
		w.types("fairlead " + line + "; echo '" + line + "' co''de=$?")
		w.see("\n" + line + " code=0")
		assert.Contains(w.t, w.screen(), want, line)
		lines := strings.Split(w.screen(), "\n")
		for _, row := range lines[1:] { // the first is what was typed
			assert.LessOrEqual(w.t, utf8.RuneCountInString(strings.TrimRight(row, " ")), 60, "%s: %s", line, row)
		}
	}
}

// pipes end what they read from, and the shell is as it was.
func (w *window) pipes() {
	w.types(`{ fairlead run 'machine[01-03]' -- yes; echo code=$? >&2; } | head -n 2`)
	w.see("code=141")
	assert.Equal(w.t, 2, strings.Count(w.screen(), " | y\n"))
	w.keys("clear; stty -a | tr ';' '\\n' | grep -c ' echo '; echo do''ne", "Enter")
	w.see("done")
	assert.Contains(w.t, w.screen(), "1\ndone", "the terminal shows what is typed")
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
