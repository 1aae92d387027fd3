package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// step is one command of a case and what it must give. In out and err "*" stands for anything.
type step struct {
	cmd      session.Command
	out, err string
	status   session.Status
	code     int
	dir      string
	check    func(t *testing.T, r session.Result)
}

// sh is the step of a command that exits with 0 and is silent on standard error.
func sh(script, out string) step {
	return step{cmd: session.Command{Script: script}, out: out, status: session.StatusOK}
}

func (s step) errs(text string) step { s.err = text; return s }
func (s step) in(dir string) step    { s.dir = dir; return s }
func (s step) exits(code int) step   { s.status, s.code = session.StatusExit, code; return s }
func (s step) within(d time.Duration) step {
	s.cmd.Timeout = d
	return s
}
func (s step) also(f func(t *testing.T, r session.Result)) step { s.check = f; return s }

var ok = sh("echo ok", "ok\n")

// anything is a step that must end, no matter how.
func anything(script string) step {
	return step{cmd: session.Command{Script: script}, out: "*", err: "*", status: "*"}
}

// any drops what a step expects of the outcome.
func (s step) any() step { s.out, s.err, s.status = "*", "*", "*"; return s }

type sessionCase struct {
	name  string
	only  string // shells that know what the case is about; "" is all
	steps []step
}

