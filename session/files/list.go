package files

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
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

// MaxNames is how many names of a directory List gives where no other limit is given, and maxListed how many bytes of them.
const (
	MaxNames  = 100_000
	maxListed = 8 << 20
)

// List returns what is in a directory, sorted by name, without "." and "..". Of more than most names it is an error; 0 means
// MaxNames.
func (f *Host) List(ctx context.Context, path string, most int) (Info, []Name, error) {
	var all []Name
	i, err := f.Names(ctx, path, most, func(n Name) error {
		all = append(all, n)
		return nil
	})
	if err != nil {
		return i, nil, err
	}
	slices.SortFunc(all, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return i, all, nil
}

// Names is List for a caller who takes the names as they come, in any order. It reads no more of a directory than its limits: a
// host decides where a listing ends, and may never do so. An error of take ends it, and is its cause.
func (f *Host) Names(ctx context.Context, path string, most int, take func(Name) error) (Info, error) {
	i, err := f.names(ctx, path, cmp.Or(most, MaxNames), take)
	return i, at(ctx, "list", path, err)
}

func (f *Host) names(ctx context.Context, path string, most int, take func(Name) error) (Info, error) {
	i, err := f.resolve(ctx, path)
	switch {
	case err != nil:
		return i, err
	case i.Kind == None:
		return i, fault(CodeNotFound, "there is no such directory")
	case i.Kind != Directory:
		return i, fault(CodeInvalid, "it is not a directory")
	}
	n, size := 0, 0
	return i, f.way.list(ctx, i.Target, func(m hostfs.Meta) error {
		if n++; n > most {
			return fault(CodeTooLarge, "it holds more than %d names, which is the limit: use a command (ls, find)", most)
		}
		if size += len(m.Name); size > maxListed {
			return fault(CodeTooLarge, "its names have more than %d bytes, which is the limit: use a command (ls, find)", maxListed)
		}
		return take(nameOf(m))
	})
}

func nameOf(m hostfs.Meta) Name {
	return Name{Name: m.Name, Kind: kindOf(m.Mode), Size: m.Size, Mode: m.Mode & modeBits, Changed: m.Changed}
}
