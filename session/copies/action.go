package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Copy is a copy of files to hosts or from them, as one request. Its fields do not change once Command was called.
type Copy struct {
	Plan Plan

	// Source returns the stream of an upload for a host, once for each. It is closed if it is an io.Closer.
	Source func(h hosts.Host) io.Reader
	// Sink returns what takes the stream of a download from a host, once for each. It is closed if it is an io.Closer: an error
	// of Close fails the copy.
	Sink func(h hosts.Host) io.Writer

	// Journal is a directory of this machine, made if it is missing, in which uploads that run are noted: what one of them has left
	// on a host when it was killed is removed by the next one to the same directory, and Plan.Resume finds it. "" is none.
	Journal string

	// Quiet leaves out of the output how far the copy is (Report.Progress), and with it all that differs from time to time and
	// from host to host where the same was done.
	Quiet bool
}

// Command returns the command that does it, without output and limits of its own. An error is about the Plan.
func (c *Copy) Command() (session.Command, error) {
	if err := c.Plan.Check(); err != nil {
		return session.Command{}, err
	}
	script, err := c.Plan.Script()
	if err != nil {
		return session.Command{}, err
	}
	cmd := session.Command{Script: script, Keep: -1}
	seam.Act(&cmd, &action{c: c})
	return cmd, nil
}

// Action is what the command does, for a session of a registry. Its text is the Plan's.
func (c *Copy) Action() seam.Action[session.Transport] { return &action{c: c} }

// action is a Copy on one host, or, before its session has split it, on all of them.
type action struct {
	c *Copy

	mu  sync.Mutex // guards what follows
	sum string
	n   int64
}

var _ seam.Action[session.Transport] = (*action)(nil)

// For implements seam.PerHost.
func (a *action) For(hosts.Host) seam.Action[session.Transport] { return &action{c: a.c} }

// Aside implements seam.Aside: paths begin at the root or in the home directory, and what needs a shell starts its own.
func (a *action) Aside() bool { return true }

// Several implements seam.Several: a single file is there whole, or not at all.
func (a *action) Several() bool {
	p := &a.c.Plan
	return p.Op == Download || len(p.Entries) != 1 || p.Entries[0].Dir
}

// Text implements seam.Action.
func (a *action) Text(hide func(string) string) string { return a.c.Plan.Text(hide) }

// Open implements seam.Action.
func (a *action) Open(ctx context.Context, t session.Transport, h hosts.Host) (seam.Deed, error) {
	r, err := hostfs.Open(ctx, t, h, 0)
	if err != nil {
		return nil, err
	}
	d := &deed{a: a, h: h, r: r}
	ctx, cancel := context.WithTimeoutCause(ctx, lookWait, fault(files.CodeError, "the host did not say within %v where %s leads: look at its file systems, and try again", lookWait, a.c.Plan.Path))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.Close() }) // a server that says nothing
	err = d.look(ctx)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		r.Close()
		return nil, asSession(err)
	}
	return d, nil
}

// Record implements seam.Action.
func (a *action) Record(e *audit.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.c.Plan.Op == Upload {
		e.StdinBytes, e.StdinSHA256 = a.n, a.sum
	} else {
		e.StdoutBytes, e.StdoutSHA256 = a.n, a.sum
	}
}

// lookWait is how long a host may take to find out where a path leads.
const lookWait = 2 * time.Minute

// stopTime is how long a host may take to end what it does when a copy is stopped.
const stopTime = 5 * time.Second

// deed is an action that is ready.
type deed struct {
	a *action
	h hosts.Host
	r hostfs.FS

	abs, base string // of an upload
	into      bool
	makes     bool   // base is not there, or a copy of the same that is continued has made it
	told      string // where it goes, where that may surprise

	from roots // of a download
}

func (d *deed) look(ctx context.Context) (err error) {
	p := &d.a.c.Plan
	if p.Op == Upload {
		d.abs, d.base, d.into, err = p.where(ctx, d.r)
		if err == nil {
			d.chooses()
		}
	} else {
		d.from, err = p.roots(ctx, d.r)
	}
	return err
}

