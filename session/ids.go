package session

import "crypto/rand"

// newID returns an identifier that is unique for all practical purposes: prefix and 65 random bits.
func newID(prefix string) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
	var b [13]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return prefix + string(b[:])
}
