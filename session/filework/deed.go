package filework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// Open implements seam.Action.
func (w *Work) Open(ctx context.Context, t session.Transport, h hosts.Host) (seam.Deed, error) {
	host := w.patience
	if w.left.Load() {
		host = newPatience(-1)
	}
	bound, stop := host.bound(ctx)
	defer stop()
	f, err := files.Open(bound, t, h)
	if err != nil {
		if bound.Err() != nil && ctx.Err() == nil {
			err = host.over()
		}
		return nil, err
	}
	return &deed{w, f}, nil
}

// deed is a Work that is ready.
type deed struct {
	w *Work
	f *files.Host
}

func (d *deed) Close() error { return d.f.Close() }

func (d *deed) Do(ctx context.Context, out io.Writer) error {
	got, err := d.do(ctx, out)
	if err != nil {
		return d.w.asSessionError(err)
	}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	d.w.got = got
	return nil
}

func (d *deed) do(ctx context.Context, out io.Writer) (files.Info, error) {
	w, r := d.w, &d.w.req
	o := files.WriteOptions{Mode: r.Mode, If: files.Expect{
		SHA256: r.IfSHA256, Target: w.seen.Target, New: w.seen.Kind == files.None, Old: w.seen.Kind != files.None,
	}}
	switch r.Op {
	case look:
		path, err := d.absolute(ctx)
		if err != nil {
			return files.Info{}, err
		}
		return d.f.Look(ctx, path)
	case List:
		return d.list(ctx, out)
	case check:
		return d.f.Check(ctx, w.path, r.Old, o.If)
	case Write:
		return d.f.Write(ctx, w.path, r.Content, o)
	case Edit:
		return d.f.Edit(ctx, w.path, r.Old, r.New, o)
	}
	// First whole, then shown: what is not what was judged must not be seen.
	whole := output.NewSpool(output.SpoolConfig{Limit: -1})
	defer whole.Close()
	i, err := d.f.Read(ctx, w.path, 0, -1, MaxFile, whole)
	if err == nil {
		err = w.still("read", i)
	}
	if err == nil {
		err = whole.Err()
	}
	if err == nil {
		_, err = io.CopyN(out, io.NewSectionReader(whole, 0, whole.Total()), whole.Total())
	}
	return i, err
}

func (d *deed) list(ctx context.Context, out io.Writer) (files.Info, error) {
	var all lines
	defer all.drop()
	i, err := d.f.Names(ctx, d.w.path, MaxNames, all.add)
	if err == nil {
		err = d.w.still("list", i)
	}
	if err == nil {
		err = all.write(out)
	}
	return i, err
}

// still refuses what is not what was judged.
func (w *Work) still(op string, i files.Info) error {
	if i.Target == w.seen.Target {
		return nil
	}
	return &files.Error{Op: op, Path: w.path, Code: files.CodeConflict, Err: fmt.Errorf("it leads to %q now, and not to %q any more", i.Target, w.seen.Target)}
}

// absolute is the path of a look, without following anything.
func (d *deed) absolute(ctx context.Context) (string, error) {
	p, home := d.w.path, d.w.path == "~" || strings.HasPrefix(d.w.path, "~/")
	if strings.HasPrefix(p, "/") {
		return p, nil
	}
	if d.w.dir != "" && !home {
		return strings.TrimSuffix(d.w.dir, "/") + "/" + p, nil
	}
	dir, err := d.f.Home(ctx)
	if err != nil {
		return "", err
	}
	if home {
		p = strings.TrimPrefix(p[1:], "/")
	}
	return strings.TrimSuffix(dir, "/") + "/" + p, nil
}

// asSessionError tells a session what became of it.
func (w *Work) asSessionError(err error) error {
	var e *files.Error
	if !errors.As(err, &e) || errors.Is(err, session.ErrUnknownOutcome) || errors.Is(err, session.ErrClosed) {
		return err
	}
	// What others changed meanwhile is there to be read now; what the caller expects will not come back.
	again := e.Code == registry.CodeFull || e.Code == files.CodeConflict && w.req.IfSHA256 == "" && !w.req.IfNew
	return &session.Error{Code: e.Code, Retriable: again, Err: e}
}
