package copies

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// making is a new file: its temporary name, the one that it gets, and what it is dressed with.
type making struct {
	temp, to string
	hostfs.Clothes
	when time.Time // that of the last change; zero is the present
}

// prepare finds out how a file is to be made.
func (u *uploading) prepare(ctx context.Context, n int, in *hostfs.Content) (making, error) {
	old, err := u.old(ctx, u.target(n))
	if err != nil {
		return making{}, err
	}
	return u.prepareOver(ctx, n, in, old)
}

// prepareOver is prepare where it is known what stands in the file's place.
func (u *uploading) prepareOver(ctx context.Context, n int, in *hostfs.Content, old *hostfs.Meta) (m making, err error) {
	e, to := &u.p.Entries[n], u.target(n)
	m = making{temp: u.note.temp(to), to: to}
	if u.p.Resume && in.R != nil {
		if m.temp, in.Offset, err = u.partial(ctx, to, e, in.R); err != nil {
			return m, err
		}
	}
	m.Clothes = u.dress(e, old)
	m.when = e.Modified
	in.Mode = m.Mode & fs.ModePerm
	in.Verify = u.p.Verify || in.Size <= verifySize
	in.Fsync = u.fsyncs()
	return m, nil
}

// file puts one file in its place, or where it waits for the disk.
func (u *uploading) file(ctx context.Context, n int, in hostfs.Content, r *fileReader) error {
	m, err := u.prepare(ctx, n, &in)
	if err != nil {
		return err
	}
	began := time.Now()
	err = u.r.Create(ctx, m.temp, in)
	if in.Fsync && err == nil {
		u.syncTook(time.Since(began), in.Size)
	}
	return u.finish(ctx, n, m, in, r, err)
}

// finish puts a file in its place that was made without err.
func (u *uploading) finish(ctx context.Context, n int, m making, in hostfs.Content, r *fileReader, err error) error {
	e := &u.p.Entries[n]
	if err == nil && (r.err == nil || !errors.Is(r.err, io.EOF)) {
		err = errCut
	}
	if err == nil && in.R != nil && r.n != e.Size {
		err = hostfs.ErrChanged
	}
	sum := r.sum()
	if err == nil && e.SHA256 != "" && hex.EncodeToString(sum) != e.SHA256 {
		err = fault(files.CodeConflict, "the source is not what was approved: its content has changed")
	}
	if err == nil && (m.UID >= 0 || m.Mode != in.Mode) {
		err = u.r.Dress(ctx, m.temp, m.Clothes)
	}
	if err == nil && !m.when.IsZero() {
		err = u.r.Stamp(ctx, m.temp, m.when)
	}
	if err == nil && u.p.IfSHA256 != "" {
		err = u.expected(ctx, m.to)
	}
	if err != nil && u.p.Resume && in.R != nil && interrupted(ctx, r.err) {
		return err // and what has come stays
	}
	if err != nil {
		return u.undo(ctx, m.temp, err)
	}
	report := Report{Done: Copied, Path: m.to, Name: e.Name, Size: r.n, Mode: fmt.Sprintf("%04o", Octal(m.Mode)), SHA256: hex.EncodeToString(sum)}
	u.mu.Lock()
	u.done[n] = report
	u.mu.Unlock()
	if in.Fsync {
		return u.place(ctx, waitingFile{n, hostfs.Move{From: m.temp, To: m.to}})
	}
	u.mu.Lock()
	u.waiting = append(u.waiting, waitingFile{n, hostfs.Move{From: m.temp, To: m.to}})
	u.mu.Unlock()
	return nil
}

// expected compares what is at a path with what the plan expects, as late as can be.
func (u *uploading) expected(ctx context.Context, to string) error {
	sum := &hashing{h: newHash()}
	if err := u.r.Read(ctx, to, hostfs.Whole(0), sum); err != nil {
		return err
	}
	if got := sum.hex(); got != u.p.IfSHA256 {
		return fault(files.CodeConflict, "its content on the host is not the expected one: its sha256 is %s, not %s", got, u.p.IfSHA256)
	}
	return nil
}

