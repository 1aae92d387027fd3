package redact

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// The rules are tried only where one of their keywords stands. A keyword has three bytes or more, in lower case, and is
// found in any case.

const (
	trigram  = 3
	seenLog  = 17
	slotLog  = 12
	foldMask = 0x20202020
)

// keyword is a place where rules begin.
type keyword struct {
	text  []byte
	rules []*rule // in the order in which they are tried
}

// index finds keywords by hashes of their first three bytes, folded, and of the three after the first, so that every
// second position is enough to look at.
type index struct {
	seen    [1 << seenLog / 64]uint64 // a bit for each hash: small enough to stay near the processor
	slots   [1 << slotLog]uint16      // by three bytes: where in buckets
	buckets [][]*keyword
	letters [256][]*keyword // by the first byte, in lower case
}

// rulebook is made once, on first use, and is immutable.
var rulebook = sync.OnceValue(func() *index {
	x := &index{buckets: make([][]*keyword, 1)}
	known := map[string]*keyword{}
	for _, r := range allRules() {
		r.least = least(r.re)
		for _, k := range r.keys {
			w := known[k]
			if w == nil {
				w = &keyword{text: []byte(k)}
				known[k] = w
				x.put(w)
			}
			w.rules = append(w.rules, r)
		}
	}
	return x
})

func (x *index) put(w *keyword) {
	h := hash3(fold(w.text))
	x.set(h)
	if len(w.text) > trigram {
		x.set(hash3(fold(w.text[1:])))
	} else {
		for any := range 256 {
			x.set(hash3(fold([]byte{w.text[1], w.text[2], byte(any)})))
		}
	}
	s := h >> (seenLog - slotLog)
	if x.slots[s] == 0 {
		x.slots[s] = uint16(len(x.buckets))
		x.buckets = append(x.buckets, nil)
	}
	x.buckets[x.slots[s]] = append(x.buckets[x.slots[s]], w)
	x.letters[lower(w.text[0])] = append(x.letters[lower(w.text[0])], w)
}

func (x *index) set(h uint32) { x.seen[h>>6] |= 1 << (h & 63) }

func (x *index) get(b []byte, i int) bool {
	h := hash3(fold(b[i:]))
	return x.seen[h>>6]>>(h&63)&1 != 0
}

// fold takes the first three bytes in one case; other bytes may fall together too.
func fold(b []byte) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) | foldMask
}

// hash3 takes three folded bytes; the fourth does not count.
func hash3(v uint32) uint32 { return ((v << 8) * gramMul) >> (32 - seenLog) }

// next returns the first position from i on where a keyword may begin, or the first one with too few bytes to tell.
func (x *index) next(b []byte, i int) int {
	seen := &x.seen
	next := i // the first position that is not ruled out
	for ; i+8 <= len(b); i += 6 {
		v := binary.LittleEndian.Uint64(b[i:]) | foldMask<<32 | foldMask
		h0, h2, h4 := hash3(uint32(v)), hash3(uint32(v>>16)), hash3(uint32(v>>32))
		hit := seen[h0>>6]>>(h0&63) | seen[h2>>6]>>(h2&63) | seen[h4>>6]>>(h4&63)
		if hit&1 != 0 {
			for end := i + 5; next < end; next++ {
				if x.may(b, next) {
					return next
				}
			}
		}
		next = i + 5
	}
	for next+trigram <= len(b) && !x.may(b, next) {
		next++
	}
	return next
}

// may reports whether a keyword may begin at b[i]; there must be three bytes.
func (x *index) may(b []byte, i int) bool {
	return x.get(b, i) && (i+trigram == len(b) || x.get(b, i+1))
}

// bucket returns the keywords that may begin at b[i], and maybe others; there must be three bytes.
func (x *index) bucket(b []byte, i int) []*keyword {
	return x.buckets[x.slots[hash3(fold(b[i:]))>>(seenLog-slotLog)]]
}

// at reports whether a keyword begins at b[i], or may begin there if more bytes come.
func (x *index) at(b []byte, i int) (found, maybe bool) {
	if i+trigram > len(b) {
		for _, w := range x.letters[lower(b[i])] {
			if foldedPrefix(w.text, b[i:]) {
				return false, true
			}
		}
		return false, false
	}
	for _, w := range x.bucket(b, i) {
		switch {
		case foldedPrefix(b[i:], w.text):
			return true, false
		case foldedPrefix(w.text, b[i:]):
			maybe = true
		}
	}
	return false, maybe
}

// foldedPrefix reports whether b begins with prefix, in any case.
func foldedPrefix(b, prefix []byte) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i, c := range prefix {
		if lower(b[i]) != lower(c) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lineEnd returns where the line that goes through b ends, or -1.
func lineEnd(b []byte) int { return bytes.IndexByte(b, '\n') }
