package hostfs

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// ErrNoTar is why nothing is gathered on this host.
var ErrNoTar = errors.New("the host has no tar that says what goes wrong")

// Gather implements Gatherer, with tar: those of GNU and busybox fail where a file has become shorter, or went away. That of BSD does
// not.
func (b *Shell) Gather(ctx context.Context, all []Small) ([][]byte, error) {
	b.tar.Do(func() {
		says, _ := b.Run(ctx, "tar --version 2>&1", strings.NewReader(""), nil)
		b.hasTar = strings.Contains(says, "GNU") || strings.Contains(strings.ToLower(says), "busybox")
	})
	if !b.hasTar {
		return nil, ErrNoTar
	}
	var archive bytes.Buffer
	most := int64(64 << 10)
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = "." + f.Path
		most += f.Size + 4<<10 + int64(len(f.Path)) // heads, and room to the next block
	}
	out := &Refusing{W: &atMost{&archive, most}}
	if _, err := b.Run(ctx, `(cd / && tar -cf - -- "$@")`, nil, out, names...); err != nil {
		return nil, err
	}
	return unpack(&archive, names)
}

// unpack reads files with these names, in this order, and nothing else.
func unpack(archive io.Reader, names []string) ([][]byte, error) {
	from := tar.NewReader(archive)
	all := make([][]byte, len(names))
	at := map[string]int{}
	for i, name := range names {
		h, err := from.Next()
		if err != nil {
			return nil, fmt.Errorf("the archive of the host ends early: %w", err)
		}
		if path.Clean(h.Name) != path.Clean(name) {
			return nil, errors.New("the archive of the host holds another file")
		}
		at[path.Clean(name)] = i
		switch h.Typeflag {
		case tar.TypeReg:
			if h.Size > 4*SmallFile {
				return nil, ErrChanged
			}
			if all[i], err = io.ReadAll(from); err != nil {
				return nil, err
			}
		case tar.TypeLink: // a second name of what is in the archive
			first, ok := at[path.Clean(strings.TrimPrefix(h.Linkname, "/"))]
			if !ok || first == i {
				return nil, errors.New("the archive of the host refers to a file that is not in it")
			}
			all[i] = all[first]
		default:
			return nil, errReplaced
		}
	}
	return all, nil
}

// atMost refuses what is more than left bytes.
type atMost struct {
	w    io.Writer
	left int64
}

func (a *atMost) Write(p []byte) (int, error) {
	if a.left -= int64(len(p)); a.left < 0 {
		return 0, ErrChanged
	}
	return a.w.Write(p)
}
