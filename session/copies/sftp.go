package copies

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Extensions of OpenSSH's server. Without the first nothing can be replaced atomically; the third says that packets of 256
// KiB are taken (OpenSSH 8.5).
const (
	extRename = "posix-rename@openssh.com"
	extSync   = "fsync@openssh.com"
	extLimits = "limits@openssh.com"
	extSpace  = "statvfs@openssh.com"

	flagReadOnly = 1 // of extSpace: SSH_FXE_STATVFS_ST_RDONLY

	largePacket  = 255 << 10 // with its head it fits
	requests     = 64        // of one file at a time
	filesAtATime = 64
	manyFiles    = 128     // of a server that takes large packets: such servers have room for more, and macOS for 251
	maxNames     = 1 << 20 // of one directory
	maxHeard     = 200
)

// overSFTP is a host's sftp subsystem. The library knows no contexts: the end of that of openSFTP's caller, who calls
// close then, ends all that runs.
type overSFTP struct {
	c     *sftp.Client // of the first channel
	first *channel
	conn  subsystems
	fsync bool
	files int // at a time

	t session.Transport
	h hosts.Host

	opening sync.WaitGroup // of channels besides the first

	mu         sync.Mutex // guards what follows
	asked      bool       // for those channels, or closed
	endOpening context.CancelFunc
	others     []*channel

	once  sync.Once // of shell
	shell *overShell
}

func openSFTP(ctx context.Context, t session.Transport, h hosts.Host, conn subsystems) (*overSFTP, error) {
	began := time.Now()
	first, err := openChannel(ctx, conn)
	if err != nil {
		return nil, err
	}
	s := &overSFTP{c: first.c, first: first, conn: conn, t: t, h: h, files: filesAtATime, asked: time.Since(began) >= laneWait}
	if _, ok := s.c.HasExtension(extRename); !ok {
		s.close()
		return nil, fmt.Errorf("the sftp server cannot replace files atomically: %w", errors.ErrUnsupported)
	}
	_, s.fsync = s.c.HasExtension(extSync)
	if first.block == largePacket {
		s.files = manyFiles
	}
	return s, nil
}

func (s *overSFTP) width() int { return s.files }

func (s *overSFTP) close() error {
	err := s.first.close()
	s.mu.Lock()
	s.asked = true
	end := s.endOpening
	s.mu.Unlock()
	if end != nil {
		end()
		s.opening.Wait()
	}
	s.mu.Lock()
	for _, c := range s.others {
		_ = c.close()
	}
	s.mu.Unlock()
	s.once.Do(func() {})
	if s.shell != nil {
		s.shell.close()
	}
	return err
}

// refused sorts what the server says.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sftp.ErrSSHFxConnectionLost) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("the connection was lost: %w", session.ErrClosed)
	}
	if status, ok := errors.AsType[*sftp.StatusError](err); ok {
		return fmt.Errorf("the host's sftp server says %s", printable.Heard(strings.TrimPrefix(status.Error(), "sftp: "), maxHeard))
	}
	return err
}

func (s *overSFTP) home(context.Context) (string, error) {
	dir, err := s.c.RealPath(".")
	return dir, refused(err)
}

func sftpMeta(st fs.FileInfo) meta {
	m := meta{name: st.Name(), mode: st.Mode(), size: st.Size(), uid: -1, gid: -1, changed: st.ModTime()}
	if own, ok := st.Sys().(*sftp.FileStat); ok {
		m.uid, m.gid = int(own.UID), int(own.GID)
	}
	return m
}

func (s *overSFTP) stat(_ context.Context, name string) (meta, error) {
	st, err := s.c.Stat(name)
	if err != nil {
		return meta{}, refused(err)
	}
	return sftpMeta(st), nil
}

func (s *overSFTP) lstat(_ context.Context, name string) (meta, error) {
	st, err := s.c.Lstat(name)
	if err != nil {
		return meta{}, refused(err)
	}
	return sftpMeta(st), nil
}

