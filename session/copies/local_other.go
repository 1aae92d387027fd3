//go:build !unix

package copies

import (
	"io/fs"
	"os"
)

func openIn(root *os.Root, name string) (*os.File, error) { return root.Open(name) }

func sparse(fs.FileInfo) bool { return false }
