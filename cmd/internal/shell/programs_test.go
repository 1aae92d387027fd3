package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// What people do at a terminal, on every transport.
func TestFullScreenProgramsWorkOnEveryTransport(t *testing.T) {
	for name, host := range map[string]func(t *testing.T) string{
		"local":   func(*testing.T) string { return "{name: here, transport: local}" },
		"demo":    func(*testing.T) string { return "{name: demo1, transport: demo}" },
		"command": func(*testing.T) string { return "{name: box, transport: command, command: [sh]}" },
		"server":  func(t *testing.T) string { _, h := server(t, sshserver.Config{}); return h },
		"OpenSSH": sshd,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, host(t))
			c := open(t, p.command(t, "shell", "all"))
			c.atShell()
			step := func(name string, f func(t *testing.T)) {
				if !t.Run(name, f) {
					t.FailNow() // who knows what is on the screen
				}
				c.t = t
			}
			step("the size and TERM are those here", func(t *testing.T) {
				c.t = t
				c.enter(`echo "[$(stty size) $TERM]"`)
				c.see("[24 80 xterm]")
				c.clear()
			})
			step("vim edits a file", func(t *testing.T) {
				need(t, "vim.tiny")
				c.t = t
				vim(c, filepath.Join(t.TempDir(), "note"))
			})
			step("less searches and quits", func(t *testing.T) {
				need(t, "less")
				c.t = t
				less(c, filepath.Join(t.TempDir(), "long"))
			})
			step("top shows and quits", func(t *testing.T) {
				need(t, "top")
				c.t = t
				c.enter("top")
				c.see("load average")
				c.keys("q")
				c.until("the prompt", atPrompt)
				c.clear()
			})
			step("resize", func(t *testing.T) {
				c.t = t
				c.resize(101, 31)
				require.Eventually(t, func() bool {
					c.enter(`echo "[$(stty size)]"`)
					return strings.Contains(strings.Join(c.lines(), "\n"), "[31 101]")
				}, patience, 200e6, "the size never came\n%s", show{c})
				c.resize(80, 24)
				c.clear()
			})
			step("keys for signals reach the program there", func(t *testing.T) {
				c.t = t
				c.enter(`sh -c 'trap "echo got INT; exit 9" INT; echo wa""iting; while :; do sleep 1; done'; echo "[$?]"`)
				c.see("waiting")
				c.keys("\x03")
				c.see("got INT")
				c.see("[9]")
				c.clear()
			})
			c.enter("exit 7")
			assert.Equal(t, 7, c.exit())
			c.printed("fairlead: recorded in " + p.recordings())
		})
	}
}

func atPrompt(lines []string) bool {
	return len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "ready>")
}

// vim types a text, saves it and quits.
func vim(c *console, path string) {
	c.t.Helper()
	c.enter("vim.tiny -u NONE " + path)
	c.see("[New")
	c.keys("ihello from vim\x1b")
	c.see("hello from vim")
	c.keys("oand a second line \u00fc\x1b")
	c.see("and a second line \u00fc")
	c.keys(":wq\r")
	c.until("the prompt", atPrompt)
	text, err := os.ReadFile(path)
	require.NoError(c.t, err)
	assert.Equal(c.t, "hello from vim\nand a second line \u00fc\n", string(text))
	c.clear()
}

// less searches and quits.
func less(c *console, path string) {
	c.t.Helper()
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "line %d of many\n", i)
	}
	require.NoError(c.t, os.WriteFile(path, []byte(text.String()), 0o600))
	c.enter("LESSHISTFILE=- less " + path)
	c.see("line 22 of many")
	c.keys("/line 321\r")
	c.until("what was searched", func(lines []string) bool { return strings.HasPrefix(lines[0], "line 321 of many") })
	c.keys("q")
	c.until("the prompt", atPrompt)
	c.clear()
}

func TestARecordingReplaysToTheSameScreen(t *testing.T) {
	need(t, "vim.tiny")
	p := newPlace(t, sshd(t))
	c := open(t, p.command(t, "shell", "sshd"))
	c.atShell()
	c.enter("vim.tiny -u NONE " + filepath.Join(t.TempDir(), "note"))
	c.see("[New")
	c.keys("i1 one\r2 two\x1b:set nu\r")
	c.until("line numbers", func(lines []string) bool { return regexp.MustCompile(`^ +2 2 two`).MatchString(lines[1]) })
	c.keys(":q!\r")
	c.until("the prompt", atPrompt)
	c.enter("echo the end; exit")
	assert.Zero(t, c.exit())
	seen := strings.Join(c.lines(), "\n")
	seen, _, _ = strings.Cut(seen, "fairlead: recorded in")
	assert.Contains(t, seen, "the end")
	assert.Equal(t, strings.TrimRight(seen, "\n"), strings.Join(p.replayed(t), "\n"))
}
