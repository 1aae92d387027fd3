package copies

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// local is this machine.
type local struct{}

func (local) width() int   { return 4 }
func (local) close() error { return nil }

func (local) home(context.Context) (string, error) { return os.UserHomeDir() }

func metaOf(st fs.FileInfo) meta {
	m := meta{name: st.Name(), mode: st.Mode(), size: st.Size(), changed: st.ModTime()}
	m.uid, m.gid = ownerOf(st)
	return m
}

func (local) stat(_ context.Context, name string) (meta, error) {
	st, err := os.Stat(name)
	if err != nil {
		return meta{}, err
	}
	return metaOf(st), nil
}

func (local) lstat(_ context.Context, name string) (meta, error) {
	st, err := os.Lstat(name)
	if err != nil {
		return meta{}, err
	}
	return metaOf(st), nil
}

func (local) real(_ context.Context, name string) (string, error) { return filepath.EvalSymlinks(name) }

func (local) list(_ context.Context, dir string) (all []meta, err error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		st, err := n.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, metaOf(st))
	}
	return all, nil
}

func (local) read(ctx context.Context, name string, w io.Writer) error {
	f, err := openNoFollow(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fault(files.CodeConflict, "it is not the file any more that it was")
	}
	if err != nil {
		return err
	}
	count := &countWriter{w: w}
	if err := copyWhile(ctx, count, f); err != nil || st.Size() == 0 { // as of files that the kernel makes up
		return err
	}
	return shrunk(f, count.n)
}

func (l local) readSmall(ctx context.Context, name string, _ int64) ([]byte, error) {
	b := &capped{}
	err := l.read(ctx, name, b)
	return b.Bytes(), err
}

// blocks are buffers: one for each of many small files would be most of the work of copying them.
var blocks = sync.Pool{New: func() any { b := make([]byte, blockSize); return &b }}

// copyWhile copies as long as ctx lasts.
func copyWhile(ctx context.Context, w io.Writer, r io.Reader) error {
	b := blocks.Get().(*[]byte)
	defer blocks.Put(b)
	buf := *b
	for {
		if ctx.Err() != nil {
			return ctxerr.Of(ctx)
		}
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (local) mkdir(_ context.Context, name string) error { return os.Mkdir(name, 0o700) }

func (local) create(ctx context.Context, temp string, in incoming) error {
	f, err := os.OpenFile(temp, os.O_RDWR|in.flags(), 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(in.mode); err != nil {
		return err
	}
	if _, err := f.Seek(in.offset, io.SeekStart); err != nil {
		return err
	}
	if err := copyWhile(ctx, f, in.reader()); err != nil {
		return err
	}
	if in.fsync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if in.verify {
		again := sha256.New()
		if _, err := io.Copy(again, io.NewSectionReader(f, 0, 1<<62)); err != nil {
			return err
		}
		if !bytes.Equal(again.Sum(nil), in.sum()) {
			return errStored
		}
	}
	return f.Close()
}

// flags are how a file is opened that is written.
func (in *incoming) flags() int {
	if in.offset > 0 {
		return 0
	}
	return os.O_CREATE | os.O_EXCL
}

// reader is all of the content.
func (in *incoming) reader() io.Reader {
	if in.r != nil {
		return in.r
	}
	return bytes.NewReader(in.data)
}

var errStored = fault(files.CodeError, "what the host has stored is not what was sent: nothing was changed")

func (local) dress(_ context.Context, temp string, mode fs.FileMode, uid, gid int) error {
	if uid >= 0 {
		if err := os.Lchown(temp, uid, gid); err != nil {
			return wrongOwner(uid, gid)
		}
	}
	return os.Chmod(temp, mode)
}

func (local) stamp(_ context.Context, name string, when time.Time) error {
	return os.Chtimes(name, time.Time{}, when)
}

func wrongOwner(uid, gid int) error {
	return fault(files.CodePermission, "the file belongs to user %d and group %d, and this account cannot give a new file to them: nothing was changed", uid, gid)
}

func (local) rename(_ context.Context, temp, name string) error { return os.Rename(temp, name) }

func (local) remove(_ context.Context, name string, _ bool) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (local) sync(_ context.Context, dir string, _ []string) error {
	syncAll(dir)
	return nil
}
