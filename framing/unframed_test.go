package framing

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unframed is what a line of Unframed printed, without its preambles.
type unframed struct {
	stdout, stderr string
	code           int
	signaled       bool
	outPID, errPID int
}

// runUnframed runs the line as sshd does: by a login shell, with pipes.
func runUnframed(t *testing.T, login string, sh Shell, cmd Command, stdin string) unframed {
	t.Helper()
	nonce := NewToken()
	line, err := Unframed(nonce, sh, cmd)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), login, "-c", line)
	c.Dir = t.TempDir()
	c.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	_ = c.Run()
	own := func(what string, p *Preamble, text []byte) string {
		// In pieces of one byte, as they may come.
		for i := range text {
			own, began, err := p.Feed(text[i : i+1])
			require.NoError(t, err)
			if began {
				return string(own) + string(text[i+1:])
			}
		}
		t.Fatalf("%s: %s did not begin: %q", login, what, text)
		return ""
	}
	po, pe := NewPreamble(nonce), NewPreamble(nonce)
	u := unframed{stdout: own("standard output", po, out.Bytes()), stderr: own("standard error", pe, errOut.Bytes())}
	u.outPID, u.errPID = po.PID(), pe.PID()
	u.code, u.signaled = c.ProcessState.ExitCode(), c.ProcessState.ExitCode() < 0
	return u
}

var loginShells = []string{"sh", "bash", "dash", "zsh", "mksh", "ksh", "fish", "tcsh", "csh"}

func TestALineWithoutATerminalIsExactInEveryLoginShell(t *testing.T) {
	script := "printf 'a\\0b\\r\\n\\377 %s' \"it's !x \\ \\$HOME `echo y` ü\"\nprintf 'e\\n!' >&2; exit 7"
	for i, login := range loginShells {
		path, err := exec.LookPath(login)
		if err != nil {
			continue
		}
		for j, name := range []string{"bash", "zsh", "dash", "ash", "ksh", "sh"} {
			if login != "sh" && (i+j)%3 != 0 { // which shell the line starts is the same sh's work under all of them
				continue
			}
			if _, err := exec.LookPath(name); err != nil {
				continue
			}
			t.Run(login+" "+name, func(t *testing.T) {
				u := runUnframed(t, path, Shell{Name: name}, Command{Script: script}, "not for the command")
				assert.Equal(t, "a\x00b\r\n\xff it's !x \\ $HOME y ü", u.stdout)
				assert.Equal(t, "e\n!", u.stderr)
				assert.Equal(t, 7, u.code)
				assert.Equal(t, u.outPID, u.errPID)
				assert.Greater(t, u.outPID, 1)
			})
		}
	}
}

func TestALineWithoutATerminalTakesWhatItsShellAndCommandSay(t *testing.T) {
	for name, c := range map[string]struct {
		sh             Shell
		cmd            Command
		stdin          string
		stdout, stderr string
		code           int
	}{
		"standard input":   {cmd: Command{Script: "cat", Stdin: "channel"}, stdin: "in\x00", stdout: "in\x00"},
		"no input":         {cmd: Command{Script: "cat; echo end"}, stdin: "in", stdout: "end\n"},
		"merged":           {cmd: Command{Script: "echo o; echo e >&2; echo p", Mode: Merged}, stdout: "o\ne\np\n"},
		"variables":        {sh: Shell{Env: []string{"A=it's\n$x", "B=2"}}, cmd: Command{Script: `printf %s "$A$B"`}, stdout: "it's\n$x2"},
		"no own variables": {cmd: Command{Script: `env | grep -c "^_\?fairlead\|^_fl"`}, stdout: "0\n", code: 1},
		"a prelude":        {sh: Shell{Prelude: "f() { echo \"f'$1\"; }\n"}, cmd: Command{Script: "f x"}, stdout: "f'x\n"},
		"clean":            {sh: Shell{Clean: true, Name: "bash"}, cmd: Command{Script: `echo "${PAGER-}:$TERM"; env | grep -c "PAGER\|^SHELL="`}, stdout: "cat:dumb\n0\n", code: 1},
		"a syntax error":   {sh: Shell{Name: "bash"}, cmd: Command{Script: "echo 'x"}, code: 2, stderr: "*"},
		"the last code":    {cmd: Command{Script: "false"}, code: 1},
		"a dash first":     {cmd: Command{Script: "--help"}, code: 127, stderr: "*"},
		"a killed child":   {cmd: Command{Script: "sh -c 'kill -9 $$'"}, code: 137, stderr: "*"},
		"an exec":          {cmd: Command{Script: "exec sh -c 'echo $0' it"}, stdout: "it\n"},
	} {
		t.Run(name, func(t *testing.T) {
			u := runUnframed(t, "/bin/sh", c.sh, c.cmd, c.stdin)
			assert.Equal(t, c.stdout, u.stdout)
			if c.stderr != "*" {
				assert.Equal(t, c.stderr, u.stderr)
			}
			assert.Equal(t, c.code, u.code)
		})
	}
}

func TestALineWithoutATerminalIsRefusedWhereItCannotArrive(t *testing.T) {
	_, err := Unframed(NewToken(), Shell{}, Command{Script: strings.Repeat("x", 200<<10)})
	assert.ErrorContains(t, err, "about 127 KiB long")
	_, err = Unframed(NewToken(), Shell{}, Command{Script: "a\x00"})
	var q *QuoteError
	assert.ErrorAs(t, err, &q)
	_, err = Unframed(NewToken(), Shell{Env: []string{"a b=c"}}, Command{})
	assert.Error(t, err)
}

func TestAPreambleSaysWhyThereIsNoShell(t *testing.T) {
	nonce := NewToken()
	line, err := Unframed(nonce, Shell{Name: "zork"}, Command{Script: "true"})
	require.NoError(t, err)
	out, _ := exec.Command("/bin/sh", "-c", line).Output()
	_, began, err := NewPreamble(nonce).Feed(out)
	assert.False(t, began)
	assert.EqualError(t, err, "framing: there is no zork on the host")

	p := NewPreamble(nonce)
	for range maxNoise/1000 + 2 {
		_, _, err = p.Feed(bytes.Repeat([]byte("x"), 1000))
		if err != nil {
			break
		}
	}
	assert.ErrorContains(t, err, "before the command began")

	_, _, err = NewPreamble(nonce).Feed([]byte("\x1e" + nonce.String() + "Pno number\n"))
	assert.ErrorContains(t, err, "invalid process id")
}

func TestSignalTreeReachesTheShellAndWhatItStarted(t *testing.T) {
	c := exec.Command("/bin/sh", "-c", "echo up; sleep 300; true")
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = fmt.Fscanln(out, new(string))
	require.NoError(t, err)
	said, err := exec.Command("/bin/sh", "-c", SignalTree(c.Process.Pid, "TERM")).Output()
	require.NoError(t, err)
	assert.True(t, ParseSignaled(string(said), c.Process.Pid).Done)
	assert.Error(t, c.Wait())
}
