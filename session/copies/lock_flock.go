//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package copies

import (
	"os"
	"syscall"
)

// lockFile locks a file as long as it is open; it fails at once where another has.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
