package framing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/framing"
)

// assertNoToken looks for the tokens of the shell's frames and of the shell itself, whole or in the halves in which
// they are typed.
func (s *shell) assertNoToken(where, text string) {
	s.t.Helper()
	for _, tok := range append([]framing.Token{framing.ShellToken(s.hello)}, s.tokens...) {
		for _, part := range []string{tok.String()[:framing.TokenLen/2], tok.String()[framing.TokenLen/2:]} {
			assert.NotContains(s.t, text, part, where)
		}
	}
}

// curious are commands that look where a token could be.
var curious = []string{
	"set", "set -o", "export", "export -p", "readonly", "alias", "trap", "jobs", "times", "hash", "ulimit -a", "umask",
	"declare -f", "declare -p", "typeset", "typeset -f", "typeset -p", "functions", "fc -l", "fc -l 1", "history", "local", "env", "printenv",
	`for x in 0 1 2 3 4 5 6 7 8 9; do eval "echo \"\$$x\""; done; echo "$_ $* $- $0"`,
	`echo "$BASH_COMMAND $BASH_EXECUTION_STRING ${BASH_SOURCE[@]} ${FUNCNAME[@]} ${BASH_ARGV[@]} $ZSH_DEBUG_CMD ${.sh.command}"`, `echo "$BASH_EXECUTION_STRING"`, `echo "$_"`, `caller 0; caller`,
	"cat /proc/$$/environ /proc/$$/cmdline /proc/$PPID/environ /proc/$PPID/cmdline", "cat /proc/[0-9]*/cmdline 2>/dev/null", "ps axwww", "ps axwwwe", "ls -l /proc/$$/fd",
	`read x <&0; echo "$x"`, "set -x; echo hi; { set +x; } 2>/dev/null", `trap 'set' USR1; kill -USR1 $$; trap - USR1`,
	"cat <<E\nx\nE", "cat <<'E'\nx", "cat <<E", `eval 'cat <<E'`, "x=$(cat <<E)", "cat <<E &", "(cat <<E)", "f() { cat <<E", "cat <<E\\", "cat <<-E", // ksh93 reads an old text for the missing one
	`f() { set; typeset; }; f`, `(set; typeset)`, `sh -c 'set; export'`, `eval 'set'`, `. /dev/stdin <<E
set
E`, `trap set EXIT; (exit); trap - EXIT`,
}

func TestACommandFindsNoToken(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, script := range curious {
			o := s.run(script)
			s.assertNoToken(script, o.stdout+o.stderr+o.stray)
			if o.exit != nil {
				s.close()
				s = start(t, sh)
			}
		}
		assert.Len(t, s.run("set").stray, 0)
	})
}

// A trap that watches commands sees the command that set it. The traps are gone when the next one starts, and nothing
// that they could see held a token.
func TestTrapsThatWatchCommandsSeeNoToken(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		for i, script := range []string{
			`trap 'printf "%s\n" "$BASH_COMMAND $ZSH_DEBUG_CMD $_" >>LOG; set >>LOG' DEBUG`,
			`shopt -s extdebug; set -T; set -E; trap 'printf "%s\n" "$BASH_COMMAND" "$@" "${BASH_ARGV[@]}" >>LOG' DEBUG RETURN ERR; false`,
			`setopt debugbeforecmd; trap 'print -r -- "$ZSH_DEBUG_CMD" >>LOG' DEBUG`,
			`trap 'echo E "$BASH_COMMAND" >>LOG; set >>LOG' ERR; false`,
			`trap 'echo Z >>LOG; set >>LOG' ZERR; false`,
			`set -o functrace; f() { :; }; trap 'echo "$BASH_COMMAND" >>LOG' DEBUG; f`,
			`TRAPDEBUG() { print -r -- "$ZSH_DEBUG_CMD" >>LOG; }`,
			`exec 7>>LOG; BASH_XTRACEFD=7; set -x; echo hi`,
			`exec 2>>LOG; set -x; echo hi`,
			`PS4='+$BASH_COMMAND $_ '; exec 2>>LOG; set -x; echo hi`,
			`set -v; set -x`,
			`trap 'set >>LOG; echo "$BASH_COMMAND" >>LOG' EXIT USR1 INT; kill -USR1 $$`,
		} {
			if !tries(i, sh) {
				continue
			}
			log := filepath.Join(t.TempDir(), "log")
			s := start(t, sh)
			o := s.run(strings.ReplaceAll(script, "LOG", log))
			for range 2 {
				if o.exit != nil {
					break
				}
				s.assertNoToken(script, o.stdout+o.stderr+o.stray)
				o = s.run("echo ok; false")
				assert.Contains(t, o.stdout, "ok\n", script)
			}
			s.assertNoToken(script, o.stdout+o.stderr+o.stray)
			b, err := os.ReadFile(log)
			if err == nil {
				s.assertNoToken(script, string(b))
			}
			s.close()
		}
	})
}

// A program that reads the terminal finds nothing of a frame there.
const readTerminal = `perl -e 'use Fcntl; sysopen T, "/dev/tty", O_RDONLY|O_NONBLOCK or die; $n = sysread T, $b, 4096; print defined $n ? "read $n: $b" : "nothing"'`

func TestNothingWaitsInTheTerminalWhileACommandRuns(t *testing.T) {
	have(t, "perl")
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, pad := range []string{"", strings.Repeat(": pad\n", 1000), ": " + strings.Repeat("x", 50_000) + "\n"} {
			assert.Equal(t, "nothing", s.output(pad+readTerminal))
		}
		s.send(framing.Command{Script: readTerminal, Mode: framing.Merged})
		assert.Equal(t, "nothing", s.wait().stdout)
		s.send(framing.Command{Script: readTerminal, Mode: framing.Tty})
		assert.Equal(t, "nothing", s.wait().stdout)
	})
}

// What reads the terminal waits, gets no part of a frame, and can be interrupted.
func TestACommandThatReadsTheTerminalWaits(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.interruptWhile("head -c 1 </dev/tty", "head")
		assert.Empty(t, o.stdout)
		assert.Equal(t, 130, o.trailer.ExitCode)
		assert.Equal(t, "ok\n", s.output("echo ok"))
	})
}

func TestAProgramThatFlushesTheTerminalTakesNothingOfOurs(t *testing.T) {
	have(t, "perl")
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.ok(`perl -MPOSIX -e 'open T, "+</dev/tty" or die; POSIX::tcflush(fileno T, TCIFLUSH) for 1..3; $t = POSIX::Termios->new; $t->getattr(fileno T); $t->setattr(fileno T, 2)'`)
		assert.Equal(t, "ok\n", s.output("echo ok"))
	})
}