// cases are commands that a session must get through, on every shell and transport.
func cases(tmp string) []sessionCase {
	odd := tmp + "/odd\nna\x1fme 'q' \"d\" ü\\"
	big := strings.Repeat("x", 10_000)
	script := strings.Repeat("v=1; # "+strings.Repeat("y", 90)+"\n", 3_000) + "echo whole"
	short := strings.Repeat("n=$((n+1))\n", 5_000) + "echo $n"
	return []sessionCase{
		{"no final newline", "", []step{sh("printf abc", "abc")}},
		{"blank lines and spaces", "", []step{sh(`printf '\n\n x \n'`, "\n\n x \n")}},
		{"bytes that are no text", "", []step{sh(`printf '\0\1\377\r\n'`, "\x00\x01\xff\r\n").also(func(t *testing.T, r session.Result) {
			j, err := r.MarshalJSON()
			require.NoError(t, err)
			assert.Contains(t, string(j), `"encoding":"base64"`)
		})}},
		{"streams and code", "", []step{sh("echo out; echo err >&2; (exit 7)", "out\n").errs("err\n").exits(7)}},
		{"errors without newline", "", []step{sh("printf e >&2", "").errs("e")}},
		{"state is kept", "", []step{sh("cd /tmp && export A=1; f() { echo F; }", "").in("/tmp"), sh("pwd; echo $A; f", "/tmp\n1\nF\n").in("/tmp")}},
		{"a directory that is deleted", "", []step{anything("mkdir -p " + tmp + "/gone && cd " + tmp + "/gone && rmdir " + tmp + "/gone"), sh("cd /tmp", "").in("/tmp")}},
		{"a directory with any name", "", []step{sh("mkdir -p "+quote(odd)+" && cd "+quote(odd), "").in(odd), ok.in(odd)}},
		{"nothing to do", "", []step{sh("", ""), sh("\n\n", ""), sh("# only a comment", "")}},
		{"what could swallow the end", "", []step{sh("echo a # comment", "a\n"), sh("echo a;", "a\n"), sh("sleep 0 &", ""), ok}},
		{"heredocs", "", []step{
			sh("cat <<'A'\n$x `y` \\z\nA\n", "$x `y` \\z\n"),
			sh("x=1; cat <<A\n$x $((1+1))\nA", "1 2\n"),
			sh("cat <<-A\n\tx\n\t\ty\n\tA", "x\ny\n"),
			sh("cat <<A; cat <<B\n1\nA\n2\nB", "1\n2\n"),
			sh("cat <<'END'\n"+strings.Repeat("line ' \" $ `\n", 200)+"END", strings.Repeat("line ' \" $ `\n", 200)),
		}},
		{"quotes", "", []step{sh(`echo 'it'"'"'s' "$((1+1))" \$x`, "it's 2 $x\n"), sh(`echo "a!b"`, "a!b\n")}},
		{"quote left open", "", syntaxError("a='")},
		{"parenthesis left open", "", syntaxError("(")},
		{"for alone", "", syntaxError("for")},
		{"a test left open", "bash", []step{
			anything("[[ a"), ok, anything("[[ a &&"), ok, anything("([[ a)"), ok, anything("[[ a = ]]"), ok, anything("[[ ( a"), ok, sh("[[ a = a ]] && echo y", "y\n"),
		}},
		{"if without then", "", syntaxError("if true")},
		{"brace too many", "", syntaxError("}")},
		{"unknown command", "", []step{{cmd: session.Command{Script: "EOF"}, err: "*", status: session.StatusExit, code: 127}, ok}},
		{"exit", "", []step{sh("cd /tmp; exit 3", "").exits(3), ok.in("/tmp").also(restarted)}},
		{"exec true", "", []step{sh("exec true", ""), ok.also(restarted)}},
		{"exec with a code", "", []step{sh("echo a; echo b >&2; exec sh -c 'echo c; echo d >&2; exit 5'", "a\nc\n").errs("b\nd\n").exits(5), ok.also(restarted)}},
		{"the shell kills itself", "", []step{{cmd: session.Command{Script: "kill -9 $$"}, status: session.StatusSignal, check: func(t *testing.T, r session.Result) {
			assert.Equal(t, "KILL", r.Signal)
			assert.Nil(t, r.ExitCode)
		}}, ok.also(restarted)}},
		{"errexit and nounset", "", []step{sh("set -eu; false", "").exits(1), ok}},
		{"pipefail", "bash zsh ksh ash", []step{sh("set -euo pipefail; false | true; echo no", "").exits(1), ok}},
		{"xtrace", "", []step{
			sh("set -x; echo hi", "hi\n").errs("*").also(tracesOnlyTheUser),
			sh("echo two", "two\n").errs("*").also(tracesOnlyTheUser),
			sh("set +x", "").errs("*").also(tracesOnlyTheUser), ok,
		}},
		{"verbose", "", []step{anything("set -v").also(tracesOnlyTheUser), sh("echo hi", "hi\n").errs("*").also(tracesOnlyTheUser)}},
		{"IFS", "", []step{anything("IFS=/"), ok, anything("unset IFS"), ok}},
		{"PATH", "", []step{anything("PATH=/nonexistent"), ok, anything("unset PATH"), ok}},
		{"options", "", []step{anything("set -C"), ok, anything("set -f"), ok, anything("LC_ALL=C"), ok}},
		{"functions and aliases in the way", "", []step{anything("alias printf=false; printf() { :; }; cd() { :; }; unset -f cd"), ok}},
		{"a trap on exit", "", []step{sh("trap 'echo T' EXIT; exit 2", "*").exits(2), ok}},
		{"errors in subshells", "", []step{
			sh("(echo ${nope?bad}) 2>/dev/null; echo after", "after\n"), sh("x=$(echo $((1/0))); echo after", "after\n").errs("*"),
			sh("(: >/nonexistent/f) 2>/dev/null; echo after", "after\n"), sh("(set -u; echo $nope) 2>/dev/null | cat; echo after", "after\n"),
			sh("(. ./nonexistent) 2>/dev/null & wait; echo after", "after\n"), ok,
		}},
		{"a trap on every command", "bash zsh", []step{anything("trap 'echo D' DEBUG"), anything("echo ok").also(func(t *testing.T, r session.Result) { assert.Contains(t, string(r.Stdout), "ok\n") })}},
		{"a trap that prints commands", "bash", []step{anything(`trap 'echo "$BASH_COMMAND"' DEBUG`).also(noToken), anything("echo ok").also(noToken)}},
		{"terminal settings", "", []step{
			anything("stty sane"), sh(`printf 'a\nb'`, "a\nb"),
			anything("stty sane </dev/tty"), sh(`printf 'a\nb'`, "a\nb"),
			anything("stty echo icanon onlcr </dev/tty"), sh(`printf 'a\nb'`, "a\nb"), sh(`printf 'a\nb'`, "a\nb"),
			anything("reset </dev/null"), sh(`printf 'a\nb'`, "a\nb"),
		}},
		{"prompts", "", []step{anything("PS1=x PS2=y PROMPT_COMMAND='echo P'"), ok}},
		{"closed descriptors", "", []step{anything("exec 1>&-"), ok, anything("exec 2>/dev/null"), ok, anything("exec </dev/null"), ok, sh("echo e >&2", "").errs("e\n")}},
		{"empty standard input", "", []step{sh("cat", ""), sh("read x; echo $?", "1\n"), anything("python3 -c 'input()'").also(func(t *testing.T, r session.Result) {
			assert.Equal(t, 1, *r.ExitCode)
		})}},
		{"a flood on output", "", []step{sh("yes 2>/dev/null | head -c 10000000", "*").also(func(t *testing.T, r session.Result) {
			assert.EqualValues(t, 10_000_000, r.StdoutBytes)
			assert.EqualValues(t, 10_000_000, int64(len(r.Stdout))+r.OmittedStdout)
			assert.LessOrEqual(t, len(r.Stdout), session.DefaultKeep)
		})}},
		{"a flood on errors", "", []step{{cmd: session.Command{Script: "yes >&2", Timeout: 700 * time.Millisecond}, err: "*", status: session.StatusTimeout, check: func(t *testing.T, r session.Result) {
			assert.True(t, strings.HasPrefix(string(r.Stderr), "y\ny\n"))
			assert.Positive(t, r.OmittedStderr)
		}}, ok}},
		{"both streams at once", "", []step{{cmd: session.Command{Script: "sh -c 'while :; do echo o; echo e >&2; done'", Timeout: 400 * time.Millisecond, Keep: 1 << 26}, out: "*", err: "*", status: session.StatusTimeout, check: func(t *testing.T, r session.Result) {
			assert.Empty(t, strings.Trim(string(r.Stdout), "o\n"))
			assert.Empty(t, strings.Trim(string(r.Stderr), "e\n"))
		}}, ok}},
		{"lines in order", "", []step{{cmd: session.Command{Script: "i=0; while [ $i -lt 10000 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done", Keep: 1 << 24}, out: "*", err: "*", status: session.StatusOK, check: func(t *testing.T, r session.Result) {
			for i, line := range strings.Split(strings.TrimSpace(string(r.Stdout)), "\n") {
				require.Equal(t, fmt.Sprintf("o%d", i), line)
			}
			for i, line := range strings.Split(strings.TrimSpace(string(r.Stderr)), "\n") {
				require.Equal(t, fmt.Sprintf("e%d", i), line)
			}
			assert.EqualValues(t, r.StdoutBytes, r.StderrBytes)
		}}}},
		{"a command that takes too long", "", []step{sh("cd /tmp; export A=1", ""), sh("sleep 100", "").within(300 * time.Millisecond).also(func(t *testing.T, r session.Result) {
			assert.Equal(t, session.StatusTimeout, r.Status)
			assert.Equal(t, "INT", r.StoppedBy)
		}).any(), sh("pwd; echo $A", "/tmp\n1\n")}},
		{"forged marks", "", []step{
			sh(`printf '\036AAAAAAAAAAABBBBBBBBBBBZ\n\036~abcdefgh41\n\036'; printf '\036' >&2`, "\x1eAAAAAAAAAAABBBBBBBBBBBZ\n\x1e~abcdefgh41\n\x1e").errs("\x1e"), ok}},
		{"nothing to learn from the shell", "", []step{
			anything("cat /proc/$$/environ /proc/$$/cmdline; set; declare -f; history; alias; trap").also(noToken), ok}},
		{"a long line", "", []step{sh("echo "+big, big+"\n")}},
		{"a long script", "", []step{sh(script, "whole\n")}},
		{"many short lines", "", []step{sh("n=0\n"+short, "5000\n")}},
		{"control bytes", "", []step{sh("printf %s 'a\x03b\x15c\x04d\x1ae\x16f\x1c\x7fg\rh\x1b'", "a\x03b\x15c\x04d\x1ae\x16f\x1c\x7fg\rh\x1b")}},
		{"reading the terminal", "", []step{sh("read x </dev/tty; echo \"<$x>\"", "*").within(500 * time.Millisecond).also(func(t *testing.T, r session.Result) {
			assert.Equal(t, session.StatusTimeout, r.Status)
			assert.NotContains(t, string(r.Stdout), "_fl_")
			assert.Contains(t, []string{"", "<>\n"}, string(r.Stdout))
		}).any(), ok}},
		{"flushing the terminal", "", []step{
			sh(`python3 -c 'import termios; termios.tcflush(open("/dev/tty"), termios.TCIFLUSH)'`, ""), ok}},
		{"words", "", []step{{cmd: session.Command{Script: must(session.Words("printf", "%s\n", "a b", "$x", "it's", "", "*"))}, out: "a b\n$x\nit's\n\n*\n", status: session.StatusOK}}},
		{"merged", "", []step{{cmd: session.Command{Script: "echo a; echo b >&2; echo c", Merged: true}, out: "a\nb\nc\n", status: session.StatusOK}}},
		{"a job in the background", "", []step{
			sh(`n=$((${n:-0}+1)); sleep 100 & p=$!; (while kill -0 $p; do sleep 0.05; done; echo "late $n") 2>/dev/null & j=$!`, ""),
			sh(`kill -9 $p; wait $p; wait $j; echo "now $n"`, "*").errs("*").also(func(t *testing.T, r session.Result) {
				out := string(r.Stdout) + string(r.Stray) // a job of a round that was cut off may speak too
				_, n, _ := strings.Cut(string(r.Stdout), "now ")
				assert.Equal(t, 1, strings.Count(out, "late "+n), out)
			})}},
		{"umask and options are kept", "", []step{sh("umask 077; cd /; set -o noglob", ""), sh("umask; echo /*", "*").also(func(t *testing.T, r session.Result) {
			assert.Contains(t, []string{"0077\n/*\n", "077\n/*\n"}, string(r.Stdout))
		})}},
	}
}

