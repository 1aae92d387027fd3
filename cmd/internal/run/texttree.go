package run

import (
	"bytes"
	"slices"
	"sync"
)

// textBlock is the size of the pieces in which a textTree keeps text, so that what grows is not copied.
const textBlock = 64 << 10

// textTree keeps the texts of many streams. What they have in common from their beginning is in memory once.
type textTree struct {
	mu   sync.Mutex // guards all branches
	root branch
}

// branch is a text that goes on where another one, which it leaves, goes on differently.
type branch struct {
	parent   *branch
	from     int // how much of the parent's own bytes come first
	blocks   [][]byte
	size     int
	branches []*branch
}

// treeText is one text: what leads to a branch, and so much of it.
type treeText struct {
	tree *textTree
	on   *branch
	at   int
}

// text returns a new text, which is empty.
func (t *textTree) text() treeText { return treeText{tree: t, on: &t.root} }

// add adds to the text.
func (t *treeText) add(p []byte) {
	t.tree.mu.Lock()
	defer t.tree.mu.Unlock()
	for len(p) > 0 {
		if t.at == t.on.size {
			t.on.grow(p)
			t.at += len(p)
			return
		}
		n := t.on.same(t.at, p)
		t.at += n
		if p = p[n:]; len(p) > 0 && t.at < t.on.size {
			t.on, t.at = t.on.leave(t.at, p[0]), 0
		}
	}
}

// len is the length of the text.
func (t *treeText) len() int {
	n := t.at
	for b := t.on; b.parent != nil; b = b.parent {
		n += b.from
	}
	return n
}

// bytes returns a copy of the text, which has room for so many bytes more.
func (t *treeText) bytes(more int) []byte {
	t.tree.mu.Lock()
	defer t.tree.mu.Unlock()
	n := t.len()
	out := make([]byte, n, n+more)
	for b, at := t.on, t.at; b != nil; b, at = b.parent, b.from {
		b.copy(out[n-at:n], at)
		n -= at
	}
	return out
}

// grow adds to the end of a branch.
func (b *branch) grow(p []byte) {
	b.size += len(p)
	for len(p) > 0 {
		last := len(b.blocks) - 1
		if last < 0 || len(b.blocks[last]) == textBlock {
			b.blocks = append(b.blocks, nil)
			last++
		}
		block := b.blocks[last]
		n := min(len(p), textBlock-len(block))
		if len(block)+n > textBlock/2 {
			block = slices.Grow(block, textBlock-len(block))
		}
		b.blocks[last] = append(block, p[:n]...)
		p = p[n:]
	}
}

// same returns how many bytes of p are those of the branch from at on.
func (b *branch) same(at int, p []byte) (n int) {
	for n < len(p) && at+n < b.size {
		block := b.blocks[(at+n)/textBlock][(at+n)%textBlock:]
		rest := p[n:min(len(p), n+len(block))]
		if bytes.Equal(rest, block[:len(rest)]) {
			n += len(rest)
			continue
		}
		for i := range rest {
			if rest[i] != block[i] {
				return n + i
			}
		}
	}
	return n
}

// leave returns the branch that goes on with a byte from a place on.
func (b *branch) leave(at int, with byte) *branch {
	for _, other := range b.branches {
		if other.from == at && other.blocks[0][0] == with {
			return other
		}
	}
	other := &branch{parent: b, from: at}
	b.branches = append(b.branches, other)
	return other
}

// copy copies the first n bytes.
func (b *branch) copy(to []byte, n int) {
	for _, block := range b.blocks {
		if n == 0 {
			return
		}
		k := min(n, len(block))
		copy(to, block[:k])
		to, n = to[k:], n-k
	}
}
