package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Extensions of OpenSSH's server. Without the first nothing can be replaced atomically.
const (
	extRename = "posix-rename@openssh.com"
	extSync   = "fsync@openssh.com"
	extSpace  = "statvfs@openssh.com"

	flagReadOnly = 1 // of extSpace: SSH_FXE_STATVFS_ST_RDONLY
)

// maxRequests is how many parts of one file are asked for at a time. A server may answer each with a packet of 256 kB.
const maxRequests = 16

// overSFTP is a host's sftp subsystem. The library knows no contexts: the end of one closes the client, and the next
// call opens another.
type overSFTP struct {
	conn subsystems

	mu sync.Mutex // guards what follows: contexts end at any time
	c  *sftp.Client
	rw io.Closer // what c speaks through
}

// openSFTP returns an error that wraps errors.ErrUnsupported where there is no such subsystem, or one of little use.
func openSFTP(ctx context.Context, conn subsystems) (*overSFTP, error) {
	s := &overSFTP{conn: conn}
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := c.HasExtension(extRename); !ok {
		s.close()
		return nil, fmt.Errorf("files: the sftp server cannot replace files atomically: %w", errors.ErrUnsupported)
	}
	return s, nil
}

// client returns the client, opening one where there is none.
func (s *overSFTP) client(ctx context.Context) (*sftp.Client, error) {
	s.mu.Lock()
	c := s.c
	s.mu.Unlock()
	if c != nil {
		return c, nil
	}
	rw, err := s.conn.Subsystem(ctx, "sftp")
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { rw.Close() }) // a server that says nothing
	c, err = sftp.NewClientPipe(rw, rw, sftp.UseConcurrentWrites(true), sftp.MaxConcurrentRequestsPerFile(maxRequests))
	if !stop() {
		rw.Close()
		return nil, &session.Error{Op: "files", Code: "unreachable", Retriable: true, Err: fmt.Errorf("files: sftp did not begin: %w", ctxerr.Of(ctx))}
	}
	if err != nil {
		rw.Close()
		// sshd starts what is configured and says yes before it knows that the program is missing.
		return nil, fmt.Errorf("files: the sftp server says nothing of sense (%s): %w", heard(err.Error()), errors.ErrUnsupported)
	}
	s.mu.Lock()
	s.c, s.rw = c, rw
	s.mu.Unlock()
	return c, nil
}

func (s *overSFTP) close() error {
	s.mu.Lock()
	c, rw := s.c, s.rw
	s.c, s.rw = nil, nil
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	_ = rw.Close() // the client would wait for a request that a server does not take
	return c.Close()
}

// with calls f with a client that is closed when ctx ends.
func (s *overSFTP) with(ctx context.Context, f func(c *sftp.Client) error) error {
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	c, err := s.client(ctx)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.close()
	})
	err = f(c)
	if !stop() {
		<-ended
		if err != nil {
			return ctxerr.Of(ctx)
		}
	}
	if errors.Is(err, sftp.ErrSSHFxConnectionLost) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		s.close()
		return fmt.Errorf("the connection was lost: %w", session.ErrClosed)
	}
	return refusal(err)
}

// statusError is a server's refusal, in as many of its words as fit a message.
type statusError struct{ error }

func refusal(err error) error {
	if status, ok := errors.AsType[*sftp.StatusError](err); ok {
		return &statusError{fmt.Errorf("the host's sftp server says %s", heard(strings.TrimPrefix(status.Error(), "sftp: ")))}
	}
	return err
}

func (s *overSFTP) home(ctx context.Context) (dir string, err error) {
	return s.realdir(ctx, ".")
}

func (s *overSFTP) lstat(ctx context.Context, path string) (i Info, err error) {
	err = s.with(ctx, func(c *sftp.Client) error {
		st, err := c.Lstat(path)
		if err == nil {
			i = infoOf(st)
		}
		return err
	})
	return i, err
}

