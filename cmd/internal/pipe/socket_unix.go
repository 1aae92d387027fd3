//go:build unix

package pipe

import (
	"net"
	"syscall"
)

// private listens on sockets that are the account's own from the beginning: on Linux the file takes its mode from what it is bound to.
var private = net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), ownersOnly) }) // where it is not heeded, the file's is set next
}}
