package shell_test

import "golang.org/x/sys/unix"

const getTermios, unreadBytes = unix.TIOCGETA, 0x4004667f // FIONREAD
