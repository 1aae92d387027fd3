package files

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

const (
	tempPrefix = ".fairlead-"
	tempAge    = 24 * time.Hour  // a file of this age was left by somebody who is dead
	tidyTime   = 5 * time.Second // for looking for such files, after a write
)

// tempName is a name that replace has made.
var tempName = lazyregexp.New(`^\.fairlead-[a-z2-7]{16}$`)

// tidied remembers where a write has looked for such files, and when. A directory is looked through once a day.
var tidied = struct {
	sync.Mutex
	when map[string]time.Time
}{when: map[string]time.Time{}}

const (
	maxTidied = 4096   // places that are remembered
	maxLooked = 10_000 // names that are looked at: larger directories are left to who keeps them
)

// due reports whether a place is to be looked through now.
func due(place string, now time.Time) bool {
	tidied.Lock()
	defer tidied.Unlock()
	if when, ok := tidied.when[place]; ok && now.Sub(when) < tempAge {
		return false
	}
	if len(tidied.when) >= maxTidied {
		clear(tidied.when)
	}
	tidied.when[place] = now
	return true
}

// tidy removes from a directory what a write has left that was cut off long ago, so that nothing of ours stays forever. It is
// done after a write, as far as that goes well and does not take long: the write counts without it.
func (f *Host) tidy(ctx context.Context, dir, written string) {
	if ctx.Err() != nil || !due(strings.Join(f.where, "\x00")+"\x00"+dir, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tidyTime)
	defer cancel()
	_ = f.way.tidy(ctx, dir, written)
}

// tidy has one command do it where each costs as much as many files.
func (w *way) tidy(ctx context.Context, dir, written string) error {
	now, err := w.lstat(ctx, written)
	if err != nil {
		return err
	}
	if fs, err := w.current(ctx); err == nil {
		if sh, ok := fs.(*hostfs.Shell); ok {
			_, err := sh.Run(ctx, tidyText(), nil, nil, strings.TrimSuffix(dir, "/"))
			return err
		}
	}
	paths, err := w.stale(ctx, dir, now.changed)
	for _, path := range paths {
		err = errors.Join(err, w.remove(ctx, path))
	}
	return err
}

var errLooked = errors.New("enough names were looked at")

// stale are the names in a directory that an earlier write has left, by the clock of its file system.
func (w *way) stale(ctx context.Context, dir string, now time.Time) (paths []string, err error) {
	n := 0
	err = w.list(ctx, dir, func(m hostfs.Meta) error {
		if n++; n > maxLooked {
			return errLooked
		}
		if tempName.MatchString(m.Name) && m.Mode.IsRegular() && now.Sub(m.Changed) >= tempAge {
			paths = append(paths, strings.TrimSuffix(dir, "/")+"/"+m.Name)
		}
		return nil
	})
	if errors.Is(err, errLooked) {
		err = nil
	}
	return paths, err
}
