package shellfiles

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Line is what ls -ldn says of a file, or stat.
type Line struct {
	Mode     fs.FileMode // ModeIrregular for what is no file, directory or link
	UID, GID int
	Size     int64     // in bytes; 0 where Mode is ModeIrregular
	Stamp    string    // of ls: size and time as they are printed, which differ after most changes
	Changed  time.Time // of the content; zero of ls
}

// ErrLs is the error of a line that nobody can read.
var ErrLs = errors.New("the host's ls prints what cannot be read")

// ParseLs reads a line of ls -ldn: mode, links, uid, gid and size, as POSIX orders them.
func ParseLs(text string) (Line, error) {
	f := strings.Fields(text)
	if len(f) < 5 || len(f[0]) < 10 {
		return Line{}, ErrLs
	}
	l := Line{Stamp: strings.Join(f[4:min(len(f), 8)], " ")}
	switch f[0][0] {
	case '-':
	case 'd':
		l.Mode = fs.ModeDir
	case 'l':
		l.Mode = fs.ModeSymlink
	default:
		l.Mode = fs.ModeIrregular
	}
	for n, c := range f[0][1:10] {
		bit := fs.FileMode(1) << (8 - n)
		switch c {
		case 'r', 'w', 'x':
			l.Mode |= bit
		case 's', 't':
			l.Mode |= bit
			fallthrough
		case 'S', 'T':
			l.Mode |= [...]fs.FileMode{fs.ModeSetuid, fs.ModeSetgid, fs.ModeSticky}[n/3]
		}
	}
	var errs [3]error
	l.UID, errs[0] = strconv.Atoi(f[2])
	l.GID, errs[1] = strconv.Atoi(f[3])
	if l.Mode&fs.ModeIrregular == 0 { // devices have two numbers there
		l.Size, errs[2] = strconv.ParseInt(f[4], 10, 64)
	}
	if errors.Join(errs[:]...) != nil || l.Size < 0 {
		return Line{}, ErrLs
	}
	return l, nil
}
