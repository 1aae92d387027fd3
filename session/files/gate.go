package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Remote is the files of a host behind the gate of a pool's sessions: what is done is judged, approved where the policy
// asks for that, and recorded, as a command that does the same would be. It may be used concurrently.
//
// Each method first finds out where the path leads, which passes the gate by itself as reading does, and does its work
// only if the path still leads there. Errors are *[session.Error] that wrap an *[Error] where the host said no.
type Remote struct {
	pool   *session.Pool
	host   hosts.Host
	reason string
}

// On returns the files of a host that a pool reaches. It connects with the first call.
func On(p *session.Pool, h hosts.Host) *Remote { return &Remote{pool: p, host: h} }

// Because returns r with a reason to record in the audit log, and to show who approves.
func (r *Remote) Because(reason string) *Remote {
	with := *r
	with.reason = reason
	return &with
}

// Look tells where a path leads and what is there, which may be nothing.
func (r *Remote) Look(ctx context.Context, path string) (Info, error) {
	s, err := r.pool.OpenOnce(r.host)
	if err != nil {
		return Info{}, err
	}
	defer s.Close()
	return r.look(ctx, s, path)
}

// Read writes a file to w, whole, once all of it has come. It may have MaxEdit bytes.
func (r *Remote) Read(ctx context.Context, path string, w io.Writer) (Info, error) {
	return r.run(ctx, fileplan.Plan{Op: fileplan.Read, Path: path}, Expect{}, w, func(ctx context.Context, f *Host, seen Info, out io.Writer) (Info, error) {
		var whole bytes.Buffer
		i, err := f.Read(ctx, path, 0, -1, MaxEdit, &whole)
		if err = still("read", seen, i, err); err != nil {
			return i, err
		}
		_, err = whole.WriteTo(out)
		return i, err
	})
}

// Write gives a file new content, and makes it if it is not there. The Info is that of the new file.
func (r *Remote) Write(ctx context.Context, path string, content []byte, o WriteOptions) (Info, error) {
	plan := fileplan.Plan{Op: fileplan.Write, Path: path, Content: content, Mode: o.Mode, IfSHA256: o.If.SHA256}
	if err := o.check(); err != nil {
		return Info{}, r.invalid(ctx, "write", path, err)
	}
	return r.run(ctx, plan, o.If, nil, func(ctx context.Context, f *Host, seen Info, _ io.Writer) (Info, error) {
		return f.Write(ctx, path, content, o.as(seen))
	})
}

// Edit replaces old, which must be in the file exactly once, by new. Bytes are compared as they are.
func (r *Remote) Edit(ctx context.Context, path string, old, new []byte, o WriteOptions) (Info, error) {
	plan := fileplan.Plan{Op: fileplan.Edit, Path: path, Old: old, New: new, Mode: o.Mode, IfSHA256: o.If.SHA256}
	if err := o.check(); err != nil {
		return Info{}, r.invalid(ctx, "edit", path, err)
	}
	return r.run(ctx, plan, o.If, nil, func(ctx context.Context, f *Host, seen Info, _ io.Writer) (Info, error) {
		return f.Edit(ctx, path, old, new, o.as(seen))
	})
}

