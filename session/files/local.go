package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// local is this machine.
type local struct{}

func (local) close() error { return nil }

func (local) home(context.Context) (string, error) { return os.UserHomeDir() }

func (local) lstat(_ context.Context, path string) (Info, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	i := Info{Kind: kindOf(st.Mode()), Size: st.Size(), Mode: st.Mode() & modeBits, stamp: fmt.Sprint(st.Size(), st.ModTime().UnixNano())}
	i.uid, i.gid = ownerOf(st)
	return i, nil
}

func (local) readlink(_ context.Context, path string) (string, error) { return os.Readlink(path) }

func (local) realdir(_ context.Context, dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = fault(CodeNotFound, "%q is not a directory", dir)
	}
	return dir, err
}

func (local) read(ctx context.Context, path string, offset, limit int64, w io.Writer) error {
	f, err := openFile(path) // it does not wait for a writer of what has become a FIFO
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fault(CodeConflict, "it is not the file any more that it was")
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	return copyUntil(ctx, w, f, limit)
}

// copyUntil copies until the end, the limit, or that of ctx.
func copyUntil(ctx context.Context, w io.Writer, r io.Reader, limit int64) error {
	if limit >= 0 {
		r = io.LimitReader(r, limit)
	}
	buf := make([]byte, 64<<10)
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

func (local) create(ctx context.Context, path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && ctx.Err() != nil {
		err = ctxerr.Of(ctx)
	}
	return err
}

func (local) dress(_ context.Context, temp string, mode fs.FileMode, uid, gid int) error {
	st, err := os.Lstat(temp)
	if err != nil {
		return err
	}
	if u, g := ownerOf(st); uid >= 0 && (u != uid || g != gid) {
		if err := os.Chown(temp, uid, gid); err != nil {
			return wrongOwner(uid, gid)
		}
	}
	return os.Chmod(temp, mode)
}

func (local) rename(ctx context.Context, temp, path string) error {
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // the file is there whole, before or after
		dir.Close()
	}
	return nil
}

func wrongOwner(uid, gid int) error {
	return fault(CodePermission, "it belongs to user %d and group %d, and a new file of this account cannot be given to them, so nothing was changed", uid, gid)
}

func (local) remove(_ context.Context, path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
