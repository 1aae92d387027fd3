//go:build !unix

package trustedfile

import "os"

// Open opens a file to be read.
func Open(name, _ string) (*os.File, error) { return os.Open(name) }

// Check knows nothing about owners here.
func Check(*os.File, string) error { return nil }
