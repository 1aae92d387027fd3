package jobwork

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// chunk is how many bytes of each output are read from a host at a time.
const chunk = 1 << 20

// mirror is what has been read of a job.
type mirror struct {
	ref    jobs.Ref
	busy   chan struct{} // holds a token while somebody reads from the host
	stdout *copied
	stderr *copied

	mu   sync.Mutex // guards what follows
	job  jobs.Job
	gone bool // it was removed from its host
}

// copied is one output. It is written by whoever holds the mirror.
type copied struct {
	spool *output.Spool
	red   *redact.Writer
	at    int64 // how much of the host's has been read
	over  bool
}

func (b *Book) newCopy() *copied {
	c := &copied{spool: output.NewSpool(b.cfg.Spool)}
	c.red = b.cfg.Secrets.Writer(c.spool, b.cfg.Audience)
	return c
}

// take takes what was read.
func (c *copied) take(text []byte, s jobs.Stream, state jobs.State) {
	c.at += int64(len(text))
	c.red.Write(text)
	if !c.over && c.at >= s.Bytes && (state == jobs.Lost || state == jobs.Ended && s.Done) {
		c.over = true
		c.red.Close()
		c.spool.Finish()
	}
}

// mirror returns that of a job, a new one where there is none yet. The one that was not used for the longest time makes room, if
// its output can be read from the host again.
func (b *Book) mirror(ref jobs.Ref) (*mirror, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, &session.Error{Op: "job", Host: ref.Host, Code: "closed", Err: session.ErrClosed}
	}
	m := b.mirrors[ref]
	for i, r := range b.used {
		if r == ref {
			b.used = append(b.used[:i], b.used[i+1:]...)
			break
		}
	}
	if m == nil {
		m = &mirror{ref: ref, busy: make(chan struct{}, 1), stdout: b.newCopy(), stderr: b.newCopy(), job: jobs.Job{Host: ref.Host, ID: ref.ID}}
		b.mirrors[ref] = m
		b.makeRoom()
	}
	b.used = append(b.used, ref)
	return m, nil
}

// makeRoom drops mirrors until there is room for one more. Those of collected jobs are the only copies, and stay until Close, or
// until they are many, or large together.
func (b *Book) makeRoom() {
	var (
		again int // mirrors whose host has the output too
		only  int
		bytes int64
	)
	for _, ref := range slices.Backward(b.used) {
		m := b.mirrors[ref]
		drop := false
		if m.isRemoved() {
			only++
			bytes += m.stdout.spool.Kept() + m.stderr.spool.Kept()
			drop = only > b.cfg.MaxCollected || bytes > b.cfg.MaxCollectedBytes
		} else {
			again++
			drop = again >= maxMirrors
		}
		if drop {
			m.free()
			delete(b.mirrors, ref)
		}
	}
	b.used = slices.DeleteFunc(b.used, func(ref jobs.Ref) bool { return b.mirrors[ref] == nil })
}

// known is the mirror of a job that has been read; nil for others.
func (b *Book) known(ref jobs.Ref) *mirror {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mirrors[ref]
}

// drop forgets a mirror that shows nothing.
func (b *Book) drop(m *mirror) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mirrors[m.ref] != m {
		return
	}
	delete(b.mirrors, m.ref)
	for i, r := range b.used {
		if r == m.ref {
			b.used = append(b.used[:i], b.used[i+1:]...)
			break
		}
	}
	m.free()
}

func (m *mirror) free() {
	m.stdout.spool.Close()
	m.stderr.spool.Close()
}

func (m *mirror) lock(ctx context.Context) error {
	select {
	case m.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}

func (m *mirror) unlock() { <-m.busy }

func (m *mirror) last() jobs.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.job
}

func (m *mirror) isRemoved() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

func (m *mirror) removed(j jobs.Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.job, m.gone = j, true
	for _, c := range []*copied{m.stdout, m.stderr} {
		if !c.over { // something still writes, and nobody will read that
			c.over = true
			c.red.Close()
			c.spool.Finish()
		}
	}
}

// fetch reads on from the host, waiting for something new up to wait, and reports whether there may be more at once. The
// mirror is locked.
func (m *mirror) fetch(ctx context.Context, h *jobs.Host, wait time.Duration, reason string) (more bool, err error) {
	l, err := h.Look(ctx, m.ref.ID, jobs.LookOptions{
		Wait: wait, Reason: reason, Stdout: jobs.Span{Offset: m.stdout.at, Limit: chunk}, Stderr: jobs.Span{Offset: m.stderr.at, Limit: chunk},
	})
	if err != nil {
		return false, err
	}
	m.stdout.take(l.Stdout, l.Job.Stdout, l.State)
	m.stderr.take(l.Stderr, l.Job.Stderr, l.State)
	m.mu.Lock()
	m.job = l.Job // now that its last words are there
	m.mu.Unlock()
	return m.stdout.at < l.Job.Stdout.Bytes || m.stderr.at < l.Job.Stderr.Bytes, nil
}

// Ask says what of an output is wanted.
type Ask struct {
	Stream string // registry.Stdout or registry.Stderr
	Offset int64  // of the text as it is shown
	Limit  int    // bytes
	Wait   time.Duration
	Reason string
}

// Output is a job as it is now, and a page of one of its outputs as the Book's audience may see it. It waits for something at
// that offset or in the other output, for the end, or for an approval of its start.
func (b *Book) Output(ctx context.Context, ref jobs.Ref, a Ask) (jobs.Job, output.Page, error) {
	began := time.Now()
	switch j, err := b.await(ctx, ref, a.Wait); {
	case err != nil:
		return jobs.Job{}, output.Page{}, err
	case j != nil:
		return *j, output.Page{Offset: a.Offset, Next: a.Offset}, nil
	}
	m, err := b.mirror(ref)
	if err != nil {
		return jobs.Job{}, output.Page{}, err
	}
	c := m.stdout
	if a.Stream == "stderr" {
		c = m.stderr
	}
	if !m.isRemoved() {
		if err := b.read(ctx, m, c, a, began); err != nil {
			if m.last().State == "" {
				b.drop(m) // whoever asks for what there is not fills nothing
			}
			return jobs.Job{}, output.Page{}, err
		}
	}
	j := m.last() // before the page: somebody else may read its end meanwhile
	p, err := c.spool.Page(a.Offset, a.Limit)
	return j, p, err
}

// read reads from the host until the page is there, or all that there is.
func (b *Book) read(ctx context.Context, m *mirror, c *copied, a Ask, began time.Time) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	if m.isRemoved() {
		return nil
	}
	h, err := b.on(m.ref)
	if err != nil {
		return err
	}
	before := m.stdout.at + m.stderr.at
	for wait := time.Duration(0); ; {
		more, err := m.fetch(ctx, h, wait, a.Reason)
		if err != nil {
			return err
		}
		b.note(m.ref, nil)
		p, err := c.spool.Page(a.Offset, a.Limit)
		if err != nil {
			return err
		}
		if len(p.Text) == 0 && !more && !c.over { // silence
			c.red.Flush()
			if p, err = c.spool.Page(a.Offset, a.Limit); err != nil {
				return err
			}
		}
		left := a.Wait - time.Since(began)
		switch {
		case len(p.Text) >= a.Limit || p.End || m.last().State != jobs.Running && !more:
			return nil
		case more:
			wait = 0
		case len(p.Text) > 0 || left <= 0 || m.stdout.at+m.stderr.at > before:
			return nil
		default:
			wait = left
		}
	}
}
