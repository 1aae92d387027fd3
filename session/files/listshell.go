package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
func (b *overShell) list(ctx context.Context, dir string) ([]Name, error) {
	text := &strings.Builder{}
	if _, err := b.run(ctx, listScript, nil, text, dir); err != nil {
		return nil, err
	}
	return parseList(text.String())
}

var errList = errors.New("the host's listing cannot be read")

// parseList reads what listScript prints.
func parseList(text string) ([]Name, error) {
	var all []Name
	for text != "" {
		names, rest, err := parseNames(text)
		if err != nil {
			return nil, err
		}
		about, rest, ok := strings.Cut(rest, "\x00")
		if !ok || about == "" {
			return nil, errList
		}
		text = rest
		lines := []string{about[1:]} // a link's target may hold newlines, and ls prints it
		if about[0] == 's' {
			lines = strings.Split(about[1:], "\n")
		}
		if len(lines) != len(names) {
			return nil, errList
		}
		for i, line := range lines {
			n, err := parseAbout(about[0], line)
			if err != nil {
				return nil, err
			}
			n.Name = names[i]
			all = append(all, n)
		}
	}
	return all, nil
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
	n := Name{Kind: Special, Mode: fs.FileMode(raw) & fs.ModePerm, Changed: time.Unix(sec, 0)}
	switch raw & 0o170000 {
	case 0o100000:
		n.Kind = Regular
	case 0o040000:
		n.Kind = Directory
	case 0o120000:
		n.Kind = Link
	}
	if n.Kind != Special {
		n.Size = size
	}
	for bit, mode := range map[uint64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if raw&bit != 0 {
			n.Mode |= mode
		}
	}
	return n, nil
}
