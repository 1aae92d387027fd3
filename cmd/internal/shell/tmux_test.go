package shell_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tmux is a terminal that people use: one that answers queries, keeps modes and resizes.
type tmux struct {
	t      *testing.T
	socket string
}

func newTmux(t *testing.T) *tmux {
	t.Helper()
	need(t, "tmux", "stty")
	m := &tmux{t: t, socket: filepath.Join(t.TempDir(), "s")}
	m.run("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "env -i PATH=/usr/bin:/bin TERM=screen PS1='outer> ' sh")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	require.NoError(m.t, err, "%s", out)
	return string(out)
}

// keys presses keys by tmux's names.
func (m *tmux) keys(names ...string) { m.run(append([]string{"send-keys"}, names...)...) }

func (m *tmux) screen() string { return m.run("capture-pane", "-p", "-J") }

func (m *tmux) see(text string) {
	m.t.Helper()
	require.Eventually(m.t, func() bool { return strings.Contains(m.screen(), text) }, patience, 50e6, "%q never came\n%s", text, later{m})
}

type later struct{ m *tmux }

func (l later) String() string { return l.m.screen() }

func TestInTmux(t *testing.T) {
	need(t, "vim.tiny", "less", "top")
	p := newPlace(t, sshd(t))
	cmd := p.command(t, "shell", "sshd")
	m := newTmux(t)
	dir := t.TempDir()
	modes := func(name string) string {
		path := filepath.Join(dir, name)
		m.keys(fmt.Sprintf("stty -g > %s.part; mv %s.part %s", path, path, path), "Enter")
		return wait(t, path)
	}
	before := modes("before")
	m.keys(fmt.Sprintf("%s=1 HOME=%s XDG_STATE_HOME=%s %s; echo code=$?", asProgram, p.dir, p.dir, strings.Join(cmd.Args, " ")), "Enter")
	require.Eventually(t, func() bool {
		return strings.Contains(lastLine(m.screen()), "#") || strings.Contains(lastLine(m.screen()), "$")
	},
		patience, 50e6, "a prompt never came\n%s", later{m})
	m.keys("unset HISTFILE; PS1='re''ady> '; clear", "Enter")
	m.see("ready>")

	file := filepath.Join(dir, "note")
	m.keys("vim.tiny -N -u NONE "+file, "Enter")
	m.see("[New")
	m.keys("i", "in tmux", "Left", "Left", "X", "Escape")
	m.see("in tmXux")
	m.run("resize-window", "-x", "100", "-y", "30")
	require.Eventually(t, func() bool { // the size takes its time
		m.keys("Escape", ":set columns?", "Enter")
		return strings.Contains(m.screen(), "columns=100")
	}, patience, 100e6, "the size never came\n%s", later{m})
	m.keys("Escape", ":wq", "Enter")
	m.see("ready>")
	assert.Equal(t, "in tmXux\n", wait(t, file))

	m.keys("clear; echo \"[$(stty size)]\"", "Enter")
	m.see("[30 100]")
	m.keys("seq 1 900 | LESSHISTFILE=- less", "Enter")
	m.see("29\n")
	m.keys("/777", "Enter")
	m.see("\n778\n")
	m.keys("q")
	m.keys("clear; top", "Enter")
	m.see("load average")
	m.keys("q")
	m.see("ready>")
	m.keys("clear; echo now it sle''eps; sleep 1000", "Enter")
	m.see("now it sleeps")
	m.keys("C-c")
	m.see("ready>")
	m.keys("clear; echo left a''lone", "Enter")
	m.see("left alone")
	m.see("ready>")
	m.keys("Enter", "~", "C-z")
	m.see("Stopped")
	m.keys("clear; stty -a | grep -o ' icanon'; echo at ho''me", "Enter")
	m.see(" icanon\nat home")
	m.keys("clear; fg; echo code=$?", "Enter")
	m.keys("clear; echo b''ack", "Enter")
	m.see("back\n")
	m.see("ready>")
	m.keys("clear; printf '\\033[6n'; echo as''ked; exit 7", "Enter") // the answer is the terminal's, and must not be typed here
	m.see("code=7")
	m.keys("clear", "Enter")
	assert.Equal(t, before, modes("after"))
	assert.NotContains(t, m.screen(), "not found")
}

func lastLine(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	return lines[len(lines)-1]
}
