package listen

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf asks for who has connected (SO_PEERCRED, unix(7)).
func PeerOf(c *net.UnixConn) (uid, pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var cerr error
	err = raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil {
		return 0, 0, err
	}
	if cerr != nil {
		return 0, 0, os.NewSyscallError("getsockopt", cerr)
	}
	return int(cred.Uid), int(cred.Pid), nil
}
