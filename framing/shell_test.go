package framing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/framing"
)

// eachShell runs f on every shell with the readers that a host may have.
func eachShell(t *testing.T, f func(t *testing.T, sh framing.Shell)) {
	for _, name := range shells {
		for _, reader := range []string{"perl", "hexdump"} {
			t.Run(name+"/"+reader, func(t *testing.T) {
				f(t, framing.Shell{Name: name, Reader: reader})
			})
		}
	}
}

func TestACommandGivesItsOutputErrorsCodeAndDirectory(t *testing.T) {
	eachShell(t, func(t *testing.T, sh framing.Shell) {
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

// Whatever a command does to its shell, the next one works: in the same shell, or the shell has said how it ended.
func TestNothingACommandDoesStopsTheNextOne(t *testing.T) {
	type row struct {
		script, out, err string
		code             int
	}
	_ = row{}
	rows := []string{
		"", "\n\n", "# comment", "echo a # comment", "echo a;", "sleep 0 &", "a='", "(", "for", "if true", "}", "EOF", "exit 3", "exec true", "exec sh -c 'exit 5'",
		"kill -9 $$", "set -eu; false", "set -x; echo hi", "set -v", "IFS=/", "unset IFS", "PATH=/nonexistent", "unset PATH", "set -C", "set -f", "LC_ALL=C",
		"alias printf=false; printf() { :; }; cd() { :; }; unset -f cd", "alias eval=false read=false builtin=false command=false test=false", "test() { return 1; }; read() { :; }; set() { :; }; eval() { :; }; trap() { :; }",
		"trap 'echo T' EXIT; exit 2", "trap 'echo D' DEBUG", `trap 'echo "$BASH_COMMAND"' DEBUG`, "stty sane", "stty sane </dev/tty", "stty echo icanon onlcr </dev/tty", "stty echo </dev/tty", "stty icanon </dev/tty", "reset",
		"PS1=x PS2=y PROMPT_COMMAND='echo P'", "exec 1>&-", "exec 2>/dev/null", "exec </dev/null", "exec 8>&- 9>&-", "exec 9>/dev/null 8>/dev/null", "exec 0<&-", "for i in 0 1 2 3 4 5 6 7 8 9; do eval \"exec $i>&-\"; done",
		"cat", "read x; echo $?", "set -n", "set -u; unset PWD", "PWD=/fake", "unset PWD", "cd /tmp; rmdir fl_d 2>/dev/null; mkdir fl_d; cd fl_d; rmdir ../fl_d", "read x </dev/tty & sleep 0.05; kill $!", "umask 077; ulimit -n 64", "ulimit -n 11",
		"return 3", "break 99", "continue 9", "shift 3", "set -- a b c", "${x?bad}", "readonly R=1; R=2", "trap '' INT HUP TERM", "set -o posix", "setopt shwordsplit rcquotes ksharrays", "exec 5>/tmp/fl_trace; BASH_XTRACEFD=5; set -x", "BASH_XTRACEFD=1; set -x; echo hi", "set -m; sleep 0.01 & wait",
		"kill -TERM $$", "kill -INT $$", "kill -INT 0", "kill -HUP $$", "kill -STOP $$ & sleep 0.1; kill -CONT $$", "python3 -c 'import termios; termios.tcflush(open(\"/dev/tty\"), termios.TCIFLUSH)'", "set -e", "set -o nounset", "shopt -s extdebug", "shopt -s expand_aliases; alias if=echo then=echo", "alias -g X=y", "emulate csh", "setopt noexec", "IFS=0123456789", "local x", "declare -r PWD", "readonly PWD IFS", "unset -f x; typeset -i _x=3", "printf '\\036'", "echo >/dev/tty tty",
	}
	for _, name := range shells {
		for _, reader := range []string{"perl", "hexdump"} {
			t.Run(name+"/"+reader, func(t *testing.T) {
				for _, r := range rows {
					t.Run(r, func(t *testing.T) {
						s := start(t, framing.Shell{Name: name, Reader: reader})
						o := s.run(r)
						if o.exit != nil {
							t.Logf("exit %+v out %q err %q stray %q", *o.exit, o.stdout, o.stderr, o.stray)
							return
						}
						t.Logf("code %d out %q err %q stray %q %+v", o.trailer.ExitCode, o.stdout, o.stderr, o.stray, o.trailer)
						o = s.run(`echo ok; echo "don't" >&2`)
						assert.Equal(t, "ok\n", o.stdout)
						t.Logf("then code %d out %q err %q stray %q %+v", o.trailer.ExitCode, o.stdout, o.stderr, o.stray, o.trailer)
					})
				}
			})
		}
	}
}
