package redact

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
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
	head  uint32  // its first three bytes, folded, and the fourth if there is one
	mask  uint32  // what of four bytes is of them
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
	for _, w := range known {
		if len(w.text) > trigram {
			continue
		}
		for c, may := range w.before() {
			if may {
				x.set(hash3(fold([]byte{w.text[1], w.text[2], byte(c)})))
			}
		}
	}
	return x
})

// before returns what may come after a keyword of three bytes if one of its rules is to hold. As every byte would fill the index, it
// asks the expressions.
func (w *keyword) before() class {
	out := *classOf("\x1b\\\r\n\"") // these are looked past, or end what is looked at
	for _, r := range w.rules {
		if r.name || len(r.re.String()) > 512 {
			return *everyByte
		}
		if r.hold {
			for c, in := range tokenBytes {
				out[c] = out[c] || in
			}
		}
		at := startOfProg(r.re.String())
		for _, c := range w.text {
			at = at.step(rune(c))
		}
		if at.over {
			return *everyByte
		}
		for c := range out {
			out[c] = out[c] || at.takes(rune(c))
		}
	}
	return out
}

var everyByte = func() *class {
	c := &class{}
	for i := range c {
		c[i] = true
	}
	return c
}()

// progAt is where an expression may have come to.
type progAt struct {
	prog *syntax.Prog
	at   []uint32
	over bool // it may have matched
}

func startOfProg(expression string) *progAt {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return &progAt{over: true} // its first use says why
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return &progAt{over: true}
	}
	x := &progAt{prog: prog}
	x.enter(uint32(prog.Start))
	return x
}

func (x *progAt) enter(pc uint32) {
	if slices.Contains(x.at, pc) {
		return
	}
	x.at = append(x.at, pc)
	switch inst := &x.prog.Inst[pc]; inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		x.enter(inst.Out)
		x.enter(inst.Arg)
	case syntax.InstCapture, syntax.InstNop:
		x.enter(inst.Out)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(inst.Arg)&(syntax.EmptyEndText|syntax.EmptyEndLine) == 0 {
			x.enter(inst.Out)
		}
	case syntax.InstMatch:
		x.over = true
	}
}

// step goes on over a letter in any case.
func (x *progAt) step(c rune) *progAt {
	next := &progAt{prog: x.prog, over: x.over}
	for _, pc := range x.at {
		if inst := &x.prog.Inst[pc]; takesRune(inst, c) || takesRune(inst, unicode.ToUpper(c)) {
			next.enter(inst.Out)
		}
	}
	return next
}

// takes reports whether a byte may be next, of one character or of a longer one.
func (x *progAt) takes(c rune) bool {
	for _, pc := range x.at {
		inst := &x.prog.Inst[pc]
		if c < utf8.RuneSelf && takesRune(inst, c) || c >= utf8.RuneSelf && (takesRune(inst, utf8.RuneError) || takesRune(inst, '\u212a') || takesRune(inst, '\u017f')) {
			return true
		}
	}
	return false
}

func takesRune(inst *syntax.Inst, c rune) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return inst.MatchRune(c)
	}
	return false
}

func (x *index) put(w *keyword) {
	h := hash3(fold(w.text))
	x.set(h)
	w.mask = 1<<24 - 1
	if len(w.text) > trigram {
		w.head, w.mask = uint32(w.text[trigram])<<24|foldMask, 1<<32-1
	}
	w.head = (w.head | fold(w.text)) & w.mask
	if len(w.text) > trigram {
		x.set(hash3(fold(w.text[1:])))
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
		hit0, hit2, hit4 := seen[h0>>6]>>(h0&63)&1, seen[h2>>6]>>(h2&63)&1, seen[h4>>6]>>(h4&63)&1
		if hit0|hit2|hit4 != 0 { // a hit stands for the position before it, too
			for at, hit := range [...]uint64{hit0, hit0, hit2, hit2, hit4, hit4} {
				if p := i + at - 1; hit != 0 && p >= next && x.may(b, p) {
					return p
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
	if i+trigram == len(b) {
		return x.get(b, i)
	}
	v := binary.LittleEndian.Uint32(b[i:]) | foldMask
	h, g := hash3(v), hash3(v>>8)
	if x.seen[h>>6]>>(h&63)&1 == 0 || x.seen[g>>6]>>(g&63)&1 == 0 {
		return false
	}
	for _, w := range x.buckets[x.slots[h>>(seenLog-slotLog)]] {
		if v&w.mask == w.head {
			return true
		}
	}
	return false
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
		case w.begins(b[i:]):
			return true, false
		case foldedPrefix(w.text, b[i:]):
			maybe = true
		}
	}
	return false, maybe
}

// begins reports whether b begins with the keyword.
func (w *keyword) begins(b []byte) bool {
	if len(b) > trigram && (binary.LittleEndian.Uint32(b)|foldMask)&w.mask != w.head {
		return false
	}
	return foldedPrefix(b, w.text)
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
