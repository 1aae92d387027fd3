package hostfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncAll puts all of a file system on disk.
func SyncAll(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	_ = unix.Syncfs(int(f.Fd()))
}
