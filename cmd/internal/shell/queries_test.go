package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutputThatAsksTheTerminalIsNoticed(t *testing.T) {
	now := time.Unix(1, 0)
	for name, tt := range map[string]struct {
		out  string
		asks bool
	}{
		"plain text":                {"what? [c] \x07", false},
		"colours":                   {"\x1b[1;31mred\x1b[0m", false},
		"the cursor moves":          {"\x1b[2;3H\x1b[K\x1b[?25l\x1b[?1049h", false},
		"where is the cursor":       {"\x1b[6n", true},
		"what are you":              {"x\x1b[>c", true},
		"what are you, the old way": {"\x1bZ", true},
		"what mode":                 {"\x1b[?2026$p", true},
		"what keys":                 {"\x1b[?u", true},
		"what colour":               {"\x1b]11;?\x1b\\", true},
		"what colour, with a bell":  {"\x1b]4;1;?\x07", true},
		"what capability":           {"\x1bP+q544e\x1b\\", true},
		"a title":                   {"\x1b]0;hello\x07 what?", false},
		"an enquiry":                {"\x05", true},
		"a sequence cut by another": {"\x1b[1\x1b[6n", true},
		"two escapes":               {"\x1b\x1b[6n", true},
	} {
		for how, pieces := range map[string][]string{"whole": {tt.out}, "byte by byte": strings.Split(tt.out, "")} {
			t.Run(name+", "+how, func(t *testing.T) {
				var q queries
				for _, p := range pieces {
					q.see([]byte(p), now)
				}
				assert.Equal(t, tt.asks, !q.last.IsZero())
			})
		}
	}
}

func FuzzQueriesDependOnTheBytesAndNotOnTheirPieces(f *testing.F) {
	f.Add([]byte("a\x1b[6n\x1b]11;?\x07\x1bP+q\x1b\\"), 3)
	f.Fuzz(func(t *testing.T, out []byte, size int) {
		if size < 1 || size > len(out) {
			size = max(1, len(out))
		}
		var whole, parts queries
		whole.see(out, time.Unix(1, 0))
		for p := out; len(p) > 0; {
			n := min(size, len(p))
			parts.see(p[:n], time.Unix(1, 0))
			p = p[n:]
		}
		if whole != parts {
			t.Fatalf("%q: %+v whole, %+v in pieces of %d", out, whole, parts, size)
		}
	})
}

func TestLateAnswersAreThrownAway(t *testing.T) {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	term, err := openTerminal(slave)
	require.NoError(t, err)
	defer term.close()
	require.NoError(t, term.raw())

	var q queries
	q.settle(term, failing{t}, time.Now())
	q.see([]byte("\x1b[6n"), time.Now())
	q.settle(term, failing{t}, time.Now().Add(time.Hour))

	// A terminal that answers both, and the person at it types meanwhile.
	q.settle(term, writerFunc(func(p []byte) (int, error) {
		assert.Equal(t, primaryDA, string(p))
		_, err := master.WriteString("\x1b[1;1Rxyz\x1b[?1;2c")
		return len(p), err
	}), time.Now())
	_, err = term.readFor(make([]byte, 1), 0)
	assert.ErrorIs(t, err, errNoKeys)

	_, err = master.WriteString("reboot\r")
	require.NoError(t, err)
	term.restore()
	_, err = term.readFor(make([]byte, 1), 0)
	assert.ErrorIs(t, err, errNoKeys, "what was typed for the host does not reach the shell here")
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// failing fails the test when the terminal is asked.
type failing struct{ t *testing.T }

func (f failing) Write(p []byte) (int, error) {
	f.t.Errorf("asked %q", p)
	return len(p), nil
}
