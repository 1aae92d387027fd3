package framing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/framing"
)

func TestACommandGivesItsOutputErrorsCodeAndDirectory(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run("cd /tmp; echo out; echo err >&2; (exit 7)")
		assert.Equal(t, "out\n", o.stdout)
		assert.Equal(t, "err\n", o.stderr)
		assert.Equal(t, "", o.stray)
		assert.Equal(t, 7, o.trailer.ExitCode)
		assert.Equal(t, "/tmp", o.trailer.Dir)
		o = s.run("true")
		assert.Equal(t, outcome{trailer: framing.Trailer{Dir: "/tmp"}}, o)
	})
}

// Whatever a command does to its shell, its frame ends, and then either the next command works or the shell has said
// that it ended. Nothing of ours shows in either.
func TestNothingACommandDoesStopsTheNextOne(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		var s *shell
		for i, script := range slices.Concat(poisons, passing) {
			if !tries(i, sh) || sh.Reader != "perl" && slices.Contains(stops, script) {
				continue
			}
			if s == nil {
				s = start(t, sh)
			}
			t.Run(script, func(t *testing.T) {
				s.t = t
				o := s.run(strings.ReplaceAll(script, "SCRATCH", t.TempDir()))
				assertNothingOfOurs(t, o)
				if o.exit != nil {
					return
				}
				o = s.run(`echo ok; (exit 3)`)
				assertNothingOfOurs(t, o)
				if o.exit == nil || o.exit.Code == 3 {
					assert.Contains(t, o.stdout, "ok\n")
					if o.exit != nil { // errexit, as asked for
						return
					}
					assert.Equal(t, 3, o.trailer.ExitCode)
					return
				}
				assert.Contains(t, endsTheShellLater, script, "the shell ended, having said %q", o.stderr)
			})
			if s.ended || t.Failed() || i < len(poisons) {
				s.close()
				s = nil
			}
		}
	})
}

func assertNothingOfOurs(t *testing.T, o outcome) {
	t.Helper()
	for _, text := range []string{o.stdout, o.stderr, o.stray} {
		assert.NotContains(t, text, "_fl_")
		assert.NotContains(t, text, "\x1e")
	}
}

// stops are commands that stop the shell. Only the supervisor in perl makes it go on.
var stops = []string{"kill -STOP $$", "set -m; sleep 0.01 & wait"}

// endsTheShellLater are settings under which no driver can go on: the shell ends when it reads the next frame.
var endsTheShellLater = []string{"emulate csh", "readonly PWD IFS", "set -m; sleep 0.01 & wait", "shopt -s expand_aliases; alias if=echo then=echo for=echo until=echo"}

// passing and poisons are the commands that break shells that are driven by a prompt, or by a careless loop. passing are those that
// leave nothing behind, so that one shell takes them one after the other; a poison has a shell of its own.
var passing = []string{
	"", "\n\n", "# comment", "echo a # comment", "echo a;", "sleep 0 &",
	"a='", `a="`, "(", ")", "for", "if true", "}", "{", "EOF", "case x in", "&&", ";;", "`", "a() {",
	"return 3", "break", "continue", "break 99", "continue 9", "shift 3", "kill -INT $$", "kill -INT 0", "kill -STOP $$",
	"cat", "read x; echo $?", "cd /; cd -", "cd /nonexistent", "${x?bad}", "local x", "x[",
	"trap - INT", "set --", "alias printf=false; printf() { :; }; cd() { :; }; unset -f cd printf; unalias printf",
	"python3 -c 'import termios; termios.tcflush(open(\"/dev/tty\"), termios.TCIFLUSH)'",
}

// SCRATCH is a directory of the test's own.
var poisons = []string{
	"$(",                          // bash 5.2 damages its own memory
	"cat <<EOF", "cat <<'EOF'\nx", // ksh93, when it is no longer new, takes text of the driver for the end
	"exit 3", "exec true", "exec sh -c 'exit 5'", "exec /nonexistent", "kill -9 $$", "kill -TERM $$", "kill -HUP $$",
	"set -eu; false", "set -e", "set -u; unset PWD", "set -x; echo hi", "set -v", "set -n", "set -C", "set -f", "set -a", "set -k", "set -t",
	"set -m; sleep 0.01 & wait", "set -b", "set -h", "set -p", "set -o posix", "set -- a b c", "set - ",
	"IFS=/", "IFS=,", "IFS=0123456789", "IFS=abcdefghijklmnopqrstuvwxyz", "unset IFS", "PATH=/nonexistent", "unset PATH", "LC_ALL=C", "LC_ALL=nonsense", "unset HOME",
	"alias printf=false; printf() { :; }; cd() { :; }; unset -f cd",
	"alias eval=false read=false builtin=false command=false test=false set=false",
	"test() { return 1; }; read() { :; }; set() { :; }; eval() { :; }; trap() { :; }; pwd() { :; }; print() { :; }",
	"shopt -s expand_aliases; alias if=echo then=echo for=echo until=echo", "shopt -s extdebug", "alias -g X=y",
	"trap 'echo T' EXIT; exit 2", "trap - EXIT; exit 2", "trap '' EXIT; exit 2", "trap 'echo D' DEBUG", `trap 'echo "$BASH_COMMAND"' DEBUG`, "trap 'echo E' ERR; false", "trap '' INT HUP TERM QUIT",
	"set -e; trap 'echo E' ERR; false",
	"stty sane </dev/tty", "stty echo </dev/tty", "stty icanon </dev/tty", "stty echo icanon onlcr </dev/tty", "stty raw </dev/tty", "stty sane", "reset",
	"PS1=x PS2=y PS4=z PROMPT_COMMAND='echo P'; set -x",
	"exec 1>&-", "exec 2>/dev/null", "exec </dev/null", "exec 0<&-", "exec 8>&- 9>&-", "exec 9>/dev/null 8>/dev/null", "exec >/dev/null 2>&1",
	`for i in 0 1 2 3 4 5 6 7 8 9; do eval "exec $i>&-"; done`, `for i in 0 1 2 3 4 5 6 7 8 9; do eval "exec $i>/dev/null"; done`,
	"umask 077; ulimit -n 64", "ulimit -s 256",
	"PWD=/fake", "unset PWD", "readonly PWD", "readonly PWD IFS", "readonly R=1; R=2", "unset -f x; typeset -i _x=3",
	"setopt shwordsplit rcquotes ksharrays", "setopt noexec", "setopt extendedglob nomatch globsubst", "emulate csh", "emulate sh", "unsetopt multios",
	"exec 5>SCRATCH/trace; BASH_XTRACEFD=5; set -x", "BASH_XTRACEFD=1; set -x; true",
	"mkdir SCRATCH/gone && cd SCRATCH/gone && rmdir SCRATCH/gone",
}