func infoOf(st fs.FileInfo) Info {
	i := Info{Kind: kindOf(st.Mode()), Size: st.Size(), Mode: st.Mode() & modeBits, uid: -1, gid: -1, stamp: fmt.Sprint(st.Size(), st.ModTime().Unix())}
	if s, ok := st.Sys().(*sftp.FileStat); ok {
		i.uid, i.gid = int(s.UID), int(s.GID)
	}
	return i
}

func (s *overSFTP) readlink(ctx context.Context, path string) (to string, err error) {
	err = s.with(ctx, func(c *sftp.Client) error {
		to, err = c.ReadLink(path)
		return err
	})
	return to, err
}

// realdir asks for the kind too: servers resolve a last name that is not there.
func (s *overSFTP) realdir(ctx context.Context, dir string) (real string, err error) {
	err = s.with(ctx, func(c *sftp.Client) error {
		st, err := c.Stat(dir)
		if err != nil {
			return err
		}
		if !st.IsDir() {
			return fault(CodeNotFound, "%q is not a directory", dir)
		}
		real, err = c.RealPath(dir)
		return err
	})
	return real, err
}

func (s *overSFTP) read(ctx context.Context, path string, offset, limit int64, w io.Writer) error {
	return s.with(ctx, func(c *sftp.Client) error {
		f, err := c.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			return err
		}
		if limit < 0 {
			_, err = f.WriteTo(w)
			return err
		}
		return copyUntil(ctx, w, f, limit)
	})
}

func (s *overSFTP) create(ctx context.Context, name string, content []byte) error {
	return s.with(ctx, func(c *sftp.Client) error {
		f, err := c.OpenFile(name, openNew)
		if err != nil {
			return s.explained(c, path.Dir(name), len(content), err)
		}
		err = f.Chmod(0o600) // before there is anything to see
		if err == nil {
			_, err = f.Write(content)
		}
		if _, ok := c.HasExtension(extSync); ok && err == nil {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return s.explained(c, path.Dir(name), len(content), err)
		}
		// Parts are written at the same time: a hole would show in the size only at the end.
		st, err := c.Lstat(name)
		if err == nil && st.Size() != int64(len(content)) {
			err = fmt.Errorf("%d of %d bytes have arrived", st.Size(), len(content))
		}
		return err
	})
}

// explained finds out whether a failure that the server does not explain is a full disk, or a file system that is read-only.
func (s *overSFTP) explained(c *sftp.Client, dir string, size int, err error) error {
	var status *sftp.StatusError
	if !errors.As(err, &status) {
		return err
	}
	if _, ok := c.HasExtension(extSpace); !ok {
		return err
	}
	v, verr := c.StatVFS(dir)
	switch {
	case verr != nil:
	case v.Flag&flagReadOnly != 0:
		return &Error{Code: CodePermission, Err: errReadOnly}
	case v.Frsize*v.Bavail < uint64(size) || v.Files > 0 && v.Favail == 0:
		return &Error{Code: CodeNoSpace, Err: errNoSpace}
	}
	return err
}

func (s *overSFTP) dress(ctx context.Context, temp string, mode fs.FileMode, uid, gid int) error {
	return s.with(ctx, func(c *sftp.Client) error {
		st, err := c.Lstat(temp)
		if err != nil {
			return err
		}
		if now := infoOf(st); uid >= 0 && (now.uid != uid || now.gid != gid) {
			if err := c.Chown(temp, uid, gid); err != nil {
				return wrongOwner(uid, gid)
			}
		}
		return c.Chmod(temp, mode)
	})
}

func (s *overSFTP) rename(ctx context.Context, temp, name string) error {
	asked := false
	err := s.with(ctx, func(c *sftp.Client) error {
		asked = true
		return c.PosixRename(temp, name)
	})
	var refused *statusError
	if err != nil && asked && !errors.As(err, &refused) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: the answer to the last step, renaming the new file, did not come: %w", session.ErrUnknownOutcome, err)
	}
	return err
}

func (s *overSFTP) remove(ctx context.Context, path string) error {
	return s.with(ctx, func(c *sftp.Client) error {
		err := c.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

const openNew = os.O_WRONLY | os.O_CREATE | os.O_EXCL
