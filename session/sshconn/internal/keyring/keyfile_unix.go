//go:build unix

package keyring

import (
	"fmt"
	"os"
	"syscall"
)

// tooOpen says why OpenSSH would not use a private key file that others may read; "" if it would.
func tooOpen(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Sprintf("other accounts may read it (mode %04o); chmod 600 it", info.Mode().Perm())
	}
	return ""
}
