//go:build !unix

package trustedfile

import "os"

// Check knows nothing about owners here.
func Check(*os.File, string) error { return nil }
