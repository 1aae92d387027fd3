//go:build unix

package sshconn

import (
	"io/fs"
	"os"
	"syscall"
)

// ownSocket reports whether a file is a socket of this account, or of root: what is sent there would be another's to read.
func ownSocket(file string) bool {
	st, err := os.Stat(file)
	if err != nil || st.Mode()&fs.ModeSocket == 0 {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && (int(sys.Uid) == os.Geteuid() || sys.Uid == 0)
}
