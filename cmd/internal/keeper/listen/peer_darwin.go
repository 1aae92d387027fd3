package listen

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf asks for who has connected (LOCAL_PEERCRED and LOCAL_PEERPID, <sys/un.h>).
func PeerOf(c *net.UnixConn) (uid, pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cerr error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, cerr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); cerr == nil {
			uid = int(cred.Uid)
			pid, cerr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err != nil {
		return 0, 0, err
	}
	return uid, pid, os.NewSyscallError("getsockopt", cerr)
}
