// Package id makes the identifiers of sessions, commands, jobs and whatever else Fairlead names: a prefix that says what
// it is, and random letters and digits.
package id

import (
	"crypto/rand"
	"strings"
)

const (
	alphabet = "abcdefghijklmnopqrstuvwxyz234567" // of rand.Text, in lower case
	length   = 13
)

// New returns prefix and 65 random bits: unique for all practical purposes.
func New(prefix string) string { return prefix + Secret()[:length] }

// Secret returns 130 random bits, which cannot be guessed.
func Secret() string { return strings.ToLower(rand.Text()) }

// Valid reports whether New(prefix) may return text.
func Valid(prefix, text string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && len(rest) == length && strings.Trim(rest, alphabet) == ""
}
