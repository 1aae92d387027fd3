package framing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// after runs a command behind one that ended with that code.
func (s *shell) after(code int, script string) outcome {
	s.t.Helper()
	s.send(framing.Command{Script: script, Status: code})
	return s.wait()
}

func TestACommandSeesTheExitCodeOfTheOneBefore(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, code := range []int{0, 1, 3, 130, 255, 0} {
			want := fmt.Sprintf("%d\n", code)
			o := s.after(code, "echo $?")
			assert.Equal(t, want, o.stdout)
			assert.Empty(t, o.stderr)
			assert.Equal(t, 0, o.trailer.ExitCode)
			assert.Equal(t, "a "+want, s.after(code, "\nx=$?\necho a $x").stdout)
			// A command that does nothing leaves 0, as an empty script does.
			s.send(framing.Command{Script: "echo $?; echo e >&2", Status: code, Mode: framing.Merged})
			assert.Equal(t, want+"e\n", s.wait().stdout)
			s.send(framing.Command{Script: "echo $?", Status: code, Mode: framing.Interactive})
			o = s.wait()
			assert.Equal(t, want, strings.ReplaceAll(o.stdout, "\r", ""))
			s.cooked = o.trailer.Cooked
		}
		o := s.after(4, "(exit $?)")
		assert.Equal(t, 4, o.trailer.ExitCode)
	})
}

// A shell splits what stands without quotes at the characters of IFS, digits too: no code, no descriptor may.
func TestTheExitCodeOfTheCommandBeforeIsSeenWhateverIFSHolds(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.ok("IFS=0123456789")
		o := s.after(12, `echo "$?"; (exit 3)`)
		assert.Equal(t, "12\n", o.stdout)
		assert.Empty(t, o.stderr)
		assert.Equal(t, 3, o.trailer.ExitCode)
		dir := t.TempDir() + "/gone"
		o = s.run("mkdir " + dir + "; cd " + dir + "; rmdir " + dir)
		assert.Equal(t, outcome{trailer: framing.Trailer{Dir: dir}}, o)
		s.run("cd /")
		o = s.run("echo out; exit 12")
		require.NotNil(t, o.exit)
		assert.Equal(t, framing.Exit{Code: 12, Dir: "/"}, *o.exit)
		assert.Equal(t, "out\n", o.stdout)
		assertNothingOfOurs(t, o)
	})
}

func TestTheExitCodeOfTheCommandBeforeEndsNoShellUnderErrexit(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.run("set -e")
		o := s.after(7, "echo $?; echo more")
		require.Nil(t, o.exit)
		assert.Equal(t, "7\nmore\n", o.stdout)
		o = s.after(7, "false; echo no")
		assert.Empty(t, o.stdout)
		require.NotNil(t, o.exit)
		assert.Equal(t, 1, o.exit.Code)
	})
}

func TestTheExitCodeOfTheCommandBeforeIsSeenUnderXtraceToo(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		if sh.Name == "mksh" {
			t.Skip("mksh traces to where errors went when tracing was switched on")
		}
		s := start(t, sh)
		s.run("set -x")
		require.True(t, s.trace)
		s.send(framing.Command{Script: "echo $?", Status: 7, Trace: true})
		o := s.wait()
		assert.Equal(t, "7\n", o.stdout)
		assert.Contains(t, o.stderr, "echo 7")
		assert.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
		assertNothingOfOurs(t, o)
	})
}

// Nothing of a command with a syntax error runs, and so not what switches tracing on before it.
func TestXtraceOutlivesASyntaxError(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		for _, before := range []int{0, 7} {
			s := start(t, sh)
			s.run("set -x")
			s.send(framing.Command{Script: "if", Status: before, Trace: true})
			if o := s.wait(); o.exit != nil {
				return // mksh ends there, and busybox; a shell that is new does not trace
			}
			require.True(t, s.trace)
			o := s.run("echo hi")
			assert.Equal(t, "hi\n", o.stdout)
			assert.Contains(t, o.stderr, "echo hi")
			assertNothingOfOurs(t, o)
			s.run("set +x")
			require.False(t, s.trace)
			o = s.run("echo two")
			assert.Empty(t, o.stderr)
		}
	})
}

// What a shell says of the line that failed, and of a command with one line.
var complaints = map[string]struct{ one, third, lineno string }{
	"bash": {"bash: line 1: nosuch: command not found\n", "bash: line 3: nosuch: command not found\n", "2"},
	"zsh":  {"(eval):1: command not found: nosuch\n", "(eval):3: command not found: nosuch\n", "2"},
	"dash": {"dash: 1: eval: nosuch: not found\n", "dash: 3: eval: nosuch: not found\n", ""},
	"ash":  {"ash: eval: line 1: nosuch: not found\n", "ash: eval: line 3: nosuch: not found\n", "2"},
	"ksh":  {"ksh: eval[1]: eval[1]: eval[1]: eval[1]: eval[1]: eval[1]: nosuch: not found\n", "ksh: eval[1]: eval[1]: eval[1]: eval[1]: eval[1]: eval[3]: nosuch: not found\n", "2"},
	"mksh": {"mksh: nosuch: inaccessible or not found\n", "mksh: nosuch: inaccessible or not found\n", ""},
}

func TestLineNumbersAreThoseOfTheCommand(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		want := complaints[sh.Name]
		s := start(t, sh)
		for _, mode := range []framing.Mode{framing.Split, framing.Merged, framing.Interactive} {
			for _, code := range []int{0, 3} {
				said := func(script string) string {
					s.send(framing.Command{Script: script, Mode: mode, Status: code})
					o := s.wait()
					require.Nil(t, o.exit)
					return strings.TrimPrefix(strings.ReplaceAll(o.stdout+o.stderr, "\r", ""), "E: ")
				}
				assert.Equal(t, want.one, said("nosuch"))
				assert.Equal(t, want.third, said("\n\nnosuch"))
				assert.Equal(t, want.third, said("\n:\nnosuch"))
				if want.lineno != "" {
					assert.Equal(t, want.lineno+"\n", said("\necho $LINENO"))
				}
			}
		}
	})
}

func TestABreakOutsideOfALoopIsTheShellsOwn(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, word := range []string{"break", "continue", "break 3", "eval break", "if :; then break; fi", "f() { break; }; f", "for i in 1 2; do break 5; done; break"} {
			o := s.run(word + "; echo after")
			require.Nil(t, o.exit, word)
			switch sh.Name {
			case "zsh": // says so, and ends the command
				if o.stdout == "" {
					assert.Contains(t, o.stderr, "not in while, until, select, or repeat loop", word)
					assert.NotZero(t, o.trailer.ExitCode, word)
				}
			case "bash":
				assert.Equal(t, "after\n", o.stdout, word)
				assert.Contains(t, o.stderr, "only meaningful in a `for', `while', or `until' loop", word)
			default:
				assert.Equal(t, "after\n", o.stdout, word)
			}
			assertNothingOfOurs(t, o)
			assert.Equal(t, "1\nok\n", s.output("for i in 1 2; do echo $i; break; done; echo ok"))
		}
		o := s.run("return 3; echo after")
		if sh.Name == "bash" {
			assert.Equal(t, "after\n", o.stdout)
			return
		}
		assert.Empty(t, o.stdout)
		if o.exit != nil {
			assert.Equal(t, 3, o.exit.Code)
		} else {
			assert.Equal(t, 3, o.trailer.ExitCode)
		}
	})
}