func syntaxError(script string) []step {
	return []step{{cmd: session.Command{Script: script}, err: "*", status: session.StatusExit, code: -1, check: func(t *testing.T, r session.Result) {
		assert.NotZero(t, *r.ExitCode)
		assert.NotEmpty(t, r.Stderr, "the shell's message")
		assert.NotContains(t, string(r.Stderr), "_fl_")
	}}, ok}
}

func restarted(t *testing.T, r session.Result) {
	assert.True(t, r.ShellRestarted)
	assert.Equal(t, []string{"cwd"}, r.Restored)
}

func tracesOnlyTheUser(t *testing.T, r session.Result) {
	assert.NotContains(t, string(r.Stderr), "_fl_")
	assert.NotContains(t, string(r.Stderr), "printf")
	assert.NotContains(t, string(r.Stderr), "builtin")
}

// noToken: what the shell tells about itself holds no mark of a frame, as which the decoder would take it.
func noToken(t *testing.T, r session.Result) {
	assert.NotEqual(t, session.StatusLost, r.Status)
	assert.NotRegexp(t, "\x1e[A-Za-z0-9_-]{22}[SEZ]", string(r.Stdout))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// runCase runs the steps of a case in one session.
func runCase(t *testing.T, s *session.Session, c sessionCase) {
	for i, st := range c.steps {
		if strings.HasPrefix(st.cmd.Script, "python3 ") {
			needShell(t, "python3")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		r, err := s.Run(ctx, st.cmd)
		cancel()
		name := fmt.Sprintf("step %d", i+1)
		if st.status != "*" {
			require.Equal(t, st.status, r.Status, "%s: %v, stderr %.300q", name, err, r.Stderr)
		}
		if st.out != "*" {
			assert.Equal(t, st.out, string(r.Stdout), name)
		}
		if st.err != "*" {
			assert.Equal(t, st.err, string(r.Stderr), name)
		}
		if st.status == session.StatusExit && st.code >= 0 {
			assert.Equal(t, st.code, *r.ExitCode, name)
		}
		if st.dir != "" {
			assert.Equal(t, st.dir, r.Dir, name)
		}
		if st.status == session.StatusOK || st.status == session.StatusExit {
			assert.NoError(t, err, name)
			assert.Empty(t, r.Stray, name)
		}
		assert.NotEqual(t, session.StatusLost, r.Status, "%s: %v", name, err)
		if st.check != nil {
			st.check(t, r)
		}
	}
}

func contains(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// stopping are the cases of commands that do not want to stop. A sleep that is a builtin, as in mksh, stops only with the
// shell.
func stopping() []sessionCase {
	stoppedBy := func(steps ...string) func(t *testing.T, r session.Result) {
		return func(t *testing.T, r session.Result) {
			assert.Equal(t, session.StatusTimeout, r.Status)
			assert.Contains(t, steps, r.StoppedBy)
		}
	}
	stoppedAll := func(t *testing.T, r session.Result) {
		assert.Equal(t, session.StatusTimeout, r.Status)
		assert.Contains(t, []string{"INT", "TERM", "KILL"}, r.StoppedBy)
		assert.Empty(t, r.Stdout)
		assert.NotContains(t, string(r.Stderr), "never")
	}
	const soon = 300 * time.Millisecond
	const armed = 4 * soon // until when a shell of the command's own has surely set its traps
	return []sessionCase{
		{"ignores INT", "", []step{sh("trap '' INT; sleep 100", "").within(soon).also(stoppedBy("TERM", "shell")).any(), ok}},
		{"ignores INT and TERM", "", []step{sh(`sh -c "trap '' INT TERM; sleep 100"`, "").within(armed).also(stoppedBy("TERM", "KILL")).any(), ok}},
		{"a loop that ignores INT and TERM", "", []step{sh(`A=1; sh -c "trap '' INT TERM; while :; do sleep 1; done"`, "").within(armed).also(stoppedBy("KILL")).any(), sh("echo $A", "1\n")}},
		{"a loop of builtins", "", []step{sh("cd /tmp", ""), sh("while :; do :; done", "").within(soon).also(stoppedBy("INT", "shell")).any(), ok.in("/tmp")}},
		{"a list", "", []step{sh("export A=1; cd /tmp", ""), sh("/bin/sleep 100; echo never; echo never >&2", "").within(soon).also(stoppedAll).any(), sh("echo $A", "1\n").in("/tmp")}},
		{"a function and a loop", "", []step{sh("for i in 1 2 3; do f() { /bin/sleep 100; echo never; }; f || echo never; f; done; echo never", "").within(soon).also(stoppedAll).any(), ok}},
		{"a list that ignores INT and TERM", "", []step{sh(`sh -c "trap '' INT TERM; /bin/sleep 100"; echo never`, "").within(armed).also(stoppedAll).any(), ok}},
		{"a pipeline", "", []step{sh("sleep 100 | cat | sleep 100", "").within(soon).also(stoppedBy("INT")).any(), ok}},
	}
}
