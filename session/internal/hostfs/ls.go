package hostfs

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// errLs is the error of a line that nobody can read.
var errLs = errors.New("the host's ls prints what cannot be read")

// parseLs reads a line of ls -ldn: mode, links, uid, gid and size, as POSIX orders them.
func parseLs(text string) (Meta, error) {
	f := strings.Fields(text)
	if len(f) < 5 || len(f[0]) < 10 {
		return Meta{}, errLs
	}
	m := Meta{Stamp: strings.Join(f[4:min(len(f), 8)], " ")}
	switch f[0][0] {
	case '-':
	case 'd':
		m.Mode = fs.ModeDir
	case 'l':
		m.Mode = fs.ModeSymlink
	default:
		m.Mode = fs.ModeIrregular
	}
	for n, c := range f[0][1:10] {
		bit := fs.FileMode(1) << (8 - n)
		switch c {
		case 'r', 'w', 'x':
			m.Mode |= bit
		case 's', 't':
			m.Mode |= bit
			fallthrough
		case 'S', 'T':
			m.Mode |= [...]fs.FileMode{fs.ModeSetuid, fs.ModeSetgid, fs.ModeSticky}[n/3]
		}
	}
	var errs [3]error
	m.UID, errs[0] = strconv.Atoi(f[2])
	m.GID, errs[1] = strconv.Atoi(f[3])
	if m.Mode&fs.ModeIrregular == 0 { // devices have two numbers there
		m.Size, errs[2] = strconv.ParseInt(f[4], 10, 64)
	}
	if errors.Join(errs[:]...) != nil || m.Size < 0 {
		return Meta{}, errLs
	}
	return m, nil
}
