package sessiontest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// volumes are the promises about much data and many programs.
var volumes = []promise{
	{"output of any size reaches a slow reader whole", func(t *testing.T, open func() session.Transport) {
		const size = 4 << 20
		s := start(t, open(), sh(fmt.Sprintf(`head -c %d /dev/zero; printf END`, size)))
		total, ended := 0, false
		within(t, "read slowly", func() {
			one, page := make([]byte, 1), make([]byte, 4096)
			for buf := one; ; buf = page {
				n, err := s.Read(buf[:1+total%len(buf)])
				total += n
				if n > 0 && bytes.HasSuffix(buf[:n], []byte("D")) {
					ended = true
				}
				if err != nil {
					assert.Equal(t, io.EOF, err)
					return
				}
			}
		})
		assert.Equal(t, size+len("END"), total)
		assert.True(t, ended)
		assert.Equal(t, session.Exit{}, wait(t, s))
	}},
	{"a program whose output is not read does not hold up another", func(t *testing.T, open func() session.Transport) {
		tr := open()
		flood := start(t, tr, sh(`printf READY; while :; do printf '%4096s' x || exit; done`))
		readUntil(t, flood, "READY")
		for range 20 {
			out, _ := run(t, tr, sh(`printf quick`))
			require.Equal(t, "quick", out)
		}
		closeIt(t, flood)
	}},
	{"input of any size comes back whole while it is written", func(t *testing.T, open func() session.Transport) {
		typed := noise(5 << 19)
		s := start(t, open(), sh(fmt.Sprintf(`head -c %d`, len(typed))))
		failed := make(chan error, 1)
		go func() {
			_, err := s.Write(typed)
			failed <- err
		}()
		out := readAll(t, s)
		require.NoError(t, <-failed)
		require.Len(t, out, len(typed))
		assert.True(t, out == string(typed), "some bytes changed on the way")
		assert.Equal(t, session.Exit{}, wait(t, s))
	}},
	{"several programs run at once and do not mix", func(t *testing.T, open func() session.Transport) {
		tr := open()
		var streams []session.Stream
		for i := range 6 {
			streams = append(streams, start(t, tr, sh(fmt.Sprintf(`printf READY%d.; read -r x; printf "%d $x"; exit %d`, i, i, i))))
		}
		for i, s := range streams {
			readUntil(t, s, fmt.Sprintf("READY%d.", i))
		}
		for i, s := range streams {
			write(t, s, fmt.Sprintf("line %d\n", i))
		}
		for i, s := range streams {
			assert.Equal(t, fmt.Sprintf("%d line %d", i, i), readAll(t, s))
			assert.Equal(t, session.Exit{Code: i}, wait(t, s))
		}
	}},
	{"many programs, one after the other, use nothing up", func(t *testing.T, open func() session.Transport) {
		tr := open()
		for i := range 25 {
			out, exit := run(t, tr, sh(fmt.Sprintf(`printf %d`, i)))
			require.Equal(t, fmt.Sprint(i), out)
			require.Equal(t, session.Exit{}, exit)
		}
	}},
}

// noise returns n bytes that look random, without the keys that send signals. They are the same every time.
func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	out := make([]byte, n)
	_, _ = r.Read(out)
	for i, b := range out {
		if b == 0x03 || b == 0x1c || b == 0x1a {
			out[i] = 'x'
		}
	}
	return out
}
