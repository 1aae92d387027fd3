package iostreams

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// atOnce writes what f takes without waiting. The rest is for a write that may wait: all of it where f is of a kind that cannot
// say (terminals, and files of some file systems: EOPNOTSUPP, pwritev2(2)).
func atOnce(f *os.File, p []byte) (n int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		for n < len(p) {
			k, e := unix.Pwritev2(int(fd), [][]byte{p[n:]}, -1, unix.RWF_NOWAIT)
			n += max(k, 0)
			switch {
			case e == nil && k > 0, errors.Is(e, unix.EINTR):
			default: // an error that lasts is that of the write which follows
				return
			}
		}
	})
	return n
}
