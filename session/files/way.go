package files

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// way is how the files of a host are reached. Over sftp, which knows no contexts, the end of one closes the channel, and the next call
// opens another.
type way struct {
	t session.Transport
	h hosts.Host

	mu sync.Mutex // guards fs: contexts end at any time
	fs hostfs.FS  // nil where it is closed
}

func openWay(ctx context.Context, t session.Transport, h hosts.Host) (*way, error) {
	w := &way{t: t, h: h}
	_, err := w.current(ctx)
	return w, err
}

// current returns what is open, or opens it.
func (w *way) current(ctx context.Context) (hostfs.FS, error) {
	w.mu.Lock()
	fs := w.fs
	w.mu.Unlock()
	if fs != nil {
		return fs, nil
	}
	fs, err := hostfs.Open(ctx, w.t, w.h, hostfs.Few)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.fs = fs
	w.mu.Unlock()
	return fs, nil
}

func (w *way) close() error {
	w.mu.Lock()
	fs := w.fs
	w.fs = nil
	w.mu.Unlock()
	if fs == nil {
		return nil
	}
	return fs.Close()
}

// do calls f, which ends when ctx does.
func (w *way) do(ctx context.Context, f func(hostfs.FS) error) error {
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	fs, err := w.current(ctx)
	if err != nil {
		return err
	}
	if _, sftp := fs.(*hostfs.SFTP); !sftp {
		return f(fs)
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		w.close()
	})
	err = f(fs)
	switch stopped := stop(); {
	case !stopped:
		if <-ended; err != nil && !errors.Is(err, session.ErrUnknownOutcome) {
			return ctxerr.Of(ctx)
		}
	case errors.Is(err, session.ErrClosed):
		w.close()
	}
	return err
}

// lstat looks at a name.
func (w *way) lstat(ctx context.Context, name string) (i Info, err error) {
	err = w.do(ctx, func(fs hostfs.FS) error {
		m, err := fs.Lstat(ctx, name)
		i = Info{Kind: kindOf(m.Mode), Mode: m.Mode & modeBits, Size: m.Size, uid: m.UID, gid: m.GID, stamp: m.Stamp, changed: m.Changed}
		return err
	})
	return i, err
}

func (w *way) read(ctx context.Context, i Info, offset, limit int64, to *counter) error {
	return w.do(ctx, func(fs hostfs.FS) error {
		return fs.Read(ctx, i.Target, hostfs.Part{Offset: offset, Limit: limit, Size: i.Size}, to)
	})
}

// rename is the last step of a change.
func (w *way) rename(ctx context.Context, temp, name string) error {
	return w.do(ctx, func(fs hostfs.FS) error {
		err := fs.Rename(ctx, temp, name)
		if hostfs.Unanswered(err) && !errors.Is(err, session.ErrUnknownOutcome) {
			return fmt.Errorf("%w: the answer to the last step, renaming the new file, did not come: %w", session.ErrUnknownOutcome, err)
		}
		if local, ok := fs.(hostfs.Local); ok && err == nil {
			local.SyncDir(name)
		}
		return err
	})
}

func (w *way) remove(ctx context.Context, name string) error {
	return w.do(ctx, func(fs hostfs.FS) error { return fs.Remove(ctx, name, false) })
}

// list gives the names of a directory as they come: over sftp on a channel of its own, and what is open is closed first, since a
// connection may have room for one only.
func (w *way) list(ctx context.Context, dir string, take func(hostfs.Meta) error) error {
	fs, err := w.current(ctx)
	if err != nil {
		return err
	}
	if _, sftp := fs.(*hostfs.SFTP); !sftp {
		return fs.List(ctx, dir, take)
	}
	w.close()
	return hostfs.Pages(ctx, w.t.(hostfs.Subsystems), dir, take)
}
