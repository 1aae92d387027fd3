package censor

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheHeadAndTheTailOfAStreamAreKept(t *testing.T) {
	text := strings.Repeat("0123456789ü", 1000)
	for _, piece := range []int{1, 7, 64, 4096, len(text)} {
		k := &headTail{limit: 15}
		for rest := text; rest != ""; rest = rest[min(piece, len(rest)):] {
			_, err := k.Write([]byte(rest[:min(piece, len(rest))]))
			require.NoError(t, err)
		}
		kept, cut, omitted := k.bytes()
		assert.True(t, utf8.Valid(kept))
		assert.Equal(t, text[:cut]+text[int(cut)+int(omitted):], string(kept), "pieces of %d bytes", piece)
	}
	k := &headTail{limit: 5}
	_, _ = k.Write([]byte("0123456789"))
	kept, _, omitted := k.bytes()
	assert.Equal(t, "0123456789", string(kept))
	assert.Zero(t, omitted)
}
