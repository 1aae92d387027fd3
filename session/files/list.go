package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Link is the kind of a Name that is a symbolic link.
const Link = link

// Name is a name in a directory, and what stands there: links are not followed.
type Name struct {
	Name    string
	Kind    Kind
	Size    int64
	Mode    fs.FileMode // permission bits, and set-uid, set-gid and sticky
	Changed time.Time   // of the content; zero where the way to the host does not tell
}

// List returns what is in a directory, sorted by name, without "." and "..". Of more than most names it is an error; 0 means
// no limit.
func (f *Host) List(ctx context.Context, path string, most int) (Info, []Name, error) {
	i, all, err := f.list(ctx, path, most)
	return i, all, at(ctx, "list", path, err)
}

func (f *Host) list(ctx context.Context, path string, most int) (Info, []Name, error) {
	i, err := f.resolve(ctx, path)
	switch {
	case err != nil:
		return i, nil, err
	case i.Kind == None:
		return i, nil, fault(CodeNotFound, "there is no such directory")
	case i.Kind != Directory:
		return i, nil, fault(CodeInvalid, "it is no directory")
	}
	all, err := f.b.list(ctx, i.Target)
	if err == nil && most > 0 && len(all) > most {
		err = fault(CodeTooLarge, "it holds %d names, and %d are the limit: use a command", len(all), most)
	}
	if err != nil {
		return i, nil, err
	}
	slices.SortFunc(all, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return i, all, nil
}

func nameOf(st fs.FileInfo) Name {
	return Name{Name: st.Name(), Kind: kindOf(st.Mode()), Size: st.Size(), Mode: st.Mode() & modeBits, Changed: st.ModTime()}
}

func (local) list(ctx context.Context, dir string) ([]Name, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var all []Name
	for ctx.Err() == nil {
		some, err := d.ReadDir(1000)
		for _, e := range some {
			st, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it is gone meanwhile
			}
			if err != nil {
				return nil, err
			}
			all = append(all, nameOf(st))
		}
		if err != nil || len(some) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, err
		}
	}
	return nil, ctxerr.Of(ctx)
}

func (s *overSFTP) list(ctx context.Context, dir string) (all []Name, err error) {
	err = s.with(ctx, func(c *sftp.Client) error {
		some, err := c.ReadDir(dir)
		for _, st := range some {
			all = append(all, nameOf(st))
		}
		return err
	})
	return all, err
}

// list reads the lines of ls, and knows no times: those are written in many ways.
func (b *overShell) list(ctx context.Context, dir string) ([]Name, error) {
	text := &strings.Builder{}
	if _, err := b.run(ctx, `ls -lan -- "$1/."`, nil, text, dir); err != nil {
		return nil, err
	}
	return parseList(text.String())
}

// parseList reads what ls -lan prints: mode, links, owner, group, size, three words of time, and the name. A line that does
// not begin so belongs to the name before it, which holds a newline.
func parseList(text string) ([]Name, error) {
	var all []Name
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if n == 0 && strings.HasPrefix(line, "total ") || line == "" && n == 0 {
			continue
		}
		name, ok := parseListLine(line)
		switch {
		case ok:
			all = append(all, name)
		case len(all) > 0:
			all[len(all)-1].Name += "\n" + line
		default:
			return nil, errors.New("the host's ls prints what cannot be read")
		}
	}
	kept := all[:0]
	for _, n := range all {
		if n.Kind == Link {
			n.Name, _, _ = strings.Cut(n.Name, " -> ")
		}
		if n.Name != "." && n.Name != ".." {
			kept = append(kept, n)
		}
	}
	return kept, nil
}

func parseListLine(line string) (Name, bool) {
	i, err := parseLs(line)
	if err != nil || line[0] == ' ' {
		return Name{}, false
	}
	words := 8 // before the name
	if i.Kind == Special && !strings.ContainsRune("ps", rune(line[0])) {
		words = 9 // a device has two numbers for its size, one behind a comma
	}
	rest := line
	for range words {
		rest = strings.TrimLeft(rest, " ")
		at := strings.IndexByte(rest, ' ')
		if at < 0 {
			return Name{}, false
		}
		rest = rest[at:]
	}
	name := Name{Name: rest[1:], Kind: i.Kind, Size: i.Size, Mode: i.Mode}
	return name, name.Name != "" && !strings.ContainsRune(name.Name, '/')
}
