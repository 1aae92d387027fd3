package cli

import (
	"fmt"
	"syscall"
)

// checkUmask refuses a umask that leaves directories and files behind that their owner cannot use.
func checkUmask() error {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask) // umask(2) has no call that only reads
	if mask&0o700 == 0 {
		return nil
	}
	return fmt.Errorf("the umask %#04o takes away this account's own access to what Fairlead creates. Run: umask 077", mask)
}
