//go:build !unix || solaris || aix

package knownhosts

import "os"

// lock does nothing where there is no flock; appending is still one write.
func lock(*os.File) error { return nil }
