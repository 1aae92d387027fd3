package shellfiles

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

//go:embed host/list.sh
var listSource string

// ListScript prints what is in the directory "$1", for a Listing.
var ListScript = sync.OnceValue(func() string { return hostcode.Shell(listSource) })

// ErrList is the error of a listing that nobody can read.
var ErrList = errors.New("the host's listing cannot be read")

// maxGroup is more than a hundred names and what is said of them.
const maxGroup = 1 << 20

// Listing reads what ListScript prints, as it comes: Take gets each name. What goes wrong, an error of Take included, is Err, and is
// told to Failed once, which may stop the script.
type Listing struct {
	Take   func(name string, l Line) error
	Failed func(error)
	Err    error

	text []byte // of a group that is not complete
}

// Write implements io.Writer.
func (g *Listing) Write(p []byte) (int, error) {
	if g.Err == nil {
		g.text = append(g.text, p...)
		if g.Err = g.read(); g.Err != nil {
			g.text = nil
			g.Failed(g.Err)
		}
	}
	return len(p), g.Err
}

// End is why the listing is not whole, once all of it has been written.
func (g *Listing) End() error {
	if g.Err == nil && len(g.text) > 0 {
		return ErrList
	}
	return g.Err
}

func (g *Listing) read() error {
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
		if err := parseGroup(string(g.text[:end]), g.Take); err != nil {
			return err
		}
		g.text = g.text[end:]
	}
	if len(g.text) > maxGroup {
		return ErrList
	}
	g.text = append([]byte(nil), g.text...)
	return nil
}

// parseGroup reads one group.
func parseGroup(text string, take func(string, Line) error) error {
	names, rest, err := parseNames(text)
	if err != nil {
		return err
	}
	about, _, ok := strings.Cut(rest, "\x00")
	if !ok || about == "" {
		return ErrList
	}
	lines := []string{about[1:]} // a link's target may hold newlines, and ls prints it
	if about[0] == 's' {
		lines = strings.Split(about[1:], "\n")
	}
	if len(lines) != len(names) {
		return ErrList
	}
	for i, line := range lines {
		l, err := parseAbout(about[0], line)
		if err != nil {
			return err
		}
		if err := take(strings.Clone(names[i]), l); err != nil {
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
			return nil, "", ErrList
		}
		text = after
		if name == "" {
			return names, text, nil
		}
		name, ok = strings.CutPrefix(name, "./")
		if !ok || name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
			return nil, "", ErrList
		}
		names = append(names, name)
	}
}

func parseAbout(how byte, line string) (Line, error) {
	switch how {
	case 's':
		return parseStat(line)
	case 'l':
		return ParseLs(line)
	}
	return Line{}, ErrList
}

// parseStat reads a line of stat -c '%f %s %Y %u %g': the mode as the system has it in hexadecimal, the size, the time and the owner.
func parseStat(line string) (Line, error) {
	f := strings.Split(line, " ")
	if len(f) != 5 {
		return Line{}, ErrList
	}
	var errs [5]error
	var raw uint64
	var sec int64
	var l Line
	raw, errs[0] = strconv.ParseUint(f[0], 16, 32)
	l.Size, errs[1] = strconv.ParseInt(f[1], 10, 64)
	sec, errs[2] = strconv.ParseInt(f[2], 10, 64)
	l.UID, errs[3] = strconv.Atoi(f[3])
	l.GID, errs[4] = strconv.Atoi(f[4])
	if errors.Join(errs[:]...) != nil || l.Size < 0 {
		return Line{}, fmt.Errorf("%w: stat prints no mode, size, time and owner", ErrList)
	}
	l.Changed = time.Unix(sec, 0)
	if l.Mode = UnixMode(uint32(raw)); l.Mode&fs.ModeIrregular != 0 {
		l.Size = 0
	}
	return l, nil
}

// UnixMode is a mode of a Line, of one as the system has it (inode(7)).
func UnixMode(raw uint32) fs.FileMode {
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