func (s *overSFTP) real(_ context.Context, name string) (string, error) {
	to, err := s.c.RealPath(name)
	return to, refused(err)
}

func (s *overSFTP) list(ctx context.Context, dir string) (all []meta, err error) {
	names, err := s.c.ReadDirContext(ctx, dir)
	if err != nil {
		return nil, refused(err)
	}
	if len(names) > maxNames {
		return nil, tooManyNames()
	}
	for _, st := range names {
		all = append(all, sftpMeta(st))
	}
	return all, nil
}

func tooManyNames() error {
	return fault(files.CodeTooLarge, "the directory has more than %d names", maxNames)
}

func (s *overSFTP) read(ctx context.Context, name string, w io.Writer) error {
	return s.readAll(ctx, name, w, shrunk)
}

// readAll reads a file, and asks about it once n bytes were read.
func (s *overSFTP) readAll(ctx context.Context, name string, w io.Writer, asks func(f statter, n int64) error) error {
	var p pace
	began := time.Now()
	f, err := s.c.Open(name)
	if p.took(began); err != nil {
		return refused(err)
	}
	defer f.Close()
	count := &countWriter{w: w}
	done, err := s.readFar(ctx, f, p, count)
	if !done {
		_, err = f.WriteTo(count)
	}
	if err != nil {
		return refused(err)
	}
	return asks(f, count.n)
}

type statter interface{ Stat() (fs.FileInfo, error) }

// shrunk reports that a file of which n bytes were read is shorter by now: what was read is neither the old file nor the new one.
func shrunk(f statter, n int64) error {
	if st, err := f.Stat(); err == nil && st.Size() < n {
		return errGrown
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

func (s *overSFTP) readSmall(ctx context.Context, name string, size int64) ([]byte, error) {
	if size == 0 { // as of files that the kernel makes up
		b := &capped{}
		err := s.readAll(ctx, name, b, func(statter, int64) error { return nil })
		return b.Bytes(), err
	}
	f, err := s.c.Open(name)
	if err != nil {
		return nil, refused(err)
	}
	defer f.Close()
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, refused(err)
	}
	return b[:n], nil
}

func (s *overSFTP) mkdir(_ context.Context, name string) error {
	return s.explained(name, 0, s.c.Mkdir(name))
}

func (s *overSFTP) create(ctx context.Context, temp string, in incoming) error {
	f, err := s.c.OpenFile(temp, os.O_RDWR|in.flags())
	if err != nil {
		return s.explained(temp, in.size, err)
	}
	err = s.fill(ctx, f, in)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = cerr
	}
	return s.explained(temp, in.size, err)
}

func (s *overSFTP) fill(ctx context.Context, f *sftp.File, in incoming) error {
	var p pace
	began := time.Now()
	if err := f.Chmod(in.mode); err != nil { // before there is anything to see
		return err
	}
	p.took(began)
	if in.r == nil {
		return s.fillSmall(f, in)
	}
	n, err := s.send(ctx, f, p, in)
	if err != nil {
		return err
	}
	n += in.offset
	// Parts are written at the same time: a hole would show in the size only at the end.
	st, err := f.Stat()
	if err == nil && st.Size() != n {
		err = fmt.Errorf("%d of %d bytes have arrived", st.Size(), n)
	}
	if err != nil {
		return err
	}
	if in.verify {
		again := sha256.New()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := f.WriteTo(again); err != nil {
			return err
		}
		if !bytes.Equal(again.Sum(nil), in.sum()) {
			return errStored
		}
	}
	if in.fsync && s.fsync {
		return f.Sync()
	}
	return nil
}

// send writes what in has to read, and returns how much that is.
func (s *overSFTP) send(ctx context.Context, f *sftp.File, p pace, in incoming) (int64, error) {
	if all, done := s.writers(ctx, f, p, in); len(all) > 1 {
		defer done()
		n, err := spread(all, in.r, in.offset, s.first.block)
		return n, s.laneEnded(err)
	}
	if _, err := f.Seek(in.offset, io.SeekStart); err != nil {
		return 0, err
	}
	return f.ReadFromWithConcurrency(in.r, requests)
}

