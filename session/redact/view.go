package redact

import "bytes"

// view is text as a rule reads it: without the control sequences of colours, or without the newlines that broke a token.
type view struct {
	text []byte
	raw  []byte // what text was made of, if control sequences were left out
	at   []int  // where each byte of text stands in what it was made of, if newlines were, or escapes were read
	ends []int  // where each byte of text ends there, if escapes were read
}

// strip appends b to to without control sequences. What may be the start of one at the end of b is left: rest is its
// length.
func strip(to, b []byte) (out []byte, rest int) {
	for {
		i := bytes.IndexByte(b, 0x1b)
		if i < 0 {
			return append(to, b...), 0
		}
		to = append(to, b[:i]...)
		b = b[i:]
		n := sequence(b)
		if n == 0 {
			if unfinished(b) {
				return to, len(b)
			}
			to, n = append(to, b[0]), 1
		}
		b = b[n:]
	}
}

// unfinished reports whether b may be the start of a control sequence.
func unfinished(b []byte) bool {
	if len(b) >= maxSequence || len(b) > 1 && b[1] != '[' {
		return false
	}
	for _, c := range b[min(len(b), 2):] {
		if c < 0x20 || c > 0x3f {
			return false
		}
	}
	return true
}

// sequence returns the length of the control sequence (ECMA-48) at the start of b, or 0.
func sequence(b []byte) int {
	if len(b) < 3 || b[0] != 0x1b || b[1] != '[' {
		return 0
	}
	for i := 2; i < len(b) && i < maxSequence; i++ {
		switch c := b[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}

const maxSequence = 40

// from and to return where a stretch of the view begins and ends in what it was made of.
func (v view) from(i int) int {
	switch {
	case v.raw == nil && v.at == nil || len(v.text) == 0:
		return i
	case i == len(v.text):
		return v.to(i)
	}
	return v.place(i)
}

func (v view) to(i int) int {
	if i == 0 {
		return v.from(0)
	}
	switch {
	case v.ends != nil:
		return v.ends[i-1]
	case v.raw == nil && v.at == nil:
		return i
	}
	return v.place(i-1) + 1
}

func (v view) place(i int) int {
	if v.at != nil {
		return v.at[i]
	}
	for at := 0; ; at++ {
		for n := sequence(v.raw[at:]); n > 0; n = sequence(v.raw[at:]) {
			at += n
		}
		if i == 0 {
			return at
		}
		i--
	}
}

// bareText is a stretch of text without its control sequences, kept while rules are tried at one place of it after the
// other, so that it is made once.
type bareText struct {
	out       []byte
	times     int // it was begun anew
	to        int // in the text
	raw, bare int // the place of the last window, in the text and in out
	odd       []byte
}

// window returns the view of data[i:end], and where its text begins in out, or -1. The same data must come each time, until
// reset.
func (x *bareText) window(data []byte, i, end int) (v view, at int) {
	if i < x.raw || i >= x.to || end < x.to {
		x.times++
		x.out, x.to, x.raw, x.bare = x.out[:0], i, i, 0
	}
	var rest int
	x.out, rest = strip(x.out, data[x.to:end])
	x.to = end - rest
	if i >= x.to {
		return view{text: data[i:end]}, -1
	}
	inside := x.forward(data[:x.to], i)
	v.raw = data[i:end]
	if inside > i { // the place is within a sequence, whose rest is text then
		x.odd = append(append(append(x.odd[:0], data[i:inside]...), x.out[x.bare:]...), data[x.to:end]...)
		v.text = x.odd
		return v, -1
	}
	v.text = append(x.out[x.bare:], data[x.to:end]...)
	return v, x.bare
}

// forward moves the place to i. If that is within a control sequence, it stays before it, and the end of that is returned.
func (x *bareText) forward(data []byte, i int) int {
	for x.raw < i {
		n := bytes.IndexByte(data[x.raw:i], 0x1b)
		if n < 0 {
			x.raw, x.bare = i, x.bare+i-x.raw
			return 0
		}
		x.raw, x.bare = x.raw+n, x.bare+n
		switch n = sequence(data[x.raw:]); {
		case n == 0:
			x.raw, x.bare = x.raw+1, x.bare+1
		case x.raw+n > i:
			return x.raw + n
		default:
			x.raw += n
		}
	}
	return 0
}

func (x *bareText) reset() { x.to = 0 }

// maxBreaks is how many newlines in a token are looked over.
const maxBreaks = 6

// joined returns the word at the start of b without the newlines in it, and where these were in the text. whole is false if
// more bytes may change that. It is good until the next call.
func (x *ahead) joined(b []byte, final bool) (v view, breaks []int, whole bool) {
	defer func() { x.text, x.at, x.breaks = v.text, v.at, breaks }()
	b, cut := b[:min(len(b), Window)], len(b) >= Window
	v.text, v.at, breaks = x.text[:0], x.at[:0], x.breaks[:0]
	for i := 0; i < len(b); i++ {
		if c := b[i]; tokenBytes[c] {
			v.text, v.at = append(v.text, c), append(v.at, i)
			continue
		}
		end := i
		if b[end] == '\r' {
			end++
		}
		if end+1 >= len(b) && (end == len(b) || b[end] == '\n') { // what follows is not here
			return v, breaks, final || cut
		}
		if b[end] != '\n' || !tokenBytes[b[end+1]] || len(breaks) == maxBreaks {
			return v, breaks, true
		}
		breaks, i = append(breaks, len(v.text)), end
	}
	return v, breaks, final || cut
}
