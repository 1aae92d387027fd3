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

// listScript prints the names in "$1" and what stands there, in groups: each name with a NUL behind it, an empty name, and
// then either "s" and a line of stat for each name, or "l" and what ls prints about the one name, with a NUL behind it.
// Names come from the shell's own patterns, each as ./NAME, so that nothing that a name or a link's target holds can be
// taken for anything else. ls comes first because it says why a directory cannot be read; it stands alone after that where
// stat has no -c, and where a name is gone meanwhile.
const listScript = `ls -a -- "$1/." >/dev/null || exit
(cd -P -- "$1" || exit
st= ; stat -c '%f %s %Y' . >/dev/null 2>&1 && st=1
one() {
  if [ "$st" ] && about=$(stat -c '%f %s %Y' -- "$1" 2>/dev/null); then about=s$about
  elif about=$(ls -ldn -- "$1"); then about=l$about
  elif [ -e "$1" ] || [ -L "$1" ]; then return 1
  else return 0; fi
  printf '%s\0\0%s\0' "$1" "$about"
}
some() {
  [ "$#" -gt 0 ] || return 0
  if [ "$st" ] && about=$(stat -c '%f %s %Y' -- "$@" 2>/dev/null); then
    printf '%s\0' "$@" '' "s$about"; return
  fi
  for name do one "$name" || return; done
}
set --
for f in ./* ./.[!.]* ./..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  set -- "$@" "$f"
  [ "$#" -lt 100 ] || { some "$@" || exit; set --; }
done
some "$@")`

// list has the shell name what is there, and stat or ls say what it is.
func (b *overShell) list(ctx context.Context, dir string, take func(Name) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &groups{take: take, failed: cancel}
	_, err := b.run(ctx, listScript, nil, g, dir)
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

// groups reads what listScript prints, as it comes. What goes wrong stops the script.
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
