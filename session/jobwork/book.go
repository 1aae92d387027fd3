package jobwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

const (
	maxMirrors = 100
	maxBegun   = 10000
)

// Config says what a Book needs. Pool, Host and Secrets are required.
type Config struct {
	Pool     *session.Pool
	Host     func(name string) (hosts.Host, error) // finds a host by its name
	Secrets  *redact.Set
	Audience redact.Audience

	// Spool says where outputs are kept. Its Limit, if zero, is jobs.DefaultLimit and some more: marks are longer than some
	// secrets.
	Spool output.SpoolConfig

	// MaxCollected bounds how many collected jobs' outputs are kept until Close, and MaxCollectedBytes how large they are
	// together: beyond, those read longest ago are dropped. Zero means 1000, and 4 GiB.
	MaxCollected      int
	MaxCollectedBytes int64
}

// Book is what one principal knows of its jobs.
type Book struct {
	cfg Config

	mu      sync.Mutex // guards what follows; never held while a host is asked
	begun   map[jobs.Ref]*begun
	order   []jobs.Ref // of begun, the oldest first
	mirrors map[jobs.Ref]*mirror
	used    []jobs.Ref // of mirrors, the one used last at the end
	closed  bool
}

// New returns a Book without any job.
func New(cfg Config) *Book {
	if cfg.Spool.Limit == 0 {
		cfg.Spool.Limit = jobs.DefaultLimit + jobs.DefaultLimit/4
	}
	cfg.MaxCollected = cmp.Or(cfg.MaxCollected, 1000)
	cfg.MaxCollectedBytes = cmp.Or(cfg.MaxCollectedBytes, 4<<30)
	return &Book{cfg: cfg, begun: map[jobs.Ref]*begun{}, mirrors: map[jobs.Ref]*mirror{}}
}

// Close frees the outputs. What reads one meanwhile fails.
func (b *Book) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, m := range b.mirrors {
		m.free()
	}
	b.mirrors = map[jobs.Ref]*mirror{}
}

// note remembers a job.
func (b *Book) note(ref jobs.Ref, n *begun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.begun[ref]
	if was != nil {
		if n != nil {
			b.begun[ref] = n
		}
		return
	}
	if len(b.order) >= maxBegun {
		delete(b.begun, b.order[0])
		b.order = b.order[1:]
	}
	b.begun[ref] = cmp.Or(n, &begun{})
	b.order = append(b.order, ref)
}

// Found remembers a job that was started in another way.
func (b *Book) Found(ref jobs.Ref) { b.note(ref, nil) }

// Knows reports whether this Book has heard of a job.
func (b *Book) Knows(ref jobs.Ref) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun[ref] != nil
}

// Find completes the name of a job by what is known of it: an id alone is enough for one that this Book has heard of.
func (b *Book) Find(text string) (jobs.Ref, error) {
	ref, err := jobs.ParseRef(text)
	if err != nil {
		return ref, fault("", jobs.CodeInvalid, "%w", err)
	}
	if ref.Host != "" {
		return ref, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for known := range b.begun {
		if known.ID == ref.ID {
			all = append(all, known.Host)
		}
	}
	slices.Sort(all)
	switch len(all) {
	case 0:
		return ref, fault("", jobs.CodeNotFound, "unknown job %s: give its host too, as HOST/%s", ref.ID, ref.ID)
	case 1:
		return jobs.Ref{Host: all[0], ID: ref.ID}, nil
	}
	return ref, fault("", jobs.CodeInvalid, "the job %s is on %d hosts: name one, as %s/%s", ref.ID, len(all), all[0], ref.ID)
}

// on is where a job is, as the inventory is now.
func (b *Book) on(ref jobs.Ref) (*jobs.Host, error) {
	h, err := b.cfg.Host(ref.Host)
	if err != nil {
		return nil, err
	}
	if n := b.started(ref); n != nil {
		h.Become = n.host().Become // as the account that has started it
	}
	return jobs.On(b.cfg.Pool, h), nil
}

// Refs are the jobs that this Book has heard of last, at most so many, the latest first.
func (b *Book) Refs(most int) []jobs.Ref {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.order[max(0, len(b.order)-most):])
	slices.Reverse(all)
	return all
}

// Hosts are those on which this Book has heard of jobs, by their names, as far as the inventory still has them.
func (b *Book) Hosts() (all []hosts.Host) {
	b.mu.Lock()
	var names []string
	for ref := range b.begun {
		names = append(names, ref.Host)
	}
	b.mu.Unlock()
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if h, err := b.cfg.Host(name); err == nil {
			all = append(all, h)
		}
	}
	return all
}

// State is a job as it is now, after a wait for its end.
func (b *Book) State(ctx context.Context, ref jobs.Ref, wait time.Duration, reason string) (jobs.Job, error) {
	began := time.Now()
	if j, err := b.await(ctx, ref, wait); err != nil || j != nil {
		return *cmp.Or(j, &jobs.Job{}), err
	}
	if m := b.known(ref); m != nil && m.isRemoved() {
		return m.last(), nil
	}
	h, err := b.on(ref)
	if err != nil {
		return jobs.Job{}, err
	}
	l, err := h.Look(ctx, ref.ID, jobs.LookOptions{Wait: wait - time.Since(began), EndOnly: true, Reason: reason})
	if err == nil {
		b.note(ref, nil)
	}
	return l.Job, err
}

