package framing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// scripts are commands and exactly what they print.
var scripts = map[string]struct{ script, stdout string }{
	"nothing":               {"", ""},
	"empty lines":           {"\n\n", ""},
	"a comment":             {"# comment", ""},
	"a comment at the end":  {"echo a # comment", "a\n"},
	"a semicolon":           {"echo a;", "a\n"},
	"an ampersand":          {"echo a; sleep 0 &", "a\n"},
	"a continued line":      {"echo a \\\nb", "a b\n"},
	"quotes of all kinds":   {`echo 'it'"'"'s' "$((1+1))" \$x`, "it's 2 $x\n"},
	"an exclamation mark":   {`echo "a!b" !!`, "a!b !!\n"},
	"a quoted heredoc":      {"cat <<'E'\n$x `id` \\\nE\n", "$x `id` \\\n"},
	"an unquoted heredoc":   {"x=1; cat <<E\n$x \\$x $((1+1))\nE", "1 $x 2\n"},
	"a heredoc behind tabs": {"cat <<-E\n\t\ta\n\tE\necho b", "a\nb\n"},
	"two heredocs at once":  {"cat <<A; cat <<B\na\nA\nb\nB\n", "a\nb\n"},
	"a long heredoc":        {"cat <<'E'\n" + strings.Repeat("line of text\n", 200) + "E", strings.Repeat("line of text\n", 200)},
	"a heredoc of quotes":   {"cat <<'E'\n'\n''\n\"\nE", "'\n''\n\"\n"},
	"several lines":         {"for i in 1 2\ndo\n  echo $i\ndone\n", "1\n2\n"},
	"a function":            {"f() {\n\techo \"$1\"\n}\nf x", "x\n"},
	"a case":                {"case a in\n(a) echo A;;\n(*) echo B;;\nesac", "A\n"},
	"a subshell":            {"(cd /; pwd); { echo a; }", "/\na\n"},
	"a pipeline":            {"printf 'b\\na\\n' | sort |\ncat", "a\nb\n"},
	"a substitution":        {"echo \"$(echo \"$(echo 'a  b')\")\" `echo c`", "a  b c\n"},
	"non-ASCII text":        {"echo é日本語 '\u2028'", "é日本語 \u2028\n"},
	"invalid UTF-8":         {"printf %s '\xff\xc3('", "\xff\xc3("},
	"the status before":     {"(exit 7); echo $?", "7\n"},
	"a final blank":         {"echo a ", "a\n"},
	"leading blanks":        {"  \t echo a", "a\n"},
	"no input":              {"cat; read x; echo $?", "1\n"},
	"carriage returns":      {"printf %s 'a\r\nb\r'", "a\r\nb\r"},
	"what ends a frame":     {"printf %s '\x1e\n\x1e\n'", "\x1e\n\x1e\n"},
	"words of the driver":   {"echo done; echo '\ndone\n' y", "done\n\ndone\n y\n"},
}

func TestAScriptRunsAsItStands(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for name, tt := range scripts {
			o := s.run(tt.script)
			require.Nil(t, o.exit, name)
			assert.Equal(t, tt.stdout, o.stdout, name)
			assert.Empty(t, o.stderr, name)
			assert.Empty(t, o.stray, name)
			assert.Equal(t, 0, o.trailer.ExitCode, name)
		}
		// A backslash at the end joins nothing to the command; shells differ in whether they print it.
		assert.Equal(t, "a", strings.TrimRight(s.output("echo a \\"), " \\\n"))
		for range 3 {
			assert.Equal(t, "ok\n", s.output("echo ok"))
		}
	})
}

// printText returns a command that prints its argument, of any length and with nothing added. A builtin in every shell.
func printText(d framing.Dialect, quoted string) string {
	if d == framing.Mksh {
		return "print -rn -- " + quoted
	}
	return "printf %s " + quoted
}

func quoted(t *testing.T, text string) string {
	q, err := framing.Quote(text)
	require.NoError(t, err)
	return q
}

