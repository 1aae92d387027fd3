package run

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Texts that are written in pieces, in turns, come back as they were, wherever they part.
func TestATextTreeGivesBackEachText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	long := make([]byte, 3*textBlock)
	for i := range long {
		long[i] = byte(rng.IntN(256))
	}
	for round := range 20 {
		tree := &textTree{}
		want := make([][]byte, 12)
		for i := range want {
			text := bytes.Clone(long[:rng.IntN(len(long))])
			if i%3 > 0 && len(text) > 0 {
				text[rng.IntN(len(text))]++
			}
			if i%4 == 3 {
				text = append(text, want[i-1]...)
			}
			want[i] = text
		}
		texts, at := make([]treeText, len(want)), make([]int, len(want))
		for i := range texts {
			texts[i] = tree.text()
		}
		for left := len(bytes.Join(want, nil)); left > 0; {
			i := rng.IntN(len(want))
			if at[i] == len(want[i]) {
				continue
			}
			n := min(1+rng.IntN(50_000), len(want[i])-at[i])
			texts[i].add(want[i][at[i] : at[i]+n])
			at[i] += n
			left -= n
		}
		for i := range texts {
			assert.Equal(t, len(want[i]), texts[i].len(), "round %d", round)
			assert.True(t, bytes.Equal(want[i], texts[i].bytes(0)), "round %d: text %d", round, i)
		}
	}
}

// What many hosts print alike, at the same time, is in memory once.
func TestIdenticalOutputIsKeptOnce(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	line := []byte(strings.Repeat("the same on each host\n", 1000))
	tree := &textTree{}
	captures := make([]*capture, 100)
	for i := range captures {
		captures[i] = newCapture(10<<20, tree)
	}
	for range 50 { // 1.1 MB
		for _, c := range captures {
			_, _ = c.Write(line)
		}
	}
	for i, c := range captures[:50] { // and what only some print is not lost
		_, _ = fmt.Fprintf(c, "only on host %d\n", i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(16<<20))
	for i, c := range captures {
		text, _, omitted := c.bytes()
		assert.Zero(t, omitted)
		want := ""
		if i < 50 {
			want = fmt.Sprintf("only on host %d\n", i)
		}
		assert.Equal(t, want, string(text[50*len(line):]))
	}
}