// List returns what is in a directory, at most MaxNames names.
func (r *Remote) List(ctx context.Context, path string) ([]Name, error) {
	var all []Name
	_, err := r.run(ctx, fileplan.Plan{Op: fileplan.List, Path: path}, Expect{}, nil, func(ctx context.Context, f *Host, seen Info, _ io.Writer) (Info, error) {
		all = nil
		i, err := f.Names(ctx, path, MaxNames, func(n Name) error { all = append(all, n); return nil })
		return i, still("list", seen, i, err)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// as is o for a file that was judged as seen says: what others change meanwhile is noticed.
func (o WriteOptions) as(seen Info) WriteOptions {
	if o.If.Target == "" {
		o.If.Target = seen.Target
	}
	o.If.New, o.If.Old = o.If.New || seen.Kind == None, o.If.Old || seen.Kind != None
	return o
}

// still is err, or that a path leads elsewhere than where it led when the work was judged.
func still(op string, seen, now Info, err error) error {
	if err == nil && now.Target != seen.Target {
		err = &Error{Op: op, Path: seen.Path, Code: CodeConflict, Err: fmt.Errorf("it leads to %q now, and not to %q any more", now.Target, seen.Target)}
	}
	return err
}

type doing func(ctx context.Context, f *Host, seen Info, out io.Writer) (Info, error)

// run does one piece of work in a session of its own.
func (r *Remote) run(ctx context.Context, p fileplan.Plan, x Expect, out io.Writer, do doing) (Info, error) {
	s, err := r.pool.OpenOnce(r.host)
	if err != nil {
		return Info{}, err
	}
	defer s.Close()
	seen, err := r.look(ctx, s, p.Path)
	if err != nil {
		return Info{}, err
	}
	p.Target, p.There, p.Size, p.Was = seen.Target, seen.Kind != None, seen.Size, seen.Mode
	return r.act(ctx, s, &work{plan: p, seen: seen, do: do, expects: x != Expect{}}, out)
}

func (r *Remote) look(ctx context.Context, s *session.Session, path string) (Info, error) {
	w := &work{plan: fileplan.Plan{Op: fileplan.Look, Path: path}, do: func(ctx context.Context, f *Host, _ Info, _ io.Writer) (Info, error) {
		return f.Look(ctx, path)
	}}
	return r.act(ctx, s, w, nil)
}

// act passes the gate of s.
func (r *Remote) act(ctx context.Context, s *session.Session, w *work, out io.Writer) (Info, error) {
	script, err := w.plan.Script()
	if err != nil {
		op := strings.TrimPrefix(w.plan.Op, "file_")
		if w.plan.Op == fileplan.Look {
			op = "look at"
		}
		return Info{}, r.invalid(ctx, op, w.plan.Path, fault(CodeInvalid, "%w", err))
	}
	cmd := session.Command{Script: script, Reason: r.reason, Stdout: out, Keep: -1}
	seam.Act(&cmd, w)
	if _, err := s.Run(ctx, cmd); err != nil {
		return Info{}, err
	}
	return w.result(), nil
}

// invalid is the error of what can never be done: nothing was asked, and nothing sent.
func (r *Remote) invalid(ctx context.Context, op, path string, err error) error {
	return &session.Error{Op: "run", Host: r.host.Name, Code: CodeInvalid, Err: at(ctx, op, path, err)}
}

// work is what a Remote does, as a session's action.
type work struct {
	plan fileplan.Plan
	seen Info // zero before a look
	do   doing

	expects bool // its caller said what the file must be: a conflict is about that

	mu  sync.Mutex // guards got
	got Info
}

var _ seam.Action[session.Transport] = (*work)(nil)

// Text implements seam.Action.
func (w *work) Text(hide func(string) string) string { return w.plan.Text(hide) }

// Open implements seam.Action.
func (w *work) Open(ctx context.Context, t session.Transport, h hosts.Host) (seam.Deed, error) {
	f, err := Open(ctx, t, h)
	if err != nil {
		return nil, err
	}
	return &deed{w, f}, nil
}

// Record implements seam.Action.
func (w *work) Record(e *audit.Event) {
	switch got := w.result(); w.plan.Op {
	case fileplan.Read:
		e.StdoutSHA256 = got.SHA256
	case fileplan.Write, fileplan.Edit:
		e.StdinBytes, e.StdinSHA256 = got.Size, got.SHA256
	}
}

// result is what was found or made; zero if the work was not done.
func (w *work) result() Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got
}

// deed is work that is ready.
type deed struct {
	w *work
	f *Host
}

// Do implements seam.Deed.
func (d *deed) Do(ctx context.Context, out io.Writer) error {
	got, err := d.w.do(ctx, d.f, d.w.seen, out)
	if e, ok := errors.AsType[*Error](err); ok && !errors.Is(err, session.ErrUnknownOutcome) && !errors.Is(err, session.ErrClosed) {
		return &session.Error{Code: e.Code, Retriable: e.Code == CodeConflict && !d.w.expects, Err: e}
	}
	if err != nil {
		return err
	}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	d.w.got = got
	return nil
}

// Close implements seam.Deed.
func (d *deed) Close() error { return d.f.Close() }
