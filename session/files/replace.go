package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
)

// replace writes content beside i's file and gives it its name.
func (f *Host) replace(ctx context.Context, i Info, content []byte, o WriteOptions) (Info, error) {
	temp := path.Join(path.Dir(i.Target), tempPrefix+strings.ToLower(rand.Text()[:16]))
	if err := f.b.create(ctx, temp, content); err != nil {
		return i, f.undo(ctx, temp, err)
	}
	// As late as can be.
	if err := f.recheck(ctx, &i, o.If); err != nil {
		return i, f.undo(ctx, temp, err)
	}
	mode := NewMode
	uid, gid := -1, -1
	if i.Kind != None {
		mode, uid, gid = i.Mode, i.uid, i.gid
	}
	if o.Mode != nil {
		mode = *o.Mode & modeBits
	}
	if err := f.b.adopt(ctx, temp, i.Target, mode, uid, gid); err != nil {
		return i, f.undo(ctx, temp, err)
	}
	f.tidy(ctx, path.Dir(i.Target), i.Target)
	sum := sha256.Sum256(content)
	i.Kind, i.Size, i.Mode, i.SHA256 = Regular, int64(len(content)), mode, hex.EncodeToString(sum[:])
	return i, nil
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
		if now, err = f.read(ctx, i.Path, 0, -1, 0, io.Discard); err != nil {
			return err
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
	if rerr := f.b.remove(uctx, temp); rerr != nil {
		return left(ctx, err, temp)
	}
	return err
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