// fillSmall needs few requests: each costs the server as much as some kilobytes.
func (s *overSFTP) fillSmall(f *sftp.File, in incoming) error {
	if len(in.data) > 0 {
		if _, err := f.WriteAt(in.data, 0); err != nil {
			return err
		}
	}
	if in.verify && len(in.data) > 0 {
		again := make([]byte, len(in.data))
		if n, err := f.ReadAt(again, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if !bytes.Equal(again[:n], in.data) {
			return errStored
		}
	}
	if in.fsync && s.fsync {
		return f.Sync()
	}
	return nil
}

const needsNoSpace = -1

// explained finds out whether a failure that the server does not explain is a full disk, or a file system that is read-only.
func (s *overSFTP) explained(name string, size int64, err error) error {
	status, ok := errors.AsType[*sftp.StatusError](err)
	if !ok || status.Code != uint32(sftp.ErrSSHFxFailure) {
		return refused(err)
	}
	if _, ok := s.c.HasExtension(extSpace); ok {
		v, verr := s.c.StatVFS(name[:strings.LastIndexByte(name, '/')+1])
		switch {
		case verr != nil:
		case v.Flag&flagReadOnly != 0:
			return fault(files.CodePermission, "the file system is read-only")
		case size >= 0 && (v.Frsize*v.Bavail < uint64(size) || v.Files > 0 && v.Favail == 0):
			return fault(files.CodeNoSpace, "no space left on the device")
		}
	}
	return refused(err)
}

func (s *overSFTP) dress(_ context.Context, temp string, mode fs.FileMode, uid, gid int) error {
	own := func() error {
		if uid >= 0 && s.c.Chown(temp, uid, gid) != nil {
			return wrongOwner(uid, gid)
		}
		return nil
	}
	permit := func() error { return refused(s.c.Chmod(temp, mode)) }
	if mode&^fs.ModePerm == 0 { // in the time of one
		failed := make([]error, 2)
		each(2, 2, func(i int) { failed[i] = []func() error{own, permit}[i]() })
		return cmp.Or(failed...)
	}
	if err := own(); err != nil { // which takes set-uid and set-gid away (chown(2))
		return err
	}
	return permit()
}

func (s *overSFTP) stamp(_ context.Context, name string, when time.Time) error {
	return refused(s.c.Chtimes(name, time.Now(), when))
}

func (s *overSFTP) rename(_ context.Context, temp, name string) error {
	return refused(s.c.PosixRename(temp, name))
}

func (s *overSFTP) remove(_ context.Context, name string, dir bool) error {
	var err error
	if dir {
		err = s.c.RemoveDirectory(name)
	} else {
		err = s.c.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.explained(name, needsNoSpace, err)
}

// sync needs a program: sftp puts single files on disk, which takes long for many. Where that does not work, it does.
func (s *overSFTP) sync(ctx context.Context, dir string, names []string) error {
	var err error
	if safeWord(dir) {
		if _, err = s.program(ctx, program{what: "sync", line: "sync -f " + dir + " 2>/dev/null || sync", wait: syncWait}); err == nil || ctx.Err() != nil {
			return err
		}
	}
	if s.fsync {
		return s.syncEach(ctx, names)
	}
	var hungUp *errHungUp
	if errors.As(err, &hungUp) {
		return err
	}
	s.once.Do(func() { s.shell, _ = openShell(s.t, s.h) })
	if s.shell == nil {
		return errors.New("no shell can be started to put the files on disk")
	}
	return s.shell.sync(ctx, dir, names)
}

// syncEach puts files on disk one by one.
func (s *overSFTP) syncEach(ctx context.Context, names []string) error {
	failed := make([]error, len(names))
	each(s.width(), len(names), func(i int) {
		if failed[i] = ctxerr.Of(ctx); failed[i] != nil {
			return
		}
		f, err := s.c.OpenFile(names[i], os.O_RDWR)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		failed[i] = refused(err)
	})
	return errors.Join(failed...)
}