// old is what is at a path; nil where nothing is.
func (u *uploading) old(ctx context.Context, to string) (*hostfs.Meta, error) {
	if u.made[path.Dir(to)] {
		return nil, nil
	}
	st, err := u.r.Lstat(ctx, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return replaceable(st)
}

// replaceable is what a file can take the place of.
func replaceable(st hostfs.Meta) (*hostfs.Meta, error) {
	switch {
	case st.Mode.IsRegular():
		return &st, nil
	case st.Mode.IsDir():
		return nil, fault(files.CodeDirectory, "it is a directory on the host")
	case st.Mode&fs.ModeSymlink != 0:
		return nil, fault(files.CodeConflict, "it is a symbolic link on the host, which is not followed")
	}
	return nil, fault(files.CodeSpecial, "it is a device, a FIFO or a socket on the host")
}

// dress is the mode of a new file, and its owner: that of the old one.
func (u *uploading) dress(e *Entry, old *hostfs.Meta) hostfs.Clothes {
	c := hostfs.Clothes{Mode: fileplan.Mode(e.Mode) & fs.ModePerm, UID: u.uid, GID: u.gid}
	if u.hasMode {
		c.Mode = u.mode
	}
	if c.UID < 0 && old != nil {
		c.UID, c.GID = old.UID, old.GID
	}
	return c
}

// fsyncs reports whether the next file is put on disk by itself.
func (u *uploading) fsyncs() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.slow
}

// syncTook learns how long the host takes to put a file on disk.
func (u *uploading) syncTook(took time.Duration, size int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.synced++
	if u.synced >= fewSyncs && size <= hostfs.SmallFile && u.p.files() > 2*fewSyncs && took > slowSync {
		u.slow = true
	}
}

// place gives a file its name.
func (u *uploading) place(ctx context.Context, f waitingFile) error {
	if ctx.Err() != nil {
		return u.undo(ctx, f.From, ctxerr.Of(ctx))
	}
	if err := u.r.Rename(ctx, f.From, f.To); err != nil {
		return u.undo(ctx, f.From, err)
	}
	u.placed(f)
	return nil
}

// placed reports a file that has got its name.
func (u *uploading) placed(f waitingFile) {
	u.mu.Lock()
	report := u.done[f.n]
	u.mu.Unlock()
	u.rep.tell(report)
}

// settle puts files that wait on disk, and gives them their names; after an error it removes them.
func (u *uploading) settle(ctx context.Context, err error) error {
	waiting := u.waiting
	u.waiting = nil
	if len(waiting) == 0 {
		return nil
	}
	if err == nil {
		names := make([]string, len(waiting))
		for i, f := range waiting {
			names[i] = f.From
		}
		err = u.r.Sync(ctx, u.syncDir(), names)
	}
	if m, ok := u.r.(hostfs.ManyAtOnce); ok && err == nil {
		waiting = u.placeAll(ctx, m, waiting)
	}
	for _, f := range waiting {
		u.slots <- struct{}{}
		u.wg.Go(func() {
			defer func() { <-u.slots }()
			if err != nil {
				_ = u.undo(ctx, f.From, err)
			} else if perr := u.place(ctx, f); perr != nil {
				u.fail(f.n, perr)
			}
		})
	}
	u.wg.Wait()
	if err == nil {
		err = u.fatal()
	}
	return err
}

func (u *uploading) syncDir() string {
	if u.into || u.p.Entries[0].Dir {
		return u.base
	}
	return path.Dir(u.base)
}

// undo takes a temporary file away after err.
func (u *uploading) undo(ctx context.Context, temp string, err error) error {
	if errors.Is(err, session.ErrClosed) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if rerr := u.r.Remove(ctx, temp, false); rerr != nil && !errors.Is(rerr, session.ErrClosed) {
		return fmt.Errorf("%w; the unfinished %s could not be removed: remove it", err, temp)
	}
	return err
}
