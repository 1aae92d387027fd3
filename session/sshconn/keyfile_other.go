//go:build !unix

package sshconn

// tooOpen knows nothing about permissions that are not bits.
func tooOpen(string) string { return "" }
