package shell_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

const here = "{name: here, transport: local}"

func TestTheEscapeSequenceHangsUp(t *testing.T) {
	p := newPlace(t, sshd(t))
	c := open(t, p.command(t, "shell", "sshd"))
	c.atShell()
	c.keys("~?")
	c.see("~.  hang up")
	c.keys("\r")
	mark := filepath.Join(t.TempDir(), "hungup")
	c.enter(`sh -c 'trap "echo yes > ` + mark + `; exit" HUP; echo wa""iting; while :; do sleep 0.1; done'`)
	c.see("waiting")
	c.keys("~.")
	assert.Equal(t, 130, c.exit())
	c.see("fairlead: sshd: hung up")
	c.see("fairlead: recorded in")
	require.Eventually(t, func() bool { _, err := os.Stat(mark); return err == nil }, patience, 20e6, "the program there gets SIGHUP")
}

func TestAnotherEscapeCharacterOrNone(t *testing.T) {
	p := newPlace(t, here)
	c := open(t, p.command(t, "shell", "here", "-e", "none"))
	c.atShell()
	c.enter("~.")
	c.see("not found")
	c.enter("exit")
	assert.Equal(t, 127, c.exit())
	c = open(t, p.command(t, "shell", "here", "--escape", "%"))
	c.atShell()
	c.keys("%.")
	assert.Equal(t, 130, c.exit())
}

func TestALostConnectionIsToldAndTheTerminalIsCalmed(t *testing.T) {
	need(t, "vim.tiny")
	s, host := server(t, sshserver.Config{})
	p := newPlace(t, host)
	c := open(t, p.command(t, "shell", "server"))
	c.atShell()
	c.enter("vim.tiny -n -u NONE") // whose swap file would stay
	c.see("~")
	c.keys("itext")
	c.see("text")
	s.Cut()
	assert.Equal(t, 4, c.exit())
	c.printed("fairlead: server: lost: ")
	c.printed("\x1b[?1049l") // the first screen is back
	c.printed("; what ran there may go on")
	c.see("ready> vim.tiny")
	events := p.events(t)
	assert.Equal(t, "lost", events[len(events)-2].Status)
	assert.Nil(t, events[len(events)-2].ExitCode)
}

func TestAConnectionThatStallsCanBeHungUp(t *testing.T) {
	s, host := server(t, sshserver.Config{})
	p := newPlace(t, host)
	c := open(t, p.command(t, "shell", "server"))
	c.atShell()
	s.Stall()
	t.Cleanup(s.Resume)
	c.keys(strings.Repeat("into the void\r", 100) + "~.")
	assert.Equal(t, 130, c.exit())
}

func TestSignalsEndTheProgramAndRestoreTheTerminal(t *testing.T) {
	// Tests that nohup started would hand on that hangups are ignored: what is caught here is not when a program begins.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGINT: 130} {
		t.Run(sig.String(), func(t *testing.T) {
			p := newPlace(t, here)
			c := open(t, p.command(t, "shell", "here"))
			c.atShell()
			require.NoError(t, c.cmd.Process.Signal(sig))
			assert.Equal(t, code, c.exit())
			c.see("fairlead: here: hung up: ")
			events := p.events(t)
			assert.Equal(t, "canceled", events[len(events)-2].Status)
		})
	}
}

func TestAShellThatIsKilledExitsLikeOne(t *testing.T) {
	for name, host := range map[string]func(t *testing.T) string{
		"here":   func(*testing.T) string { return here },
		"sshd":   sshd,
		"server": func(t *testing.T) string { _, h := server(t, sshserver.Config{}); return h },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, host(t))
			c := open(t, p.command(t, "shell", name))
			c.atShell()
			c.enter("kill -KILL $$")
			assert.Equal(t, 137, c.exit())
			c.see("fairlead: " + name + ": the shell was killed by SIGKILL")
		})
	}
}

// What was killed in the middle of a full-screen program, or has left one behind, leaves a terminal that people can use.
func TestWhatAKilledProgramLeavesOfTheTerminalIsCalmed(t *testing.T) {
	p := newPlace(t, here)
	for end, code := range map[string]int{"kill -KILL $$": 137, "exit 137": 137, "exit 3": 3} {
		t.Run(end, func(t *testing.T) {
			c := open(t, p.command(t, "shell", "here"))
			c.atShell()
			c.enter(`printf '\033[?1049h\033[?1000h\033[?25l\033[>4;2m\033[>1u'; ` + end)
			assert.Equal(t, code, c.exit())
			c.printed("\x1b[?1000l")
			c.printed("\x1b[>4;0m\x1b[<1u\x1b[?1049l")
		})
	}
	c := open(t, p.command(t, "shell", "here"))
	c.atShell()
	c.enter("exit 3")
	assert.Equal(t, 3, c.exit())
	assert.NotContains(t, c.output(), "\x1b[?1000l", "nothing is said to a terminal that was left well")
}

func TestAProgramThatWasStoppedTakesTheTerminalOverAgain(t *testing.T) {
	p := newPlace(t, here)
	c := open(t, p.command(t, "shell", "here"))
	c.atShell()
	c.cook() // as the local shell does when a program is stopped
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGCONT))
	require.Eventually(t, func() bool { return !c.echoes() }, patience, 10e6, "raw again")
	c.enter("exit 3")
	assert.Equal(t, 3, c.exit())
}
