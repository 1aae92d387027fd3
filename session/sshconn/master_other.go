//go:build !unix

package sshconn

// ownSocket: OpenSSH has no ControlPath here.
func ownSocket(string) bool { return false }
