package framing_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// octal spells bytes as printf takes them.
func octal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\%03o`, s[i])
	}
	return "'" + b.String() + "'"
}

var hardBytes = []string{
	"abc", "\n\n x \n", "\x00\x01\xff\r\n", "\r", "\x1e", "\x1e\x1e\x1e", "\x1f", "\xff\xfe\x80", "\xc3", "no newline", "\n", "\x00", "\x04\x03\x1a\x11\x13", "é\n日本",
	"\x00" + everyByte(), "\x1e~", "\x1e" + strings.Repeat("A", 22) + "E0;;/\n",
}

func TestBothStreamsArriveByteForByte(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		for _, text := range hardBytes {
			o := s.run("printf " + octal(text) + "; printf " + octal(text+"E") + " >&2")
			require.Equal(t, outcome{stdout: text, stderr: text + "E", trailer: framing.Trailer{Dir: o.trailer.Dir}}, o)
			o = s.run("printf " + octal(text) + " >&2")
			require.Equal(t, outcome{stderr: text, trailer: framing.Trailer{Dir: o.trailer.Dir}}, o)
		}
	})
}

func TestTheReaderOfLastResortKeepsAllButNULBytes(t *testing.T) {
	eachShell(t, []string{"lines"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		assert.False(t, s.hello.Exact)
		for _, text := range hardBytes {
			o := s.run("printf " + octal(text) + "; printf " + octal(text) + " >&2")
			require.Equal(t, text, o.stdout)
			// The loop may lose what follows a NUL byte in a line, and nothing else.
			if !strings.Contains(text, "\x00") {
				require.Equal(t, text, o.stderr)
			}
			require.Equal(t, "", o.stray)
		}
	})
}

func TestStreamsArriveAsTheyAreWritten(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.send(framing.Command{Script: "printf out; printf 'Password: ' >&2; exec sleep 100"})
		var stdout, stderr string
		s.waitSeeing(func(ev framing.Event) bool {
			switch ev.Kind {
			case framing.Stdout:
				stdout += string(ev.Data)
			case framing.Stderr:
				stderr += string(ev.Data)
			}
			return stdout != "out" || stderr != "Password: "
		})
	})
}

// hundredThousand writes numbered lines to both streams by turns, unbuffered.
const hundredThousand = `exec perl -e 'for $i (1..100000) { syswrite STDOUT, "out $i\n"; syswrite STDERR, "err $i\n" }'`

func TestAHundredThousandLinesOnBothStreamsStayWholeAndInOrder(t *testing.T) {
	have(t, "perl")
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		n := 100_000
		script := "(" + hundredThousand + ")"
		switch { // what keeps the order is no part of the shell: the others prove it with less, and so does what reads every byte by itself
		case sh.Reader != "perl":
			n = 5_000
		case sh.Name != "bash":
			n = 20_000
		}
		script = strings.Replace(script, "100000", strconv.Itoa(n), 1)
		s := start(t, sh)
		o := s.run(script)
		assertNumbered(t, "out", n, o.stdout)
		assertNumbered(t, "err", n, o.stderr)
		assert.Empty(t, o.stray)
	})
}

func assertNumbered(t *testing.T, word string, n int, text string) {
	t.Helper()
	i := 0
	for line := range strings.Lines(text) {
		i++
		if want := fmt.Sprintf("%s %d\n", word, i); line != want {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	assert.Equal(t, n, i)
}

func TestMergedOutputKeepsItsOrder(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.send(framing.Command{Script: "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done; (exit 4)", Mode: framing.Merged})
		o := s.wait()
		var want strings.Builder
		for i := range 9 {
			fmt.Fprintf(&want, "o%d\ne%d\n", i+1, i+1)
		}
		assert.Equal(t, want.String(), o.stdout)
		assert.Empty(t, o.stderr)
		assert.Equal(t, 4, o.trailer.ExitCode)
		o = s.run("echo e >&2")
		assert.Equal(t, "e\n", o.stderr)
	})
}

func TestLateOutputOfABackgroundProcessIsStray(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		s := start(t, sh)
		s.ok("mkfifo " + fifo)
		o := s.run("(read x <" + fifo + "; echo late; echo lateE >&2; echo done >" + fifo + ") & echo early")
		require.Equal(t, "early\n", o.stdout)
		// The process writes while no command runs, then while one does but before that prints anything.
		f, err := os.OpenFile(fifo, os.O_RDWR, 0)
		require.NoError(t, err)
		defer f.Close()
		_, err = f.WriteString("go\n")
		require.NoError(t, err)
		// Both streams are late output alike, and a reader may hand out errors byte by byte: only the bytes are certain.
		var stray string
		for {
			for ev, ok := s.dec.Next(); ok; ev, ok = s.dec.Next() { // first what came with the frame's end
				require.Equal(t, framing.Stray, ev.Kind)
				stray += string(ev.Data)
			}
			if len(stray) >= len("late\nlateE\n") {
				break
			}
			p, err := s.read()
			require.NoError(t, err)
			s.dec.Feed(p)
		}
		assert.ElementsMatch(t, []byte("late\nlateE\n"), []byte(stray))
		o = s.run("echo now")
		assert.Equal(t, "now\n", o.stdout)
		assert.Empty(t, o.stderr)
	})
}

// Old frames, frames of others, and pieces of frames are output like any other, on both streams.
func TestForgedMarksArePlainOutput(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.wire = new(bytes.Buffer)
		o := s.run("echo first; echo errors >&2")
		require.Equal(t, "first\n", o.stdout)
		old := s.wire.String() // marks, records and all
		s.wire = nil
		dir := t.TempDir()
		nonce := "\x1e" + s.nonce.String()
		for name, text := range map[string]string{
			// The shell's own token has no way to a command: what holds it is cut out.
			"an old frame":         strings.ReplaceAll(old, framing.ShellToken(s.hello).String(), strings.Repeat("x", framing.TokenLen)),
			"a wrong token":        "\x1e" + framing.NewToken().String() + "E0;;/\x1e" + framing.NewToken().String() + "Z\n",
			"half a mark":          "\x1e" + s.tokens[0].String()[:11],
			"a shell's end":        "\x1e" + framing.NewToken().String() + "X0;9\n",
			"a record":             "\x1e" + framing.NewToken().String() + "e5;hello",
			"the nonce's marks":    nonce + "Tx" + nonce + "H" + nonce + "h" + nonce + "Fno\n" + nonce + "c",
			"a farewell":           nonce + "C/nowhere" + nonce + "c",
			"half a farewell":      nonce + "C/nowhere",
			"a record of one byte": "\x1e~AAAAAAAA41\n",
		} {
			file := filepath.Join(dir, "forged")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			text = strings.ReplaceAll(text, "\x1e~"+framing.ShellToken(s.hello).String()[:8], "\x1e~AAAAAAAA")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			o := s.run("cat " + file + "; cat " + file + " >&2; (exit 3)")
			assert.Equal(t, text, o.stdout, name)
			assert.Equal(t, text, o.stderr, name)
			assert.Empty(t, o.stray, name)
			assert.Equal(t, 3, o.trailer.ExitCode, name)
			o = s.run("echo ok")
			assert.Equal(t, "ok\n", o.stdout, name)
		}
	})
}

// What nobody reads is not written: no file takes it and no process keeps it.
func TestAFloodOfErrorsWaitsForItsReader(t *testing.T) {
	eachShell(t, both, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.send(framing.Command{Script: "exec yes fairlead >&2"})
		seen := 0
		s.waitSeeing(func(ev framing.Event) bool {
			seen += len(ev.Data)
			return seen < 1<<16
		})
		// From here on nothing is read, and the flood comes to a stop.
		var yes *process
		require.Eventually(t, func() bool {
			p := find(s.cmd.Process.Pid, "yes")
			still := p != nil && yes != nil && p.written == yes.written
			yes = p
			return still
		}, patience, tick)
		assert.Less(t, yes.written, int64(seen+(4<<20)))
		for _, p := range session(s.cmd.Process.Pid) {
			assert.Less(t, p.peak, 64<<10, "%s holds too many KiB", p.name)
			assert.Empty(t, p.files, "%s writes to a file", p.name)
		}
	})
}
