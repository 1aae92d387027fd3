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
	Changed time.Time   // of the content; zero where the host has no stat -c
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
