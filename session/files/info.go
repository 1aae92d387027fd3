package files

import (
	"io/fs"
	"time"
)

// Kind says what a path leads to.
type Kind string

// The kinds.
const (
	None      Kind = "" // nothing is there
	Regular   Kind = "file"
	Directory Kind = "directory"
	Special   Kind = "special" // a device, a FIFO, a socket
	link      Kind = "link"
)

// Info is what is known of a file.
type Info struct {
	Path   string // as asked for
	Target string // where that leads: no part of it is a symbolic link, "." or ".."
	Kind   Kind
	Size   int64
	Mode   fs.FileMode // permission bits, and set-uid, set-gid and sticky
	SHA256 string      // of all bytes, in hexadecimal, where they were read or written; else ""

	uid, gid int    // -1 where unknown
	stamp    string // differs after most changes
	changed  time.Time
}

// Linked reports whether a symbolic link is on the way.
func (i Info) Linked() bool { return i.Path != i.Target }

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// kindOf sorts a mode.
func kindOf(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return Regular
	case m.IsDir():
		return Directory
	case m&fs.ModeSymlink != 0:
		return link
	}
	return Special
}
