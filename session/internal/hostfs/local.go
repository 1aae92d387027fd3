package hostfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Local is this machine.
type Local struct{}

// Width implements FS.
func (Local) Width() int { return 4 }

// Close implements FS.
func (Local) Close() error { return nil }

// Home implements FS.
func (Local) Home(context.Context) (string, error) { return os.UserHomeDir() }

func metaOf(st fs.FileInfo) Meta {
	m := Meta{Name: st.Name(), Mode: st.Mode(), Size: st.Size(), Changed: st.ModTime(), Stamp: fmt.Sprint(st.Size(), st.ModTime().UnixNano())}
	m.UID, m.GID = ownerOf(st)
	return m
}

// Stat implements FS.
func (Local) Stat(_ context.Context, name string) (Meta, error) {
	st, err := os.Stat(name)
	if err != nil {
		return Meta{}, err
	}
	return metaOf(st), nil
}

// Lstat implements FS.
func (Local) Lstat(_ context.Context, name string) (Meta, error) {
	st, err := os.Lstat(name)
	if err != nil {
		return Meta{}, err
	}
	return metaOf(st), nil
}

// Readlink implements FS.
func (Local) Readlink(_ context.Context, name string) (string, error) { return os.Readlink(name) }

// Real implements FS.
func (Local) Real(_ context.Context, name string) (string, error) { return filepath.EvalSymlinks(name) }

// RealDir implements FS.
func (Local) RealDir(_ context.Context, dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = notDirectory(dir)
	}
	return dir, err
}

// namesAtATime are how many names of a directory are asked for at a time.
const namesAtATime = 1000

// List implements FS.
func (Local) List(ctx context.Context, dir string, take func(Meta) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for ctx.Err() == nil {
		some, err := d.ReadDir(namesAtATime)
		for _, e := range some {
			st, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it is gone meanwhile
			}
			if err != nil {
				return err
			}
			if err := take(metaOf(st)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(some) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctxerr.Of(ctx)
}

// Read implements FS.
func (Local) Read(ctx context.Context, name string, part Part, w io.Writer) error {
	f, err := openNoFollow(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errReplaced
	}
	if err != nil {
		return err
	}
	if !part.whole() {
		return readPart(ctx, w, f, part)
	}
	count := &countWriter{w: w}
	if err := CopyWhile(ctx, count, f); err != nil || st.Size() == 0 { // as of files that the kernel makes up
		return err
	}
	return shrunk(f, count.n)
}

// readPart copies a part that is not the whole.
func readPart(ctx context.Context, w io.Writer, f io.ReadSeeker, part Part) error {
	if _, err := f.Seek(part.Offset, io.SeekStart); err != nil {
		return err
	}
	if part.Limit >= 0 {
		return CopyWhile(ctx, w, io.LimitReader(f, part.Limit))
	}
	return CopyWhile(ctx, w, f)
}

// shrunk reports that a file of which n bytes were read is shorter by now: what was read is neither the old file nor the new one.
func shrunk(f interface{ Stat() (fs.FileInfo, error) }, n int64) error {
	if st, err := f.Stat(); err == nil && st.Size() < n {
		return ErrChanged
	}
	return nil
}

// countWriter counts what it passes on.
type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// ReadSmall implements FS.
func (l Local) ReadSmall(ctx context.Context, name string, _ int64) ([]byte, error) {
	b := &capped{}
	err := l.Read(ctx, name, Whole(0), b)
	return b.Bytes(), err
}

// capped takes a small file, also where it has grown.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > 4*SmallFile {
		return 0, ErrChanged
	}
	return c.Buffer.Write(p)
}

// blocks are buffers: one for each of many small files would be most of the work of copying them.
var blocks = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// Mkdir implements FS.
func (Local) Mkdir(_ context.Context, name string) error { return os.Mkdir(name, 0o700) }

// Create implements FS.
func (Local) Create(ctx context.Context, temp string, c Content) error {
	f, err := os.OpenFile(temp, os.O_RDWR|c.flags(), 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(c.Mode); err != nil {
		return err
	}
	if _, err := f.Seek(c.Offset, io.SeekStart); err != nil {
		return err
	}
	if err := CopyWhile(ctx, f, c.reader()); err != nil {
		return err
	}
	if c.Fsync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if c.Verify {
		again := sha256.New()
		if _, err := io.Copy(again, io.NewSectionReader(f, 0, 1<<62)); err != nil {
			return err
		}
		if !bytes.Equal(again.Sum(nil), c.sum()) {
			return ErrStored
		}
	}
	return f.Close()
}

// Dress implements FS.
func (Local) Dress(_ context.Context, temp string, c Clothes) error {
	if c.UID >= 0 && os.Lchown(temp, c.UID, c.GID) != nil {
		st, err := os.Lstat(temp)
		if err != nil {
			return err
		}
		if u, g := ownerOf(st); u != c.UID || g != c.GID {
			return wrongOwner(c)
		}
	}
	return os.Chmod(temp, c.Mode) // afterwards: another owner takes set-uid and set-gid away (chown(2))
}

// Stamp implements FS.
func (Local) Stamp(_ context.Context, name string, when time.Time) error {
	return os.Chtimes(name, time.Time{}, when)
}

// Rename implements FS.
func (Local) Rename(ctx context.Context, temp, name string) error {
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	return os.Rename(temp, name)
}

// SyncDir has it on disk which name a file has got: it is there whole, before or after.
func (Local) SyncDir(name string) {
	if dir, err := os.Open(filepath.Dir(name)); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
}

// Remove implements FS.
func (Local) Remove(_ context.Context, name string, _ bool) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sync implements FS.
func (Local) Sync(_ context.Context, dir string, _ []string) error {
	SyncAll(dir)
	return nil
}
