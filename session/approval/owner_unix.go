//go:build unix

package approval

import (
	"errors"
	"io/fs"
	"syscall"
)

// owner returns the uid that a file belongs to.
func owner(st fs.FileInfo) (uid int, known bool) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}

// refused reports that nobody listens on a socket.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// dead reports that there is no such process.
func dead(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
