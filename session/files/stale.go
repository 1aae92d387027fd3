package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/pkg/sftp"
)

const (
	tempPrefix = ".fairlead-"
	tempAge    = 24 * time.Hour  // a file of this age was left by somebody who is dead
	tidyTime   = 5 * time.Second // for looking for such files, after a write
)

// tempName is a name that replace has made.
var tempName = regexp.MustCompile(`^\.fairlead-[a-z2-7]{16}$`)

// tidy removes from a directory what a write has left that was cut off long ago, so that nothing of ours stays forever. It is
// done after a write, as far as that goes well and does not take long: the write counts without it.
func (f *Host) tidy(ctx context.Context, dir, written string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	_ = f.b.tidy(ctx, dir, written)
}

func (local) tidy(ctx context.Context, dir, written string) error {
	now, err := os.Lstat(written) // by the clock of its file system
	if err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for ctx.Err() == nil {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			if !tempName.MatchString(name) {
				continue
			}
			path := filepath.Join(dir, name)
			if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && now.ModTime().Sub(st.ModTime()) >= tempAge {
				_ = os.Remove(path)
			}
		}
		if err != nil || len(names) == 0 {
			return err
		}
	}
	return ctx.Err()
}

func (s *overSFTP) tidy(ctx context.Context, dir, written string) error {
	return s.with(ctx, func(c *sftp.Client) error {
		now, err := c.Lstat(written)
		if err != nil {
			return err
		}
		all, err := c.ReadDirContext(ctx, dir)
		var errs []error
		for _, st := range all {
			if tempName.MatchString(st.Name()) && st.Mode().IsRegular() && now.ModTime().Sub(st.ModTime()) >= tempAge {
				errs = append(errs, c.Remove(strings.TrimSuffix(dir, "/")+"/"+st.Name()))
			}
		}
		return errors.Join(append(errs, err)...)
	})
}

// tidy starts programs only where there is something to look at. "-mtime +0" is a day or more (POSIX, find).
func (b *overShell) tidy(ctx context.Context, dir, _ string) error {
	_, err := b.run(ctx, `for f in "$1"/.fairlead-????????????????; do
[ ! -f "$f" ] || [ -h "$f" ] || find "$f" -prune -type f -mtime +0 -exec rm -f {} \;
done`, nil, nil, strings.TrimSuffix(dir, "/"))
	return err
}
