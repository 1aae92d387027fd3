//go:build unix

package copies

import (
	"io/fs"
	"os"
	"syscall"
)

// openIn opens a file below root. It does not wait for a writer of what has become a FIFO.
func openIn(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// sparse reports whether a file has fewer blocks on disk than its size needs.
func sparse(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && st.Size() > 1<<20 && int64(s.Blocks)*512 < st.Size()/2
}