// List asks hosts for the principal's jobs. What a host refuses is in the error, and the others' jobs are returned.
func (b *Book) List(ctx context.Context, hs []hosts.Host, reason string) (all []jobs.Job, err error) {
	answers := make([]told, len(hs))
	b.each(len(hs), func(i int) {
		a := &answers[i]
		a.jobs, a.more, a.err = jobs.On(b.cfg.Pool, hs[i]).List(ctx, reason)
	})
	return b.told(hs, answers)
}

// ListGroup is List for the jobs that have this id, or that of their group. Hosts that share a home directory, or are one machine,
// all have the jobs of all: each is asked first for the job that is its own by its place among hs, and for the others only if it has
// none. If there are more jobs than hosts, hs are not those that the group was started on, and their places say nothing.
func (b *Book) ListGroup(ctx context.Context, hs []hosts.Host, id, reason string) (all []jobs.Job, err error) {
	answers := make([]told, len(hs))
	group, own, _ := strings.Cut(id, "-")
	number, _ := strconv.Atoi(own)
	var others atomic.Bool
	b.each(len(hs), func(i int) {
		a, h := &answers[i], jobs.On(b.cfg.Pool, hs[i])
		if number > 0 {
			a.jobs, a.more, a.err = h.ListGroup(ctx, group, reason, number)
			return
		}
		a.jobs, a.more, a.err = h.ListGroup(ctx, group, reason, i+1, len(hs)+1)
		last := group + "-" + strconv.Itoa(len(hs)+1)
		if slices.ContainsFunc(a.jobs, func(j jobs.Job) bool { return j.ID == last }) {
			others.Store(true)
		}
	})
	if number == 0 {
		b.each(len(hs), func(i int) {
			if a := &answers[i]; a.err == nil && (len(a.jobs) == 0 || others.Load()) {
				a.jobs, a.more, a.err = jobs.On(b.cfg.Pool, hs[i]).ListGroup(ctx, group, reason)
			}
		})
	}
	return b.told(hs, answers)
}

// told is what a host lists.
type told struct {
	jobs []jobs.Job
	more bool
	err  error
}

// each calls do for each of n hosts, some at a time.
func (b *Book) each(n int, do func(i int)) {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(session.DefaultForks, n) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	wg.Wait()
}

// told notes what hosts list, and takes it together.
func (b *Book) told(hs []hosts.Host, answers []told) (all []jobs.Job, err error) {
	var errs []error
	for i, a := range answers {
		for _, j := range a.jobs {
			b.note(j.Ref(), nil)
		}
		all = append(all, a.jobs...)
		if a.more {
			a.err = fault(hs[i].Name, "full", "it has more than %d jobs, and the others are not listed; fairlead jobs clean %s removes those that have ended", jobs.MaxListed, printable.Word(hs[i].Name))
		}
		errs = append(errs, a.err)
	}
	return all, errors.Join(errs...)
}

// Stop ends a job, see jobs.Host.Stop. One whose start waits for an approval does not begin any more.
func (b *Book) Stop(ctx context.Context, ref jobs.Ref, grace time.Duration, reason string) (jobs.Job, error) {
	if b.cancel(ref) {
		return jobs.Job{Host: ref.Host, ID: ref.ID, State: Canceled}, nil
	}
	if m := b.known(ref); m != nil && m.isRemoved() {
		return m.last(), nil
	}
	h, err := b.on(ref)
	if err != nil {
		return jobs.Job{}, err
	}
	j, err := h.Stop(ctx, ref.ID, grace, reason)
	if err == nil {
		b.note(ref, nil)
	}
	return j, err
}

// Collected reports whether a job has been collected, and its output is kept here alone.
func (b *Book) Collected(ref jobs.Ref) bool {
	m := b.known(ref)
	return m != nil && m.isRemoved()
}

// Collect reads the rest of an ended job's output and takes the job off its host. Its output stays here, for Output.
func (b *Book) Collect(ctx context.Context, ref jobs.Ref, reason string) (jobs.Job, error) {
	m, err := b.mirror(ref)
	if err != nil {
		return jobs.Job{}, err
	}
	if m.isRemoved() {
		return m.last(), nil
	}
	h, err := b.on(ref)
	if err != nil {
		return jobs.Job{}, err
	}
	if err := m.lock(ctx); err != nil {
		return jobs.Job{}, err
	}
	defer m.unlock()
	if m.isRemoved() { // while this one waited for another that collects
		return m.last(), nil
	}
	for {
		more, err := m.fetch(ctx, h, 0, reason)
		if err != nil {
			return jobs.Job{}, err
		}
		if m.last().State == jobs.Running {
			return m.last(), fault(ref.Host, jobs.CodeRunning, "the job has not ended: stop it first, or wait for its end")
		}
		if !more {
			break
		}
	}
	j, err := h.Remove(ctx, ref.ID, reason)
	if err != nil {
		return j, err
	}
	m.removed(j)
	return j, nil
}

// Discard takes an ended job off its host, with an output that nobody wants.
func (b *Book) Discard(ctx context.Context, ref jobs.Ref, reason string) (jobs.Job, error) {
	h, err := b.on(ref)
	if err != nil {
		return jobs.Job{}, err
	}
	j, err := h.Remove(ctx, ref.ID, reason)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && b.begun[ref] != nil {
		delete(b.begun, ref)
		b.order = slices.DeleteFunc(b.order, func(r jobs.Ref) bool { return r == ref })
	}
	return j, err
}

func fault(host, code, format string, args ...any) error {
	return &session.Error{Op: "job", Host: host, Code: code, Err: fmt.Errorf(format, args...)}
}
