// Package tty runs one program on a pseudo-terminal of this machine. Package localpty and the test server share it.
// Where there are no pseudo-terminals it is empty.
package tty
