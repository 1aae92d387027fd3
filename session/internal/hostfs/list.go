package hostfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// errList is the error of a listing that nobody can read.
var errList = errors.New("the host's listing cannot be read")

// maxGroup is more than a hundred names and what is said of them.
const maxGroup = 1 << 20

// listing reads what list.sh prints, as it comes: take gets each name. What goes wrong, an error of take included, is err, and is told to
// failed once, which may stop the script.
type listing struct {
	take   func(Meta) error
	failed func(error)
	err    error

	text []byte // of a group that is not complete
}

// Write implements io.Writer.
func (g *listing) Write(p []byte) (int, error) {
	if g.err == nil {
		g.text = append(g.text, p...)
		if g.err = g.read(); g.err != nil {
			g.text = nil
			g.failed(g.err)
		}
	}
	return len(p), g.err
}

// end is why the listing is not whole, once all of it has been written.
func (g *listing) end() error {
	if g.err == nil && len(g.text) > 0 {
		return errList
	}
	return g.err
}

func (g *listing) read() error {
	for {
		names := bytes.Index(g.text, []byte("\x00\x00"))
		if names < 0 {
			break
		}
		about := bytes.IndexByte(g.text[names+2:], 0)
		if about < 0 {
			break
		}
		end := names + 2 + about + 1
		if err := parseGroup(string(g.text[:end]), g.take); err != nil {
			return err
		}
		g.text = g.text[end:]
	}
	if len(g.text) > maxGroup {
		return errList
	}
	g.text = append([]byte(nil), g.text...)
	return nil
}

// parseGroup reads one group.
func parseGroup(text string, take func(Meta) error) error {
	names, rest, err := parseNames(text)
	if err != nil {
		return err
	}
	about, _, ok := strings.Cut(rest, "\x00")
	if !ok || about == "" {
		return errList
	}
	lines := []string{about[1:]} // a link's target may hold newlines, and ls prints it
	if about[0] == 's' {
		lines = strings.Split(about[1:], "\n")
	}
	if len(lines) != len(names) {
		return errList
	}
	for i, line := range lines {
		m, err := parseAbout(about[0], line)
		if err != nil {
			return err
		}
		m.Name = strings.Clone(names[i])
		if err := take(m); err != nil {
			return err
		}
	}
	return nil
}

// parseNames reads the names of a group, up to the empty one.
func parseNames(text string) (names []string, rest string, err error) {
	for {
		name, after, ok := strings.Cut(text, "\x00")
		if !ok {
			return nil, "", errList
		}
		text = after
		if name == "" {
			return names, text, nil
		}
		name, ok = strings.CutPrefix(name, "./")
		if !ok || name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
			return nil, "", errList
		}
		names = append(names, name)
	}
}

func parseAbout(how byte, line string) (Meta, error) {
	switch how {
	case 's':
		return parseStat(line)
	case 'l':
		return parseLs(line)
	}
	return Meta{}, errList
}

// parseStat reads a line of stat -c '%f %s %Y %u %g': the mode as the system has it in hexadecimal, the size, the time and the owner.
func parseStat(line string) (Meta, error) {
	f := strings.Split(line, " ")
	if len(f) != 5 {
		return Meta{}, errList
	}
	var errs [5]error
	var raw uint64
	var sec int64
	var m Meta
	raw, errs[0] = strconv.ParseUint(f[0], 16, 32)
	m.Size, errs[1] = strconv.ParseInt(f[1], 10, 64)
	sec, errs[2] = strconv.ParseInt(f[2], 10, 64)
	m.UID, errs[3] = strconv.Atoi(f[3])
	m.GID, errs[4] = strconv.Atoi(f[4])
	if errors.Join(errs[:]...) != nil || m.Size < 0 {
		return Meta{}, fmt.Errorf("%w: stat prints no mode, size, time and owner", errList)
	}
	m.Changed = time.Unix(sec, 0)
	if m.Mode = unixMode(uint32(raw)); m.Mode&fs.ModeIrregular != 0 {
		m.Size = 0
	}
	return m, nil
}

// unixMode is a mode of one as the system has it (inode(7)).
func unixMode(raw uint32) fs.FileMode {
	mode := fs.FileMode(raw) & fs.ModePerm
	switch raw & 0o170000 {
	case 0o100000:
	case 0o040000:
		mode |= fs.ModeDir
	case 0o120000:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if raw&(0o1000<<i) != 0 {
			mode |= bit
		}
	}
	return mode
}
