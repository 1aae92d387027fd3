package framing_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// fuzzWire spells a stream from bytes of which some stand for what a fuzzer would hardly find.
func fuzzWire(words [][]byte, in []byte) (b []byte) {
	for _, c := range in {
		switch {
		case c < 0x80:
			b = append(b, c)
		default:
			b = append(b, words[int(c)%len(words)]...)
		}
	}
	return b
}

var fuzzWords = []string{"<A>", "<B>", "<s>", "<n>", "<~>", "<>", "<A>S", "<A>E", "<A>Z\n", "<A>z\n", "<A>e\n", "<s>e", "<s>X", "<n>C", "<n>c",
	"<~>41\n", "<~>41\r\n", "<>A-xxx", "<>s-xxx", "<s>e25;<A>e\n", "<s>X0;9\n", "<s>r", "<s>r4;a<", "<s>r100;", "<A>E0;;/<A>Z\n", "<B>S", "<B>E1;x;/tmp<B>Z\n", "<s>e25;<B>e\n",
	"<s>e25;<s>X\n", "<s>e3;", "<s>e100;", "<s>e100;x<n>C/tmp<n>c", "<s>e9;<n>C/tmp<n>c", "<s>e2;a<>", "<A>Z\r\n", "0;;/", "\xff", "<A>S<A>E0;;/<A>Z\n"}

// Whatever arrives, and however it is cut, a decoder says what the reference says and reports no end that the stream
// does not hold.
func FuzzDecoder(f *testing.F) {
	var words [][]byte
	for _, w := range fuzzWords {
		words = append(words, wire(w))
	}
	for _, tt := range streams {
		f.Add(wire(tt.wire), []byte{3}, false)
	}
	for _, tt := range slowStreams {
		f.Add(wire(tt.wire), []byte{1, 7}, true)
	}
	for i := range fuzzWords {
		f.Add([]byte{0x80 + 6, 'a', byte(0x80 + i), 'b', 0x80 + 21, byte(0x80 + i)}, []byte{5, 1}, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, in, cuts []byte, own bool) {
		b := fuzzWire(words, in)
		if len(b) > 8192 { // the reference's time grows with the square
			return
		}
		frames := []framing.Token{tokA, tokB}
		whole := steps(t, own, frames, b)
		require.Equal(t, reference(own, frames, b), whole)

		var cut [][]byte
		for i, rest := 0, b; len(rest) > 0; i++ {
			n := 1
			if len(cuts) > 0 {
				n += int(cuts[i%len(cuts)])
			}
			n = min(n, len(rest))
			cut = append(cut, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		require.Equal(t, whole, steps(t, own, frames, cut...))
		require.Equal(t, whole, steps(t, own, frames, pieces(b, 1)...))

		ends := 0
		for _, s := range whole {
			if s.kind != framing.Ended {
				continue
			}
			tok := "\x1e" + frames[ends].String()
			ends++
			require.True(t, bytes.Contains(b, []byte(tok+"Z")) || bytes.Contains(b, []byte(tok+"z")), "an end from nowhere")
		}
	})
}
