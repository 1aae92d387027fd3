package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// replace writes content beside i's file and gives it its name.
func (f *Host) replace(ctx context.Context, i Info, content []byte, o WriteOptions) (Info, error) {
	temp := path.Join(path.Dir(i.Target), tempPrefix+id.Secret()[:16])
	err := f.way.do(ctx, func(fs hostfs.FS) error {
		return fs.Create(ctx, temp, hostfs.Content{Data: content, Size: int64(len(content)), Mode: 0o600, Fsync: true})
	})
	if err != nil {
		return i, f.undo(ctx, temp, err)
	}
	sum := sha256.Sum256(content)
	err = f.arrived(ctx, temp, content, sum)
	if err == nil {
		err = f.dress(ctx, temp, i, o.Mode)
	}
	if err == nil {
		was := i
		// As late as can be: what is left is the moment before the rename.
		if err = f.recheck(ctx, &i, o.If); err == nil && (i.uid != was.uid || i.gid != was.gid || modeFor(i, o.Mode) != modeFor(was, o.Mode)) {
			err = f.dress(ctx, temp, i, o.Mode)
		}
	}
	if err == nil {
		err = f.way.rename(ctx, temp, i.Target)
	}
	if err != nil {
		return i, f.undo(ctx, temp, err)
	}
	i.Kind, i.Size, i.Mode, i.SHA256 = Regular, int64(len(content)), modeFor(i, o.Mode), hex.EncodeToString(sum[:])
	return i, nil
}

// arrived reads the new file back: what takes the place of the old one must be what was sent.
func (f *Host) arrived(ctx context.Context, temp string, content []byte, want [sha256.Size]byte) error {
	sum := &counter{w: io.Discard, h: sha256.New(), most: int64(len(content)) + 1}
	err := f.way.read(ctx, Info{Target: temp}, 0, -1, sum)
	if err != nil && sum.n <= sum.most {
		return err
	}
	if got := sum.h.Sum(nil); sum.n != int64(len(content)) || !bytes.Equal(got, want[:]) {
		return fault(CodeError, "what the host has stored is not what was sent: the old file was left as it was")
	}
	return nil
}

// modeFor is the mode of new content. Like a program's write, it takes set-uid and set-gid away where they are not asked for:
// they were given to the old content.
func modeFor(old Info, asked *fs.FileMode) fs.FileMode {
	switch {
	case asked != nil:
		return *asked & modeBits
	case old.Kind == None:
		return NewMode
	}
	return old.Mode &^ (fs.ModeSetuid | fs.ModeSetgid)
}

// dress gives the new file the mode that it is to have, and the owner of the old one.
func (f *Host) dress(ctx context.Context, temp string, old Info, asked *fs.FileMode) error {
	uid, gid := -1, -1
	if old.Kind != None {
		uid, gid = old.uid, old.gid
	}
	return f.way.do(ctx, func(fs hostfs.FS) error {
		return fs.Dress(ctx, temp, hostfs.Clothes{Mode: modeFor(old, asked), UID: uid, GID: gid})
	})
}

// recheck looks again at what is there, and compares its hash where one is expected.
func (f *Host) recheck(ctx context.Context, i *Info, x Expect) error {
	now, err := f.resolve(ctx, i.Path)
	if err != nil {
		return err
	}
	if x.Target == "" {
		x.Target = i.Target
	}
	if now.Kind != None {
		if err := now.mustBeFile(); err != nil {
			return err
		}
	}
	if x.SHA256 != "" && now.Kind == Regular {
		if now, err = f.readAt(ctx, now, 0, -1, 0, io.Discard); err != nil {
			return err
		}
		// Reading takes time, in which others may write.
		last, err := f.way.lstat(ctx, now.Target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || last.stamp != now.stamp || last.Kind != now.Kind {
			return fault(CodeConflict, "a program on the host changes it at this moment")
		}
	}
	*i = now
	return x.check(now)
}

// undo takes the new file away after err, also when ctx has ended. Where that fails too it says so.
func (f *Host) undo(ctx context.Context, temp string, err error) error {
	if errors.Is(err, session.ErrUnknownOutcome) {
		return err
	}
	uctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
	defer cancel()
	if f.way.remove(uctx, temp) == nil {
		return err
	}
	if _, lerr := f.way.lstat(uctx, temp); errors.Is(lerr, fs.ErrNotExist) {
		return err
	}
	return left(ctx, err, temp)
}

// left adds to an error that a file is left behind.
func left(ctx context.Context, err error, temp string) error {
	err = at(ctx, "write", temp, err)
	var e *Error
	if errors.As(err, &e) {
		n := *e
		n.Op, n.Path = "", ""
		n.Err = &leftBehind{n.Err, temp}
		return &n
	}
	return err
}

type leftBehind struct {
	error
	temp string
}

func (e *leftBehind) Error() string {
	return e.error.Error() + "; the unfinished " + e.temp + " could not be removed: remove it"
}
func (e *leftBehind) Unwrap() error { return e.error }
