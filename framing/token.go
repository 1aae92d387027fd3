package framing

import (
	"bytes"
	"crypto/rand"
)

// TokenLen is the length of a token's text, in bytes.
const TokenLen = 22

// Token makes the marks of one frame, or of one shell, impossible to guess. It is kept in the form in which it is
// printed: 22 characters of A–Z, a–z, 0–9, "_" and "-", together 132 bits. The zero Token is not valid.
type Token [TokenLen]byte

const tokenAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// NewToken returns a token from the system's random source. Never use one for two frames.
func NewToken() Token {
	var t Token
	rand.Read(t[:]) // never fails: crypto/rand ends the program instead
	for i, b := range t {
		t[i] = tokenAlphabet[b&63]
	}
	return t
}

// parseToken reports whether text is a token, and which.
func parseToken(text []byte) (t Token, ok bool) {
	if len(text) != TokenLen {
		return t, false
	}
	for i, b := range text {
		if !isTokenByte(b) {
			return t, false
		}
		t[i] = b
	}
	return t, true
}

func isTokenByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-'
}

// String returns the token as it is printed.
func (t Token) String() string { return string(t[:]) }

// halves returns the token with an empty quoted word between its halves, which a shell takes away. What is typed at a shell
// holds a token only in this form, so that a terminal that echoes its input never prints a mark.
func (t Token) halves() string {
	return string(t[:TokenLen/2]) + "''" + string(t[TokenLen/2:])
}

// EchoOf returns where in output the terminal began to echo the frame with this token, or -1: a terminal whose echo
// somebody switched on prints what is typed before the frame starts.
func EchoOf(output []byte, t Token) int {
	return bytes.Index(output, []byte(t.halves()))
}
