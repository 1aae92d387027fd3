package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf asks for who has connected (LOCAL_PEERCRED and LOCAL_PEERPID, <sys/un.h>).
func peerOf(c *net.UnixConn) (peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var p peer
	var cerr error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, cerr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); cerr == nil {
			p.uid = int(cred.Uid)
			p.pid, cerr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err != nil {
		return peer{}, err
	}
	return p, os.NewSyscallError("getsockopt", cerr)
}

// lookUp asks sysctl(3) for one process.
func lookUp(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, fmt.Errorf("approval: process %d: %w", pid, fs.ErrNotExist)
	}
	born := k.Proc.P_starttime
	return process{
		parent: int(k.Eproc.Ppid), name: unix.ByteSliceToString(k.Proc.P_comm[:]), born: fmt.Sprintf("%d.%06d", born.Sec, born.Usec),
	}, nil
}

// environOf is not known here.
func environOf(int) (getenv func(string) string, err error) {
	return nil, fmt.Errorf("approval: the environment of a process: %w", errors.ErrUnsupported)
}
