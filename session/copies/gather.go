package copies

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/shellfiles"
)

// gatherer is a remote that reads many small files in one go: all of them, or none.
type gatherer interface {
	gather(ctx context.Context, all []*found) ([][]byte, error)
}

// groups are the small files of a download in their order, in groups that are read together; each by itself where many is not set.
func (d *downloading) groups(many bool) (all [][]*found) {
	var group []*found
	var size int64
	var words int
	ship := func() {
		if len(group) > 0 {
			all = append(all, group)
		}
		group, size, words = nil, 0, 0
	}
	for i := range d.all {
		f := &d.all[i]
		if f.Dir || f.skip != "" || f.Size > smallFile {
			continue
		}
		// What the kernel makes up has no size, and an archive has no more of it.
		if group = append(group, f); !many || f.Size == 0 {
			last := group[:len(group)-1]
			if group = group[len(group)-1:]; len(last) > 0 {
				all = append(all, last)
			}
			ship()
			continue
		}
		size += f.Size
		if words += len(f.path) + 1; size >= packBytes || len(group) >= packFiles || words >= maxWordBytes {
			ship()
		}
	}
	ship()
	return all
}

// readGroup reads a group, together where that works, and answers for each of its files. A file that cannot be read keeps others back:
// halves lead to it.
func (d *downloading) readGroup(ctx context.Context, g gatherer, group []*found, answers []chan smallData) {
	if len(group) > 1 {
		data, err := g.gather(ctx, group)
		switch {
		case err == nil:
			for i, f := range group {
				answers[i] <- smallData{data[i], f.Size, nil}
			}
			return
		case len(group) > fewNames && ctx.Err() == nil && !errors.Is(err, session.ErrClosed) && !errors.Is(err, errPacksOff):
			half := len(group) / 2
			d.readGroup(ctx, g, group[:half], answers[:half])
			d.readGroup(ctx, g, group[half:], answers[half:])
			return
		}
	}
	for i, f := range group {
		data, err := d.r.readSmall(ctx, f.path, f.Size)
		answers[i] <- smallData{data, f.Size, err}
	}
}

// gather implements gatherer, with tar: those of GNU and busybox fail where a file has become shorter, or went away. That of BSD does
// not.
func (b *overShell) gather(ctx context.Context, all []*found) ([][]byte, error) {
	b.tar.Do(func() {
		says, _ := b.run(ctx, "tar --version 2>&1", strings.NewReader(""), nil)
		b.hasTar = strings.Contains(says, "GNU") || strings.Contains(strings.ToLower(says), "busybox")
	})
	if !b.hasTar {
		return nil, errPacksOff
	}
	var archive bytes.Buffer
	most := int64(64 << 10)
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = "." + f.path
		most += f.Size + 4<<10 + int64(len(f.path)) // heads, and room to the next block
	}
	out := &shellfiles.Refusing{W: &atMost{&archive, most}}
	if _, err := b.run(ctx, `(cd / && tar -cf - -- "$@")`, nil, out, names...); err != nil {
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
			if h.Size > 4*smallFile {
				return nil, errGrown
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
			return nil, errors.New("it is not the file any more that it was")
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
		return 0, errGrown
	}
	return a.w.Write(p)
}
