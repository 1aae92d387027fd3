package hostfs

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
	"github.com/fairlead-ssh/fairlead/session"
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

	LargePacket  = 255 << 10 // with its head it fits
	manyRequests = 64        // of one file at a time
	filesAtATime = 64
	manyFiles    = 128 // of a server that takes large packets: such servers have room for more, and macOS for 251

	// MaxHole is how much of the end of a file may have holes whose writing was interrupted: parts are written at the same time.
	MaxHole = 2 * manyRequests * LargePacket
)

// SFTP is a host's sftp subsystem. The library knows no contexts: the end of that of openSFTP's caller, who calls
// close then, ends all that runs.
type SFTP struct {
	c               *sftp.Client // of the first channel
	first           *channel
	conn            Subsystems
	fsync           bool
	files, requests int // at a time

	t session.Transport
	h hosts.Host

	opening sync.WaitGroup // of channels besides the first

	mu         sync.Mutex // guards what follows
	asked      bool       // for those channels, or closed
	endOpening context.CancelFunc
	others     []*channel

	once  sync.Once // of shell
	shell *Shell
}

// openSFTP returns an error that wraps errors.ErrUnsupported where there is no such subsystem, or one of little use.
func openSFTP(ctx context.Context, t session.Transport, h hosts.Host, conn Subsystems, requests int) (*SFTP, error) {
	requests = cmp.Or(requests, manyRequests)
	began := time.Now()
	first, err := openChannel(ctx, conn, requests)
	if err != nil {
		return nil, err
	}
	s := &SFTP{c: first.c, first: first, conn: conn, t: t, h: h, files: filesAtATime, requests: requests, asked: time.Since(began) >= LaneWait}
	if _, ok := s.c.HasExtension(extRename); !ok {
		s.Close()
		return nil, fmt.Errorf("the sftp server cannot replace files atomically: %w", errors.ErrUnsupported)
	}
	_, s.fsync = s.c.HasExtension(extSync)
	if first.block == LargePacket {
		s.files = manyFiles
	}
	return s, nil
}

// Width implements FS.
func (s *SFTP) Width() int { return s.files }

// Close implements FS.
func (s *SFTP) Close() error {
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
		s.shell.Close()
	}
	return err
}

// lost reports whether an error of the library is that of a channel that has ended.
func lost(err error) bool {
	return errors.Is(err, sftp.ErrSSHFxConnectionLost) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed)
}

// Home implements FS.
func (s *SFTP) Home(context.Context) (string, error) {
	dir, err := s.c.RealPath(".")
	return dir, refused(err)
}

func sftpMeta(st fs.FileInfo) Meta {
	m := Meta{Name: st.Name(), Mode: st.Mode(), Size: st.Size(), UID: -1, GID: -1, Changed: st.ModTime(), Stamp: fmt.Sprint(st.Size(), st.ModTime().Unix())}
	if own, ok := st.Sys().(*sftp.FileStat); ok {
		m.UID, m.GID = int(own.UID), int(own.GID)
	}
	return m
}

// Stat implements FS.
func (s *SFTP) Stat(_ context.Context, name string) (Meta, error) {
	st, err := s.c.Stat(name)
	if err != nil {
		return Meta{}, refused(err)
	}
	return sftpMeta(st), nil
}

// Lstat implements FS.
func (s *SFTP) Lstat(_ context.Context, name string) (Meta, error) {
	st, err := s.c.Lstat(name)
	if err != nil {
		return Meta{}, refused(err)
	}
	return sftpMeta(st), nil
}

// Readlink implements FS.
func (s *SFTP) Readlink(_ context.Context, name string) (string, error) {
	to, err := s.c.ReadLink(name)
	return to, refused(err)
}

// Real implements FS. Servers resolve a last name that is not there, too.
func (s *SFTP) Real(_ context.Context, name string) (string, error) {
	to, err := s.c.RealPath(name)
	return to, refused(err)
}

// RealDir implements FS.
func (s *SFTP) RealDir(ctx context.Context, dir string) (string, error) {
	st, err := s.c.Stat(dir)
	if err != nil {
		return "", refused(err)
	}
	if !st.IsDir() {
		return "", notDirectory(dir)
	}
	return s.Real(ctx, dir)
}

// List implements FS. It holds all names before it gives the first: the library reads a directory to its end, which a server decides.
// Where that is not trusted see Pages.
func (s *SFTP) List(ctx context.Context, dir string, take func(Meta) error) error {
	names, err := s.c.ReadDirContext(ctx, dir)
	if err != nil {
		return refused(err)
	}
	for _, st := range names {
		if err := take(sftpMeta(st)); err != nil {
			return err
		}
	}
	return nil
}

// Read implements FS.
func (s *SFTP) Read(ctx context.Context, name string, part Part, w io.Writer) error {
	var p pace
	began := time.Now()
	f, err := s.c.Open(name)
	if p.took(began); err != nil {
		return refused(err)
	}
	defer f.Close()
	if !part.whole() {
		return refused(readPart(ctx, w, f, part))
	}
	count := &countWriter{w: w}
	done, err := s.readFar(ctx, f, p, count)
	if !done {
		_, err = f.WriteTo(count)
	}
	if err == nil && part.Size > 0 {
		err = shrunk(f, count.n)
	}
	return refused(err)
}

