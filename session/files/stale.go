package files

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
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
	_ = f.b.tidy(ctx, dir, written)
}

// stale are the names in a directory that an earlier write has left, by the clock of its file system.
func stale(ctx context.Context, b backend, dir string, now time.Time) (paths []string, err error) {
	n := 0
	err = b.list(ctx, dir, func(name Name) error {
		if n++; n > maxLooked {
			return errEnd
		}
		if tempName.MatchString(name.Name) && name.Kind == Regular && now.Sub(name.Changed) >= tempAge {
			paths = append(paths, strings.TrimSuffix(dir, "/")+"/"+name.Name)
		}
		return nil
	})
	if errors.Is(err, errEnd) {
		err = nil
	}
	return paths, err
}

func (l local) tidy(ctx context.Context, dir, written string) error {
	now, err := os.Lstat(written)
	if err != nil {
		return err
	}
	paths, err := stale(ctx, l, dir, now.ModTime())
	for _, path := range paths {
		_ = os.Remove(path)
	}
	return err
}

func (s *overSFTP) tidy(ctx context.Context, dir, written string) error {
	var now time.Time
	err := s.with(ctx, func(c *sftp.Client) error {
		st, err := c.Lstat(written)
		if err == nil {
			now = st.ModTime()
		}
		return err
	})
	if err != nil {
		return err
	}
	paths, err := stale(ctx, s, dir, now)
	for _, path := range paths {
		err = errors.Join(err, s.remove(ctx, path))
	}
	return err
}

func (b *overShell) tidy(ctx context.Context, dir, _ string) error {
	_, err := b.run(ctx, tidyText(), nil, nil, strings.TrimSuffix(dir, "/"))
	return err
}
