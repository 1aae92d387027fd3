package framing_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

func TestAnInteractiveCommandHasATerminalForItsTime(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.send(framing.Command{Mode: framing.Interactive, Rows: 30, Cols: 100, Script: `stty size; echo $TERM; test -t 0 && test -t 1 && test -t 2 && echo tty; cd /usr; A=1; printf 'Name: '; read x; echo "<$x>" >&2; (exit 4)`})
		var seen strings.Builder
		typed := false
		o := s.waitSeeing(func(ev framing.Event) bool {
			if ev.Kind == framing.Stdout {
				seen.Write(ev.Data)
			}
			if !typed && strings.Contains(seen.String(), "Name: ") {
				typed = true
				s.write([]byte("ada\nnobody reads this\n"))
			}
			return true
		})
		want := "30 100\r\nxterm-256color\r\ntty\r\nName: ada\r\n"
		if sh.Name == "ksh" {
			want, o.stdout = strings.Replace(want, "ada", "", 1), strings.Replace(o.stdout, "ada\r", "\r", 1) // mksh's read switches the echo off
		}
		assert.Equal(t, want, cutAt(o.stdout, "nobody", "<ada>"))
		assert.Contains(t, o.stdout, "<ada>\r\n")
		assert.Equal(t, 4, o.trailer.ExitCode)
		assert.Equal(t, "/usr", o.trailer.Dir)
		assert.Equal(t, "dumb 1 a\nb\n", s.output(`printf '%s %s a\nb\n' $TERM $A`), "raw again, and what was not read is gone")
	})
}

// cutAt returns s up to the first of the marks.
func cutAt(s string, marks ...string) string {
	for _, m := range marks {
		s, _, _ = strings.Cut(s, m)
	}
	return s
}

func TestAnInterruptReachesAnInteractiveProgram(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		s.send(framing.Command{Mode: framing.Interactive, Script: "sh -c 'echo ready; exec sleep 100'"})
		s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Stdout })
		s.write([]byte{3})
		o := s.wait()
		require.Nil(t, o.exit)
		assert.Contains(t, []int{130, 258}, o.trailer.ExitCode)
		s.ok("true")
	})
}

func TestStandardInputComesFromTheFileThatIsNamed(t *testing.T) {
	eachShell(t, allReaders, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		dir := realDir(t)
		fifo := filepath.Join(dir, "in")
		require.NoError(t, syscall.Mkfifo(fifo, 0o600))
		data := strings.Repeat("\x00\x03\x04\r\n\xff 0123456789", 100_000)
		go func() {
			f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
			if err == nil {
				f.WriteString(data)
				f.Close()
			}
		}()
		s.send(framing.Command{Script: "sha256sum; echo $? >&2", Stdin: fifo})
		o := s.wait()
		assert.Equal(t, fmt.Sprintf("%x  -\n", sha256.Sum256([]byte(data))), o.stdout)
		assert.Equal(t, "0\n", o.stderr)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("from a file"), 0o600))
		s.send(framing.Command{Script: "cat; echo err >&2", Stdin: filepath.Join(dir, "file"), Mode: framing.Merged})
		o = s.wait()
		assert.Equal(t, "from a fileerr\n", o.stdout)
		assert.Equal(t, "ok\n", s.output("echo ok"))
	})
}

func TestAPathForStandardInputIsPlain(t *testing.T) {
	for _, path := range []string{"x", "/tmp/a b", "/tmp/$x", "/tmp/'", "/" + strings.Repeat("x", 2000), "/tmp/é"} {
		_, err := framing.Append(nil, framing.Bash, framing.NewToken(), framing.Command{Script: "cat", Stdin: path})
		assert.Error(t, err, path)
	}
}
