package audit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Checker is a Sink that can say whether a request could be recorded now. Check records nothing.
type Checker interface {
	Sink
	Check(ctx context.Context) error
}

// Check returns why s could not record a request now; nil where it could, and where s is no Checker.
func Check(ctx context.Context, s Sink) error {
	if c, ok := s.(Checker); ok {
		return c.Check(ctx)
	}
	return nil
}

const (
	// roomHolds is how long the answer that the disk has room is good for.
	roomHolds = time.Second
	// roomWanted is what an entry of everyday size takes.
	roomWanted = 4 << 10
)

// Check returns why a request could not be recorded now, and nil where nothing speaks against it. It changes nothing in
// the chain, but for results that waited to be written. Errors are those of Record.
func (f *File) Check(context.Context) error {
	if err := f.deliver(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return unavailable("write", f.path, ErrClosed, "")
	}
	if err := f.failed(); err != nil {
		return err
	}
	if err := f.take(true); err != nil {
		return err
	}
	defer f.release()
	if f.refused {
		return f.retry()
	}
	return f.room()
}

// retry finds out whether the fault that kept the last entry out is still there. What it writes is taken back. The lock is held.
func (f *File) retry() error {
	if now := f.cfg.Now(); f.full(now) {
		return f.rotate(now)
	}
	_, err := f.data.Write(make([]byte, roomWanted))
	f.takeBack()
	if err != nil {
		return unavailable("write", f.path, err, doSpace)
	}
	if err := f.moveHead(f.end, false); err != nil {
		return err
	}
	f.refused = false
	return nil
}

// room finds out whether the disk takes more, with a file that has no name for longer than it takes to remove it. That no
// file can be made is said only where that comes from the disk.
func (f *File) room() error {
	now := time.Now()
	if now.Sub(f.roomy) < roomHolds {
		return nil
	}
	tmp, err := os.CreateTemp(f.dir, ".room-*")
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return nil
	}
	if err != nil {
		return unavailable("write", f.dir, err, doSpace)
	}
	gone := os.Remove(tmp.Name()) == nil // not on windows, as long as it is open
	_, err = tmp.Write(make([]byte, roomWanted))
	if e := tmp.Close(); err == nil {
		err = e
	}
	if !gone {
		_ = os.Remove(tmp.Name())
	}
	if err != nil {
		return unavailable("write", f.dir, err, doSpace)
	}
	f.roomy = now
	return nil
}

// Check is as File's. A place that must acknowledge requests, and did not when it was last asked, speaks against it too.
func (t *Tee) Check(ctx context.Context) error {
	if err := t.f.Check(ctx); err != nil {
		return err
	}
	for _, p := range t.places {
		if err := p.lost.Load(); err != nil && p.Required != Never {
			return t.refusal(p, *err)
		}
	}
	return nil
}
