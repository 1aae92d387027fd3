package sessiontest

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// terminals are the promises about the terminal that a program runs on.
var terminals = []promise{
	{"standard input, output and error are one terminal", func(t *testing.T, open func() session.Transport) {
		_, exit := run(t, open(), sh(`test -t 0 && test -t 1 && test -t 2 && : </dev/tty`))
		assert.Equal(t, session.Exit{}, exit)
	}},
	{"every byte that is printed arrives unchanged", func(t *testing.T, open func() session.Transport) {
		var format, want strings.Builder
		for range 3 {
			for b := range 256 {
				fmt.Fprintf(&format, `\%03o`, b)
				want.WriteByte(byte(b))
			}
		}
		out, _ := run(t, open(), sh(`printf '`+format.String()+`\r\n\n\r\t'`))
		assert.Equal(t, want.String()+"\r\n\n\r\t", out)
	}},
	{"every byte that is typed arrives unchanged and unechoed, from the start, but those that send signals",
		func(t *testing.T, open func() session.Transport) {
			typed := everyByte()
			s := start(t, open(), sh(fmt.Sprintf(`head -c %d | od -An -v -tx1`, len(typed))))
			write(t, s, string(typed)) // the program has hardly started: what a terminal echoes, it would echo now
			seen, err := hex.DecodeString(strings.Join(strings.Fields(readAll(t, s)), ""))
			require.NoError(t, err, "the program printed no dump, so something was echoed")
			assert.Equal(t, typed, seen)
		}},
	{"what a person types ahead is a line, and is echoed", func(t *testing.T, open func() session.Transport) {
		p := sh(`read x; printf "=$x="`)
		p.Cooked = true
		s := start(t, open(), p)
		write(t, s, "typed\r") // the program has hardly started
		assert.Equal(t, "typed\r\n=typed=", readAll(t, s))
	}},
	{"interrupt is a signal", keySends("\x03", "INT")},
	{"quit is a signal", keySends("\x1c", "QUIT")},
	{"suspend is a signal", keySends("\x1a", "TSTP")},
	{"the size is what was asked for", func(t *testing.T, open func() session.Transport) {
		tr := open()
		p := sh(`stty size`)
		out, _ := run(t, tr, p)
		assert.Equal(t, "24 80\n", out, "by default")
		p.Size = session.Size{Rows: 33, Cols: 132}
		out, _ = run(t, tr, p)
		assert.Equal(t, "33 132\n", out)
	}},
	{"the size can be changed", func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`trap 'stty size; exit' WINCH; printf READY; `+waits))
		r, ok := s.(session.Resizer)
		if !ok {
			t.Skip("this transport's terminals keep their size")
		}
		readUntil(t, s, "READY")
		require.NoError(t, r.Resize(session.Size{Rows: 40, Cols: 100}))
		assert.Equal(t, "40 100", readUntil(t, s, "\n"))
	}},
}

// everyByte returns all bytes, and some pairs that terminals like to change, without the three keys that send signals.
func everyByte() []byte {
	var typed []byte
	for b := range 256 {
		if b != 0x03 && b != 0x1c && b != 0x1a {
			typed = append(typed, byte(b))
		}
	}
	return append(typed, "\r\n\n\r\x04\x04\x00\xff\xff\x7f\x15\x16\x17\x11\x13"...)
}

// waits is shell source that waits for a signal. What waits beside the shell has not the terminal open: where another process has,
// Linux hangs up as the leader ends, and drops what was not read.
const waits = `sleep 60 </dev/null >/dev/null 2>&1 & wait`

func keySends(key, signal string) func(t *testing.T, open func() session.Transport) {
	return func(t *testing.T, open func() session.Transport) {
		s := start(t, open(), sh(`trap 'printf "`+signal+`."; exit 5' `+signal+`; printf READY; `+waits))
		readUntil(t, s, "READY")
		write(t, s, key)
		assert.Empty(t, readUntil(t, s, signal+"."), "the key was echoed")
		assert.Equal(t, session.Exit{Code: 5}, wait(t, s))
	}
}