// chooses says whether a single directory goes into one that is there, as with cp and scp, and why.
func (d *deed) chooses() {
	p, j := &d.a.c.Plan, journal{d.a.c.Journal}
	root := p.root()
	if root == "" || !p.single() {
		return
	}
	if !d.into {
		d.makes = true
		return
	}
	unended := j.continues(hostKey(d.h), d.base, root)
	to := strings.TrimSuffix(p.Path, "/") + "/" + root
	switch {
	case unended && p.Resume:
		d.into, d.makes = false, true
		d.told = fmt.Sprintf("the interrupted copy of %s to %s is continued", root, p.Path)
	case unended:
		d.told = fmt.Sprintf("%s goes to %s, because %s exists: an interrupted copy of it has made that, and with resume it is continued there", root, to, p.Path)
	default:
		d.told = fmt.Sprintf("%s goes to %s, because %s exists; with a slash behind %s what is in it goes into %s itself", root, to, p.Path, root, p.Path)
	}
}

// Leads implements seam.Leading: where a symbolic link is on the way, what is done is more than what was judged.
func (d *deed) Leads() (string, error) {
	p := &d.a.c.Plan
	if p.Op == Upload {
		if d.base == d.abs {
			return "", nil
		}
		return p.script(d.base, d.into)
	}
	script := ""
	for i, real := range d.from.real {
		if real == d.from.asked[i] {
			continue
		}
		word, err := p.readScript(real)
		if err != nil {
			return "", err
		}
		if script != "" {
			script += "; "
		}
		script += word
	}
	return script, nil
}

// Do implements seam.Deed.
func (d *deed) Do(ctx context.Context, out io.Writer) error {
	over := make(chan struct{})
	defer close(over)
	// What runs ends by itself and takes its temporary files away, unless the host says nothing any more.
	defer context.AfterFunc(ctx, func() {
		grace := time.NewTimer(stopTime)
		defer grace.Stop()
		select {
		case <-over:
		case <-grace.C:
			d.r.Close()
		}
	})()
	rep := &reporter{out: out, quiet: d.a.c.Quiet}
	var err error
	if d.a.c.Plan.Op == Upload {
		err = d.upload(ctx, rep)
	} else {
		err = d.download(ctx, rep)
	}
	if err != nil && ctx.Err() != nil {
		err = ctxerr.Of(ctx)
	}
	return asSession(err)
}

func (d *deed) upload(ctx context.Context, rep *reporter) error {
	u := &uploading{p: &d.a.c.Plan, r: d.r, base: d.base, into: d.into, rep: rep, host: d.h, journal: journal{d.a.c.Journal}, makes: d.makes}
	if d.told != "" {
		rep.tell(Report{Done: Noted, Path: u.target(0), Name: u.p.Entries[0].Name, Why: d.told})
	}
	if u.p.DryRun {
		return u.dry(ctx)
	}
	var src io.Reader
	if d.a.c.Source != nil {
		src = d.a.c.Source(d.h)
	}
	if src == nil {
		return fault(files.CodeInvalid, "Copy.Source gives nothing to upload")
	}
	if c, ok := src.(io.Closer); ok {
		defer context.AfterFunc(ctx, func() { c.Close() })()
		defer c.Close()
	}
	err := u.run(ctx, src)
	d.a.keep(u.digest())
	return err
}

func (d *deed) download(ctx context.Context, rep *reporter) (err error) {
	var to io.Writer
	if d.a.c.Sink != nil {
		to = d.a.c.Sink(d.h)
	}
	if to == nil {
		return fault(files.CodeInvalid, "Copy.Sink gives nothing that takes the download")
	}
	if c, ok := to.(io.Closer); ok {
		defer context.AfterFunc(ctx, func() { c.Close() })()
		defer func() {
			if cerr := c.Close(); err == nil && cerr != nil {
				err = unwritten(cerr)
			}
		}()
	}
	w := &downloading{r: d.r, times: d.a.c.Plan.Times, rep: rep}
	err = w.run(ctx, d.a.c.Plan.Path, d.from, hereWriter{to})
	d.a.keep(w.digest())
	return err
}

// hereWriter is where a download goes: it takes all that it is given, or says that it does not. What fails there is not what the
// host says: a file that is in the way here is not one that the host does not have.
type hereWriter struct{ io.Writer }

func (w hereWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = unwritten(err)
	}
	return n, err
}

func unwritten(err error) error {
	if errors.Is(err, session.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault(files.CodeError, "what came could not be written here: %w", err)
}

func (a *action) keep(sum string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum, a.n = sum, n
}

// Close implements seam.Deed.
func (d *deed) Close() error { return d.r.Close() }
