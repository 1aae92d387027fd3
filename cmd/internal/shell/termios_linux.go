package shell

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	noKey      = 0 // _POSIX_VDISABLE
)

// flushInput throws away what was typed and not yet read.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
