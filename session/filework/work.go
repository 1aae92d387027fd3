package filework

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Work is a Request that has been started, as an action of a session. Its methods may be called concurrently.
//
// Files are read whole from the beginning, whatever page is wanted: a secret that begins before a page must not end on it.
type Work struct {
	req  Request
	path string     // as asked for; of all but a look it is absolute
	dir  string     // of a look: where relative paths begin; "" is the account's home
	seen files.Info // what a look has found; of all but a look

	patience *patience   // with the host, before the work begins
	left     atomic.Bool // nobody waits for its beginning any more, as for work that is approved later

	mu  sync.Mutex // guards got
	got files.Info // afterwards
}

var _ seam.Action[session.Transport] = (*Work)(nil)

// Of returns the work that a command is; nil for others.
func Of(a seam.Action[session.Transport]) *Work {
	w, _ := a.(*Work)
	return w
}

// Waited is how long the host has taken since its files were first opened for this work.
func (w *Work) Waited() time.Duration { return w.patience.used() }

// Op is what it does.
func (w *Work) Op() Op { return w.req.Op }

// plan says what the work means.
func (w *Work) plan() *fileplan.Plan {
	r := &w.req
	return &fileplan.Plan{
		Op: string(r.Op), Path: w.path, Target: w.seen.Target, There: w.seen.Kind != files.None, Size: w.seen.Size, Was: w.seen.Mode,
		Content: r.Content, Old: r.Old, New: r.New, Mode: r.Mode, IfSHA256: r.IfSHA256,
	}
}

// script is shell source that would do the same, for the policy.
func (w *Work) script() (string, error) {
	script, err := w.plan().Script()
	if err != nil {
		return "", invalid("path: %w", err)
	}
	return script, nil
}

// Text implements seam.Action: what a person approves, everything that will be done.
func (w *Work) Text(hide func(string) string) string { return w.plan().Text(hide) }

// Record implements seam.Action.
func (w *Work) Record(e *audit.Event) {
	switch got := w.result(); w.req.Op {
	case Read:
		e.StdoutSHA256 = got.SHA256
	case Write, Edit:
		e.StdinBytes, e.StdinSHA256 = got.Size, got.SHA256
	}
}

// forget lets go of contents that were to be written, once the work has ended.
func (w *Work) forget(ended <-chan struct{}) {
	<-ended
	w.req.Content, w.req.Old, w.req.New = nil, nil, nil
}

// result is what was found or made; zero if the work was not done.
func (w *Work) result() files.Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got
}

// Facts is what is known of a file once its work is done.
type Facts struct {
	Path     string // absolute
	Target   string // where Path leads, if a symbolic link is on the way; else ""
	Size     *int64 // of an ordinary file; nil before the work is done
	SHA256   string // of all its bytes; "" likewise
	Mode     string // in octal; "" likewise
	Created  bool
	Replaced bool
}

// Facts tells them as they are now.
func (w *Work) Facts() Facts {
	i := w.result()
	if i.Path == "" {
		i = files.Info{Target: w.seen.Target}
	}
	i.Path = w.path
	f := Facts{Path: i.Path, SHA256: i.SHA256}
	if i.Target != "" && i.Linked() {
		f.Target = i.Target
	}
	if i.Kind == files.Regular {
		f.Size, f.Mode = &i.Size, FormatMode(i.Mode)
		f.Created = w.req.Op == Write && w.seen.Kind == files.None
		f.Replaced = (w.req.Op == Write || w.req.Op == Edit) && !f.Created
	}
	return f
}
