package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// list has the shell name what is there, and stat or ls say what it is.
func (b *overShell) list(ctx context.Context, dir string, take func(Name) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &groups{take: take, failed: cancel}
	_, err := b.run(ctx, listText(), nil, g, dir)
	switch {
	case g.err != nil:
		return g.err
	case err == nil && len(g.text) > 0:
		return errList
	}
	return err
}

var errList = errors.New("the host's listing cannot be read")

// maxGroup is more than a hundred names and what is said of them.
const maxGroup = 1 << 20

// groups reads what host/list.sh prints, as it comes. What goes wrong stops the script.
type groups struct {
	take   func(Name) error
	failed func(error)
	text   []byte // of a group that is not complete
	err    error
}

func (g *groups) Write(p []byte) (int, error) {
	if g.err == nil {
		g.text = append(g.text, p...)
		if g.err = g.read(); g.err != nil {
			g.text = nil
			g.failed(g.err)
		}
	}
	return len(p), g.err
}

func (g *groups) read() error {
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
func parseGroup(text string, take func(Name) error) error {
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
		n, err := parseAbout(about[0], line)
		if err != nil {
			return err
		}
		n.Name = strings.Clone(names[i])
		if err := take(n); err != nil {
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

func parseAbout(how byte, line string) (Name, error) {
	switch how {
	case 's':
		return parseStat(line)
	case 'l':
		i, err := parseLs(line)
		return Name{Kind: i.Kind, Size: i.Size, Mode: i.Mode}, err
	}
	return Name{}, errList
}

// parseStat reads a line of stat -c '%f %s %Y': the mode as the system has it in hexadecimal, the size and the time.
func parseStat(line string) (Name, error) {
	f := strings.Split(line, " ")
	if len(f) != 3 {
		return Name{}, errList
	}
	raw, err1 := strconv.ParseUint(f[0], 16, 32)
	size, err2 := strconv.ParseInt(f[1], 10, 64)
	sec, err3 := strconv.ParseInt(f[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil || size < 0 {
		return Name{}, fmt.Errorf("%w: stat prints no mode, size and time", errList)
	}
	n := Name{Changed: time.Unix(sec, 0)}
	if n.Kind, n.Mode = fromUnix(uint32(raw)); n.Kind != Special {
		n.Size = size
	}
	return n, nil
}
