//go:build !unix

package rules

import "os"

// checkOwner knows nothing about owners here.
func checkOwner(*os.File) error { return nil }