// eval takes what begins with "-" for an option, in some shells, and "--help" for a question about itself.
func TestACommandMayBeginWithADash(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, script := range []string{"-1", "--", "--help", "-p x", "-- echo x"} {
			for _, mode := range []framing.Mode{framing.Split, framing.Merged} {
				s.send(framing.Command{Script: script, Mode: mode})
				o := s.wait()
				require.Nil(t, o.exit, script)
				assert.Equal(t, 127, o.trailer.ExitCode, "%s: %s%s", script, o.stdout, o.stderr)
			}
		}
		assert.Equal(t, "-x\n", s.output("-1 2>/dev/null || echo -x"))
	})
}

func TestEveryByteInACommandArrives(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		all := everyByte()
		assert.Equal(t, all, s.output(printText(s.hello.Dialect, quoted(t, all))))
		for _, c := range []string{"\x03", "\x15", "\x04", "\x1a", "\x16", "\x1c", "\x11", "\x13", "\x12", "\x17", "\x7f", "\x1e", "\x08", "\r"} {
			text := c + "a" + c + c + "\n" + c
			assert.Equal(t, text, s.output(printText(s.hello.Dialect, quoted(t, text))), "%q", c)
		}
	})
}

func TestLongCommandsArriveWhole(t *testing.T) {
	var short strings.Builder
	short.WriteString("n=0\n")
	for i := range 2000 {
		fmt.Fprintf(&short, "n=$((n+%d))\n", i)
	}
	short.WriteString("echo $n")
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		size := 1 << 17 // shells read it a byte at a time: that a megabyte is as good, one of each kind proves
		if sh.Name == "bash" || sh.Name == "dash" {
			size = 1 << 20
		}
		for name, text := range map[string]string{
			"a line of 10 000": strings.Repeat("x", 10_000),
			"a line of UTF-8":  strings.Repeat("é", 10_000),
			"a line of quotes": strings.Repeat("'", 3_000),
			"a long one":       strings.Repeat(strings.Repeat("x", 79)+"\n", size/80),
		} {
			got := s.output(printText(s.hello.Dialect, quoted(t, text)))
			assert.True(t, text == got, "%s: %d bytes became %d", name, len(text), len(got))
		}
		assert.Equal(t, "1999000\n", s.output(short.String()))
	})
}

// A terminal in canonical mode keeps 4095 bytes of a line and drops the rest.
func TestALongLineArrivesThroughACanonicalTerminal(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		text := strings.Repeat("fairlead'", 100_000/9)
		s.ok("stty icanon </dev/tty")
		s.cooked = false // as if nobody had noticed
		got := s.output(printText(s.hello.Dialect, quoted(t, text)))
		assert.True(t, text == got, "%d bytes became %d", len(text), len(got))
	})
}

// An unfinished "$(" is not among them: bash 5.2 may abort some commands after it, because it damages its own memory.
func TestASyntaxErrorIsToldAtOnceAndReachesNothing(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, script := range []string{"a='", `a="`, "a=`", "(", ")", "for", "if true", "if true; then", "while :; do", "{", "a() {", "case x in", "&&", "|", ";;",
			"echo ${x", "}", "done", "fi", "esac", "echo a\n)\necho b"} {
			o := s.run(script)
			if script == "}" && s.hello.Dialect == framing.Mksh || o.exit != nil {
				// The shell ended, and said so: the next command needs another.
				if o.exit != nil {
					require.Contains(t, []string{"mksh", "ash"}, sh.Name, "the others do not end: %q", script)
					assert.NotZero(t, o.exit.Code, script)
					assert.NotEmpty(t, o.stderr, script)
					s.close()
					s = start(t, sh)
				}
				continue
			}
			assert.NotZero(t, o.trailer.ExitCode, script)
			assert.NotEmpty(t, o.stderr, script)
			assertNothingOfOurs(t, o)
			o = s.run("echo ok")
			assert.Equal(t, outcome{stdout: "ok\n", trailer: framing.Trailer{Dir: o.trailer.Dir}}, o, "after %q", script)
		}
	})
}

func TestAWordThatNoShellKnowsIsToldByTheShell(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run("EOF")
		assert.Equal(t, 127, o.trailer.ExitCode)
		assert.Contains(t, o.stderr, "EOF")
		assert.NotContains(t, o.stderr, "_fl_")
		assert.Equal(t, "ok\n", s.output("echo ok"))
	})
}
