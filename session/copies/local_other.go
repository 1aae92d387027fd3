//go:build !unix

package copies

import (
	"io/fs"
	"os"
)

func ownerOf(fs.FileInfo) (uid, gid int) { return -1, -1 }

func openNoFollow(name string) (*os.File, error) { return os.Open(name) }

func openIn(root *os.Root, name string) (*os.File, error) { return root.Open(name) }

func sparse(fs.FileInfo) bool { return false }
