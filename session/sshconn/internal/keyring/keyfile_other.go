//go:build !unix

package keyring

// tooOpen knows nothing about permissions that are not bits.
func tooOpen(string) string { return "" }
