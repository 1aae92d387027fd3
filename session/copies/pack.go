package copies

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// Many small files go through tar and sha256sum on the host, some hundred at a time: over sftp each of them needs six requests, and
// over a shell a dozen programs, which cost the host more than the files. Where that does not work, for whatever reason, they are
// copied one by one.
const (
	packFrom  = 100 // small files in a copy
	packFiles = 1000
	packBytes = 2 << 20
)

var errPacksOff = errors.New("packs do not work here")

// packed is a small file that has been read.
type packed struct {
	n    int // of the plan
	in   hostfs.Content
	r    *fileReader
	made making
}

// packing collects small files for programs of u.r.
type packing struct {
	host  hostfs.Programs
	dir   string        // that they are in, as a word
	slots chan struct{} // packs under way
	all   []packed
	bytes int64

	mu  sync.Mutex // guards off
	off bool       // it does not work here
}

// packing returns what collects files; nil if they go one by one.
func (u *uploading) packing() *packing {
	host, ok := u.r.(hostfs.Programs)
	small := 0
	for i := range u.p.Entries {
		if e := &u.p.Entries[i]; !e.Dir && e.Size <= hostfs.SmallFile {
			small++
		}
	}
	if !ok || small < packFrom {
		return nil
	}
	dir, ok := host.Word(u.syncDir())
	if !ok {
		return nil
	}
	return &packing{host: host, dir: dir, slots: make(chan struct{}, 2)}
}

// works reports whether files are to be collected.
func (k *packing) works() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.off
}

// add collects a file that has been read.
func (u *uploading) add(ctx context.Context, one packed) {
	k := u.packs
	k.all = append(k.all, one)
	if k.bytes += one.in.Size; k.bytes >= packBytes || len(k.all) >= packFiles {
		u.ship(ctx)
	}
}

// ship has all files made that were collected.
func (u *uploading) ship(ctx context.Context) {
	k := u.packs
	if k == nil || len(k.all) == 0 {
		return
	}
	all := k.all
	k.all, k.bytes = nil, 0
	k.slots <- struct{}{}
	u.wg.Go(func() {
		defer func() { <-k.slots }()
		u.pack(ctx, all)
	})
}

func (u *uploading) pack(ctx context.Context, all []packed) {
	failed, olds := make([]error, len(all)), u.olds(ctx, all)
	hostfs.Each(u.r.Width(), len(all), func(i int) {
		p := &all[i]
		var old *hostfs.Meta
		if old, failed[i] = olds(u.target(p.n)); failed[i] == nil {
			p.made, failed[i] = u.prepareOver(ctx, p.n, &p.in, old)
		}
		p.in.Fsync = false
	})
	var good []packed
	for i, err := range failed {
		if err != nil {
			u.memory.give(u.p.Entries[all[i].n].Size)
			u.fail(all[i].n, err)
		} else {
			good = append(good, all[i])
		}
	}
	err := errPacksOff
	if u.packs.works() {
		err = u.packs.make(ctx, u.syncDir(), good)
	}
	if err != nil {
		u.packs.mu.Lock()
		first := !u.packs.off
		u.packs.off = true
		u.packs.mu.Unlock()
		var failed *hostfs.ProgramError
		if first && errors.As(err, &failed) && ctx.Err() == nil {
			u.rep.tell(Report{Done: Noted, Path: u.syncDir(), Why: failed.Error() + "; small files are copied one by one, which takes longer"})
		}
	}
	if err == nil {
		u.dressPacked(ctx, good)
	}
	hostfs.Each(u.r.Width(), len(good), func(i int) {
		p := &good[i]
		defer u.memory.give(u.p.Entries[p.n].Size)
		var ferr error
		switch {
		case err == nil:
			p.made.when = time.Time{} // tar has set it
			ferr = u.finish(ctx, p.n, p.made, p.in, p.r, nil)
		case ctx.Err() != nil:
			ferr = u.undo(ctx, p.made.temp, err)
		default:
			if ferr = u.r.Remove(ctx, p.made.temp, false); ferr == nil {
				ferr = u.file(ctx, p.n, p.in, p.r)
			}
		}
		if ferr != nil {
			u.fail(p.n, ferr)
		}
	})
}

// make makes new files below dir, all of them whole, or fails.
func (k *packing) make(ctx context.Context, dir string, all []packed) error {
	var names, archive bytes.Buffer
	to := tar.NewWriter(&archive)
	options := "-xkopmf" // the times are the host's: its clock may be behind ours
	for i := range all {
		f := &all[i]
		name := strings.TrimPrefix(strings.TrimPrefix(f.made.temp, dir), "/")
		names.WriteString("./" + name + "\x00")
		h := tar.Header{Typeflag: tar.TypeReg, Name: "./" + name, Size: f.in.Size, Mode: int64(f.in.Mode.Perm())}
		if !f.made.when.IsZero() {
			h.ModTime, options = f.made.when, "-xkopf"
		}
		if err := to.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := to.Write(f.in.Data); err != nil {
			return err
		}
	}
	if err := to.Close(); err != nil {
		return err
	}
	most := 2*names.Len() + 200*len(all) // names are printed with escapes, by GNU tar with a time that it takes for strange
	if _, err := k.host.Program(ctx, hostfs.Program{What: "tar", Line: "tar " + options + " - -C " + k.dir, In: &archive, Most: most}); err != nil {
		return err
	}
	said, err := k.host.Program(ctx, hostfs.Program{What: "sha256sum", Line: "cd " + k.dir + " && xargs -0 sha256sum", In: &names, Most: most})
	if err != nil {
		return err
	}
	i := 0
	for line := range strings.Lines(said) {
		sum, _, ok := strings.Cut(strings.TrimPrefix(line, `\`), "  ")
		if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 64 {
			continue // start files may print
		}
		if i >= len(all) || sum != hex.EncodeToString(all[i].r.sum()) {
			return hostfs.ErrStored
		}
		i++
	}
	if i != len(all) {
		return fmt.Errorf("the host has %d of %d files", i, len(all))
	}
	return nil
}