// ReadSmall implements FS.
func (s *SFTP) ReadSmall(ctx context.Context, name string, size int64) ([]byte, error) {
	if size == 0 { // as of files that the kernel makes up
		b := &capped{}
		err := s.Read(ctx, name, Whole(0), b)
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

// Mkdir implements FS.
func (s *SFTP) Mkdir(_ context.Context, name string) error {
	if err := s.explained(name, 0, s.c.Mkdir(name)); err != nil {
		return err
	}
	return refused(s.c.Chmod(name, 0o700)) // the server has made it for everybody, as far as its umask lets it
}

// Create implements FS.
func (s *SFTP) Create(ctx context.Context, temp string, in Content) error {
	f, err := s.c.OpenFile(temp, os.O_RDWR|in.flags())
	if err != nil {
		return s.explained(temp, in.Size, err)
	}
	err = s.fill(ctx, f, in)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = cerr
	}
	return s.explained(temp, in.Size, err)
}

func (s *SFTP) fill(ctx context.Context, f *sftp.File, in Content) error {
	var p pace
	began := time.Now()
	if err := f.Chmod(in.Mode); err != nil { // before there is anything to see
		return err
	}
	p.took(began)
	if in.R == nil {
		return s.fillSmall(f, in)
	}
	n, err := s.send(ctx, f, p, in)
	if err != nil {
		return err
	}
	n += in.Offset
	// Parts are written at the same time: a hole would show in the size only at the end.
	st, err := f.Stat()
	if err == nil && st.Size() != n {
		err = fmt.Errorf("%d of %d bytes have arrived", st.Size(), n)
	}
	if err != nil {
		return err
	}
	if in.Verify {
		again := sha256.New()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := f.WriteTo(again); err != nil {
			return err
		}
		if !bytes.Equal(again.Sum(nil), in.sum()) {
			return ErrStored
		}
	}
	if in.Fsync && s.fsync {
		return f.Sync()
	}
	return nil
}

// send writes what in has to read, and returns how much that is.
func (s *SFTP) send(ctx context.Context, f *sftp.File, p pace, in Content) (int64, error) {
	if all, done := s.writers(ctx, f, p, in); len(all) > 1 {
		defer done()
		n, err := spread(all, in.R, in.Offset, s.first.block)
		return n, s.laneEnded(err)
	}
	if _, err := f.Seek(in.Offset, io.SeekStart); err != nil {
		return 0, err
	}
	return f.ReadFromWithConcurrency(in.R, s.requests)
}

// fillSmall needs few requests: each costs the server as much as some kilobytes.
func (s *SFTP) fillSmall(f *sftp.File, in Content) error {
	if len(in.Data) > 0 {
		if _, err := f.WriteAt(in.Data, 0); err != nil {
			return err
		}
	}
	if in.Verify && len(in.Data) > 0 {
		again := make([]byte, len(in.Data))
		if n, err := f.ReadAt(again, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if !bytes.Equal(again[:n], in.Data) {
			return ErrStored
		}
	}
	if in.Fsync && s.fsync {
		return f.Sync()
	}
	return nil
}

const needsNoSpace = -1

// explained finds out whether a failure that the server does not explain is a full disk, or a file system that is read-only.
func (s *SFTP) explained(name string, size int64, err error) error {
	status, ok := errors.AsType[*sftp.StatusError](err)
	if !ok || status.Code != uint32(sftp.ErrSSHFxFailure) {
		return refused(err)
	}
	if _, ok := s.c.HasExtension(extSpace); ok {
		v, verr := s.c.StatVFS(name[:strings.LastIndexByte(name, '/')+1])
		switch {
		case verr != nil:
		case v.Flag&flagReadOnly != 0:
			return errReadOnly
		case size >= 0 && (v.Frsize*v.Bavail < uint64(size) || v.Files > 0 && v.Favail == 0):
			return errNoSpace
		}
	}
	return refused(err)
}

// Dress implements FS.
func (s *SFTP) Dress(ctx context.Context, temp string, c Clothes) error {
	own := func() error {
		if c.UID < 0 || s.c.Chown(temp, c.UID, c.GID) == nil {
			return nil
		}
		if now, err := s.Lstat(ctx, temp); err != nil || now.UID != c.UID || now.GID != c.GID {
			return cmp.Or(err, wrongOwner(c))
		}
		return nil
	}
	permit := func() error { return refused(s.c.Chmod(temp, c.Mode)) }
	if c.Mode&^fs.ModePerm == 0 { // in the time of one
		failed := make([]error, 2)
		Each(2, 2, func(i int) { failed[i] = []func() error{own, permit}[i]() })
		return cmp.Or(failed...)
	}
	if err := own(); err != nil { // which takes set-uid and set-gid away (chown(2))
		return err
	}
	return permit()
}

// Stamp implements FS.
func (s *SFTP) Stamp(_ context.Context, name string, when time.Time) error {
	return refused(s.c.Chtimes(name, time.Now(), when))
}

// Rename implements FS.
func (s *SFTP) Rename(_ context.Context, temp, name string) error {
	err := refused(s.c.PosixRename(temp, name))
	var no *statusError
	if err != nil && !errors.As(err, &no) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return &unanswered{err}
	}
	return err
}

// Remove implements FS.
func (s *SFTP) Remove(_ context.Context, name string, dir bool) error {
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

// Sync implements FS. It needs a program: sftp puts single files on disk, which takes long for many. Where that does not work, it does.
func (s *SFTP) Sync(ctx context.Context, dir string, names []string) error {
	var err error
	if safeWord(dir) {
		if _, err = s.Program(ctx, Program{What: "sync", Line: "sync -f " + dir + " 2>/dev/null || sync", Wait: SyncWait}); err == nil || ctx.Err() != nil {
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
	s.once.Do(func() { s.shell, _ = OpenShell(s.t, s.h) })
	if s.shell == nil {
		return errors.New("no shell can be started to put the files on disk")
	}
	return s.shell.Sync(ctx, dir, names)
}

// syncEach puts files on disk one by one.
func (s *SFTP) syncEach(ctx context.Context, names []string) error {
	failed := make([]error, len(names))
	Each(s.Width(), len(names), func(i int) {
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
