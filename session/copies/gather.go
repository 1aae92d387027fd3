package copies

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

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
		if f.Dir || f.skip != "" || f.Size > hostfs.SmallFile {
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
		if words += len(f.path) + 1; size >= packBytes || len(group) >= packFiles || words >= hostfs.MaxWordBytes {
			ship()
		}
	}
	ship()
	return all
}

// readGroup reads a group, together where that works, and answers for each of its files. A file that cannot be read keeps others back:
// halves lead to it.
func (d *downloading) readGroup(ctx context.Context, g hostfs.Gatherer, group []*found, answers []chan smallData) {
	if len(group) > 1 {
		small := make([]hostfs.Small, len(group))
		for i, f := range group {
			small[i] = hostfs.Small{Path: f.path, Size: f.Size}
		}
		data, err := g.Gather(ctx, small)
		switch {
		case err == nil:
			for i, f := range group {
				answers[i] <- smallData{data[i], f.Size, nil}
			}
			return
		case len(group) > fewNames && ctx.Err() == nil && !errors.Is(err, session.ErrClosed) && !errors.Is(err, hostfs.ErrNoTar):
			half := len(group) / 2
			d.readGroup(ctx, g, group[:half], answers[:half])
			d.readGroup(ctx, g, group[half:], answers[half:])
			return
		}
	}
	for i, f := range group {
		data, err := d.r.ReadSmall(ctx, f.path, f.Size)
		answers[i] <- smallData{data, f.Size, err}
	}
}
