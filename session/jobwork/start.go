package jobwork

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// States of a job that has not begun.
const (
	Awaiting jobs.State = "awaiting_approval"
	Starting jobs.State = "starting"
	Canceled jobs.State = "canceled" // it was stopped before it had begun
	Failed   jobs.State = "failed"   // it never began
)

// startWithin bounds the start of a job on its host, once it is sent.
const startWithin = time.Minute

// begun is a job whose start went through here, as a command of one session or of a fleet; with neither it is one that was
// found.
type begun struct {
	exec  *registry.Exec
	fleet *registry.Fleet
	i     int // the member of the fleet
}

// Command makes of a command one that starts a job on each of hs, for a principal. id is jobs.NewID's, of a caller that has to know
// it beforehand; "" makes one up. It is an error if there can be no such job.
func Command(id, principal string, hs []hosts.Host, cmd registry.Command) (registry.Command, error) {
	w, err := jobs.NewStartAll(cmp.Or(id, jobs.NewID()), principal, 0, hs)
	if err == nil {
		err = jobs.CheckCommand(cmd.Script)
	}
	if err != nil {
		return cmd, fault("", jobs.CodeInvalid, "%w", err)
	}
	cmd.Wrapping, cmd.Timeout, cmd.RequestID = w, startWithin, ""
	return cmd, nil
}

// RefOf names the job that a command starts on a host, which Command has made: also before it has begun.
func RefOf(host string, cmd registry.Command) jobs.Ref {
	return jobs.Ref{Host: host, ID: jobs.Of(cmd.Wrapping).ID(host)}
}

// Began remembers a job that a command starts, which Command has made.
func (b *Book) Began(x *registry.Exec) jobs.Ref {
	ref := RefOf(x.Entry().Host().Name, x.Command())
	b.note(ref, &begun{exec: x})
	return ref
}

// BeganAll remembers the jobs that a command on many hosts starts, in their order.
func (b *Book) BeganAll(f *registry.Fleet) []jobs.Ref {
	w := jobs.Of(f.Command().Wrapping)
	all := make([]jobs.Ref, 0, len(f.Members()))
	for i, m := range f.Members() {
		ref := jobs.Ref{Host: m.Host.Name, ID: w.ID(m.Host.Name)}
		b.note(ref, &begun{fleet: f, i: i})
		all = append(all, ref)
	}
	return all
}

// started is a job whose start went through here, as long as that says more than its host; nil for others.
func (b *Book) started(ref jobs.Ref) *begun {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.begun[ref]; n != nil && (n.exec != nil || n.fleet != nil) {
		return n
	}
	return nil
}

// known is the command that starts the job, and why there will be none.
func (n *begun) known() (*registry.Exec, error) {
	if n.exec != nil {
		return n.exec, nil
	}
	m := n.fleet.Members()[n.i]
	return m.Exec, m.Err
}

// host is where the job was started, and as whom.
func (n *begun) host() hosts.Host {
	if n.exec != nil {
		return n.exec.Entry().Host()
	}
	return n.fleet.Members()[n.i].Host
}

// Start is how far the start of a job is.
type Start struct {
	State jobs.State     // Awaiting, Starting, Failed, Canceled, or jobs.Running where it has begun
	Exec  *registry.Exec // nil where there is none yet
	Err   error          // of one that Failed
}

// Start tells how far a job is whose start went through here; ok is false for others.
func (b *Book) Start(ref jobs.Ref) (s Start, ok bool) {
	n := b.started(ref)
	if n == nil {
		return s, false
	}
	return n.start(ref), true
}

func (n *begun) start(ref jobs.Ref) Start {
	x, err := n.known()
	switch {
	case err != nil:
		return Start{State: Failed, Err: err}
	case x == nil && n.fleet.Awaiting():
		return Start{State: Awaiting}
	case x == nil:
		return Start{State: Starting}
	case x.Running() && x.Awaiting():
		return Start{State: Awaiting, Exec: x}
	case x.Running():
		return Start{State: Starting, Exec: x}
	}
	if err := outcome(ref.Host, x); err != nil {
		return Start{State: Failed, Exec: x, Err: err}
	}
	return Start{State: jobs.Running, Exec: x}
}

// outcome is why a command that has ended started no job; nil if it did. Where nobody knows, the host does.
func outcome(host string, x *registry.Exec) error {
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return nil // long ago
	}
	switch r := v.Result; {
	case r.Err != nil && r.Err.Sent:
		return nil
	case r.Err != nil:
		return r.Err
	}
	p, err := x.Page(registry.Stdout, 0, 4<<10)
	if err != nil {
		return nil
	}
	if err := jobs.Started(host, p.Text); !errors.Is(err, session.ErrUnknownOutcome) {
		return err
	}
	return nil
}

// Wait waits until a job has begun or will never, or for the end of ctx.
func (b *Book) Wait(ctx context.Context, ref jobs.Ref) {
	n := b.started(ref)
	if n == nil {
		return
	}
	if n.fleet != nil {
		select {
		case <-n.fleet.Done():
		case <-ctx.Done():
		}
		return
	}
	_ = n.exec.Wait(ctx) // what it is then is shown
}

// await waits for a start that waits for an approval. It returns the job where that is all there is to say of it.
func (b *Book) await(ctx context.Context, ref jobs.Ref, wait time.Duration) (*jobs.Job, error) {
	s, ok := b.Start(ref)
	if !ok {
		return nil, nil
	}
	if (s.State == Awaiting || s.State == Starting) && wait > 0 {
		wctx, stop := context.WithTimeout(ctx, wait)
		b.Wait(wctx, ref)
		stop()
		s, _ = b.Start(ref)
	}
	switch s.State {
	case jobs.Running:
		return nil, nil
	case Failed:
		return nil, s.Err
	}
	return &jobs.Job{Host: ref.Host, ID: ref.ID, State: s.State}, nil
}

// cancel stops a start that has sent nothing, and reports whether it did.
func (b *Book) cancel(ref jobs.Ref) bool {
	s, ok := b.Start(ref)
	if !ok || s.State != Awaiting {
		return false
	}
	if s.Exec != nil {
		s.Exec.Stop()
	} else {
		b.started(ref).fleet.Stop() // one question, one answer
	}
	s, _ = b.Start(ref)
	return s.State == Failed
}
