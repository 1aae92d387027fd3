package capture_test

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/internal/capture"
)

// randomStream returns text of characters of every length, or any bytes.
func randomStream(r *rand.Rand, n int, text bool) []byte {
	out := make([]byte, 0, n+utf8.UTFMax)
	for len(out) < n {
		if text {
			out = utf8.AppendRune(out, []rune{'a', '\n', 'ü', '€', '😀', 0x10FFFF, 0x7f}[r.IntN(7)])
		} else {
			out = append(out, byte(r.Uint32()))
		}
	}
	return out
}

func TestCaptureKeepsThePrefixAndTheSuffixAndCountsTheRest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		limit, text := r.IntN(24), r.IntN(2) == 0
		whole := randomStream(r, r.IntN(100), text)
		var c capture.Capture
		c.Limit(limit)
		for rest := whole; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			if r.IntN(2) == 0 {
				n = min(n, 1+r.IntN(4))
			}
			c.Write(rest[:n])
			rest = rest[n:]
			if r.IntN(8) == 0 {
				c.Bytes() // looking changes nothing
			}
		}
		kept, cut, omitted := c.Bytes()
		require.EqualValues(t, len(whole), int64(len(kept))+omitted)
		require.LessOrEqual(t, len(kept), 2*limit)
		require.GreaterOrEqual(t, cut, int64(0))
		require.LessOrEqual(t, cut, int64(len(kept)))
		require.Equal(t, string(whole[:cut])+string(whole[cut+omitted:]), string(kept))
		if len(whole) <= 2*limit {
			require.Zero(t, omitted, "nothing is left out of what fits")
		}
		if text {
			require.True(t, utf8.Valid(kept), "%q of %q", kept, whole)
			require.Greater(t, len(kept)+2*utf8.UTFMax, min(2*limit, len(whole)), "no more is dropped than two characters")
		}
	}
}

func TestCaptureOfNothingKeepsNothing(t *testing.T) {
	var c capture.Capture
	c.Limit(0)
	c.Write([]byte("abc"))
	kept, cut, omitted := c.Bytes()
	assert.Empty(t, kept)
	assert.Zero(t, cut)
	assert.EqualValues(t, 3, omitted)
}
