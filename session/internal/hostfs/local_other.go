//go:build !unix

package hostfs

import (
	"io/fs"
	"os"
)

func ownerOf(fs.FileInfo) (uid, gid int) { return -1, -1 }

func openNoFollow(name string) (*os.File, error) { return os.Open(name) }
