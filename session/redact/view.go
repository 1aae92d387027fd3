package redact

import "bytes"

// view is text as a rule reads it: without the control sequences of colours, or without the newlines that broke a token.
type view struct {
	text []byte
	at   []int // where each byte of text stands in what it was made of; nil: at the same place
}

// bare returns b without control sequences.
func bare(b []byte) view {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return view{text: b}
	}
	v := view{make([]byte, 0, len(b)), make([]int, 0, len(b))}
	for i := 0; i < len(b); i++ {
		if n := sequence(b[i:]); n > 0 {
			i += n - 1
			continue
		}
		v.text, v.at = append(v.text, b[i]), append(v.at, i)
	}
	return v
}

// sequence returns the length of the control sequence (ECMA-48) at the start of b, or 0.
func sequence(b []byte) int {
	if len(b) < 3 || b[0] != 0x1b || b[1] != '[' {
		return 0
	}
	for i := 2; i < len(b) && i < 40; i++ {
		switch c := b[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}

// from and to return where a stretch of the view begins and ends in what it was made of.
func (v view) from(i int) int {
	if len(v.at) == 0 {
		return i
	}
	if i == len(v.at) {
		return v.to(i)
	}
	return v.at[i]
}

func (v view) to(i int) int {
	if v.at == nil || i == 0 {
		return v.from(i)
	}
	return v.at[i-1] + 1
}

// maxBreaks is how many newlines in a token are looked over.
const maxBreaks = 6

// joined returns the word at the start of b without the newlines in it, and where these were in the text. whole is false if
// more bytes may change that.
func joined(b []byte, final bool) (v view, breaks []int, whole bool) {
	b, cut := b[:min(len(b), Window)], len(b) >= Window
	v.text, v.at = make([]byte, 0, 64), make([]int, 0, 64)
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
