package iostreams

import "golang.org/x/sys/unix"

const fionread = unix.TIOCINQ // FIONREAD has the same number (ioctl_tty(2))
