package shell

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	noKey      = 0xff // _POSIX_VDISABLE
)

// flushInput throws away what was typed and not yet read.
func flushInput(fd int) error {
	const fread = 1 // FREAD of <sys/fcntl.h>
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
