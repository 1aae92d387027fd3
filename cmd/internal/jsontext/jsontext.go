// Package jsontext finds what is no text in JSON, and members that are there twice. Decoders put U+FFFD in the place of the one
// and take one of the others without a word, so that what is judged and run would not be what was sent; and encoders put U+FFFD
// in the place of strings that are not UTF-8.
package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Error says where something is no text.
type Error struct {
	Offset int  // of the byte, from 0
	Escape bool // an escape of half a character (a lone surrogate), and not a byte that is no UTF-8
}

// Error implements error.
func (e *Error) Error() string {
	if e.Escape {
		return fmt.Sprintf("the escape at byte %d is half of a character", e.Offset)
	}
	return fmt.Sprintf("byte %d is not UTF-8", e.Offset)
}

// Check returns an *Error for the first place of a JSON text that a decoder would replace, and else a *TwiceError for the first
// member that an object has twice. What is no JSON at all is left to the decoder.
func Check(text []byte) error {
	if !utf8.Valid(text) {
		for at := 0; at < len(text); {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n == 1 {
				return &Error{Offset: at}
			}
			at += n
		}
	}
	high := -1 // where the first half of a character is that lacks the second
	for at, r := range escapes(text) {
		switch {
		case high >= 0 && at == high+escapeLen && r >= 0xdc00 && r <= 0xdfff:
			high = -1
		case high >= 0:
			return &Error{high, true}
		case r >= 0xd800 && r <= 0xdbff:
			high = at
		case utf16.IsSurrogate(r):
			return &Error{at, true}
		}
	}
	if high >= 0 {
		return &Error{high, true}
	}
	return twice(text)
}

// Replaced reports whether an encoder has replaced something in a JSON text of its own: encoding/json writes U+FFFD as it is, and
// as an escape where a string had something else.
func Replaced(text []byte) bool {
	for _, r := range escapes(text) {
		if r == utf8.RuneError {
			return true
		}
	}
	return false
}

const escapeLen = len(`\uXXXX`)

// escapes yields where a \uXXXX is and what it says. JSON has backslashes in strings alone.
func escapes(text []byte) func(yield func(at int, r rune) bool) {
	return func(yield func(int, rune) bool) {
		for at := 0; ; {
			i := bytes.IndexByte(text[at:], '\\')
			if i < 0 {
				return
			}
			at += i
			if len(text) < at+escapeLen || text[at+1] != 'u' {
				at = min(at+2, len(text))
				continue
			}
			r, err := strconv.ParseUint(string(text[at+2:at+escapeLen]), 16, 16)
			if err == nil && !yield(at, rune(r)) {
				return
			}
			at += escapeLen
		}
	}
}
