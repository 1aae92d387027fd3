package framing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// everyday are words that people give to pgrep -f, pkill -f, and grep behind ps.
var everyday = []string{"exec", "sleep", "alarm", "kill", "trap", "perl", "sh -c", "eval", "stty", "printf", "read", "while", "test", "fork", "wait",
	"main", "log", "command", "builtin", "export", "tail", "python", "node", "java", "nginx", "server", "worker", "daemon", "http"}

// assertListed: the command lines of a session's processes are short, say whose they are, and hold no everyday word.
func assertListed(t *testing.T, sid int) {
	t.Helper()
	all := session(sid)
	require.NotEmpty(t, all)
	for _, p := range all {
		line := strings.TrimRight(strings.ReplaceAll(slurp(fmt.Sprintf("/proc/%d/cmdline", p.pid)), "\x00", " "), " ")
		assert.Contains(t, line, "fairlead")
		assert.Less(t, len(line), 80, line)
		for _, word := range everyday {
			assert.NotContains(t, line, word)
		}
	}
}

func TestTheListOfProcessesIsShortAndSaysWhose(t *testing.T) {
	have(t, "pgrep")
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		for _, login := range []bool{false, true} {
			sh.Login = login
			s := start(t, sh)
			s.run("true")
			assertListed(t, s.cmd.Process.Pid)
			// From inside, as somebody would look; the shell must survive what it finds.
			assert.Equal(t, "", s.run("for w in exec sleep alarm trap eval 'sh -c' printf; do pgrep -s 0 -f \"$w\" | grep -vx $$; done").stderr)
			assert.Empty(t, s.output("env | grep -i -e fairlead -e _fl_ || :"), "what carried the programs is gone")
			s.close()
		}
	})
}

// A login shell that is no POSIX shell starts the same processes.
func TestTheListOfProcessesIsShortUnderAnyLoginShell(t *testing.T) {
	for _, login := range []string{"fish", "tcsh", "bash", "zsh"} {
		for _, reader := range allReaders {
			t.Run(login+"/"+reader, func(t *testing.T) {
				s := startAs(t, account{login: []string{have(t, login), "-c"}}, framing.Shell{Name: "bash", Reader: reader})
				s.ok("true")
				assertListed(t, s.cmd.Process.Pid)
				s.close()
			})
		}
	}
}
