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
	slotsLog = 14
	foldMask = 0x20202020
)

// keyword is a place where rules begin.
type keyword struct {
	text  []byte
	rules []*rule // in the order in which they are tried
}

// index finds keywords by their first three bytes, folded.
type index struct {
	slots   [1 << slotsLog]uint8 // bucket, 0 means none
	buckets [][]*keyword
	longest int
}

// rulebook is made once, on first use, and is immutable.
var rulebook = sync.OnceValue(func() *index {
	x := &index{buckets: make([][]*keyword, 1)}
	known := map[string]*keyword{}
	for _, r := range allRules() {
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
	x.longest = max(x.longest, len(w.text))
	h := slot(uint32(w.text[0]) | uint32(w.text[1])<<8 | uint32(w.text[2])<<16 | foldMask)
	if x.slots[h] == 0 {
		x.buckets = append(x.buckets, nil)
		x.slots[h] = uint8(len(x.buckets) - 1)
	}
	b := &x.buckets[x.slots[h]]
	*b = append(*b, w)
}

// slot takes three folded bytes; the fourth does not count.
func slot(v uint32) uint32 { return ((v << 8) * gramMul) >> (32 - slotsLog) }

// next returns the first position from i on where a keyword may begin, or the first one with too few bytes to tell.
func (x *index) next(b []byte, i int) int {
	slots := &x.slots
	for ; i+8 <= len(b); i += 6 {
		v := binary.LittleEndian.Uint64(b[i:]) | foldMask<<32 | foldMask
		hit := slots[slot(uint32(v))] | slots[slot(uint32(v>>8))] | slots[slot(uint32(v>>16))] |
			slots[slot(uint32(v>>24))] | slots[slot(uint32(v>>32))] | slots[slot(uint32(v>>40))]
		if hit != 0 {
			break
		}
	}
	for ; i+trigram <= len(b); i++ {
		if x.bucket(b, i) != 0 {
			return i
		}
	}
	return i
}

func (x *index) bucket(b []byte, i int) uint8 {
	return x.slots[slot(uint32(b[i])|uint32(b[i+1])<<8|uint32(b[i+2])<<16|foldMask)]
}

// at reports whether a keyword begins at b[i], or may begin there if more bytes come.
func (x *index) at(b []byte, i int) (found, maybe bool) {
	if i+trigram > len(b) {
		for _, bucket := range x.buckets {
			for _, w := range bucket {
				if foldedPrefix(w.text, b[i:]) {
					return false, true
				}
			}
		}
		return false, false
	}
	for _, w := range x.buckets[x.bucket(b, i)] {
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
