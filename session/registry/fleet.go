package registry

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// maxFleets is how many runs over many hosts are remembered.
const maxFleets = 100

// Fleet is one command on several hosts, each in a session of its own that is closed afterwards.
type Fleet struct {
	r         *Registry
	id        string
	principal string
	cmd       Command
	done      chan struct{}
	stop      context.CancelFunc
	ctx       context.Context // ends with Stop and with the registry

	decisions map[string]policy.Decision

	mu      sync.Mutex // guards what follows
	members []Member
	report  *rollout.Report // of a rollout that has ended
	once    bool            // one approval is for all hosts
	waits   bool            // for that approval
}

// Member is what became of one host. All but the Host is empty until its turn comes.
type Member struct {
	Host   hosts.Host
	Exec   *Exec
	Err    error // why there is no Exec
	Awaits bool  // somebody has yet to approve its Exec; not where one approval is for all hosts, see Fleet.Awaiting

	// Of a rollout.
	Late     bool            // its deadline stopped the Exec
	Verified *session.Result // what the Plan's Verify gave, where it ran
}

// FleetRequest is a command on several hosts.
type FleetRequest struct {
	Principal string
	Hosts     []hosts.Host
	Dir       string // where it runs; "" means where the host's shells start: the account's home directory but for a hosts.Command
	Command   Command
	Forks     int // hosts at a time; zero means session.DefaultForks

	// Plan, if not nil, says how it goes in steps. Its functions are not called, and of Verify the Script and the Reason count.
	// What is tried first, see Later, is tried on all hosts at once: it changes nothing.
	Plan *rollout.Plan

	// Decisions are those of the policy about the hosts, by their names, for Fleet.Decision; nil where nobody has asked.
	Decisions map[string]policy.Decision

	// Permit, if not nil, is asked before anything goes to any host, and for each host where the policy asks: those that
	// Asking tells.
	Permit Permit
	Asking func(h hosts.Host) bool
	// Later, if not nil, has the command tried on all hosts first, where nobody is asked, and makes the Permit for those to which the
	// kernel refused something. It is instead of Permit, for commands that the policy has tried first on all hosts where it asks. why
	// says what they tried.
	Later func(hs []hosts.Host, why string) Permit

	// ApprovalTimeout is how long Permit is waited for; zero means session.DefaultApprovalTimeout.
	ApprovalTimeout time.Duration
	// Check, if not nil, is asked about a host when its turn comes; an error keeps the command from it.
	Check func(h hosts.Host) error
}

// Permit is one approval of a command on several hosts, as approval.Group.
type Permit interface {
	policy.Approver
	Ask(ctx context.Context) error
}

// Fleet starts a command on several hosts and returns at once. It goes on until all have ended, Stop, or Close of the
// registry. Of ctx it takes the values, for the sessions' dialer, policy, approver and record, and not the end.
func (r *Registry) Fleet(ctx context.Context, req FleetRequest) (*Fleet, error) {
	if req.Plan != nil {
		if _, err := req.Plan.Split(req.Hosts); err != nil {
			return nil, fault("run", "", CodeInvalid, false, "%w", err)
		}
	}
	f := &Fleet{r: r, id: id.New("r_"), principal: req.Principal, cmd: req.Command, once: req.Permit != nil, decisions: req.Decisions, waits: req.Permit != nil, done: make(chan struct{})}
	f.members = make([]Member, len(req.Hosts))
	for i, h := range req.Hosts {
		f.members[i].Host = h
	}
	f.ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(r.closing, f.stop)
	forks := req.Forks
	if forks <= 0 {
		forks = session.DefaultForks
	}
	forks = min(forks, len(req.Hosts))
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		unhook()
		f.stop()
		return nil, fault("run", "", CodeClosed, false, "%w", session.ErrClosed)
	}
	r.fleets[f.id] = f
	r.order = append(r.order, f.id)
	if len(r.order) > maxFleets {
		delete(r.fleets, r.order[0])
		r.order = r.order[1:]
	}
	r.wg.Add(1)
	r.mu.Unlock()
	req.Command.approver, req.Command.group = nil, f.id
	if req.Permit != nil {
		req.Command.approver = req.Permit
	}
	go func() {
		defer r.wg.Done()
		if req.Later != nil {
			f.firstTried(req, forks)
		} else if f.permitted(req) {
			f.rollOut(req, forks, nil)
		}
		unhook()
		f.stop()
		close(f.done)
	}()
	return f, nil
}

// permitted waits for an approval, if there must be one. Without it the hosts where the policy asks put the refusal on
// record, and the others get nothing either.
func (f *Fleet) permitted(req FleetRequest) bool { return f.permittedOn(req, nil) }

// permittedOn is permitted for the hosts at some places; nil is all.
func (f *Fleet) permittedOn(req FleetRequest, only []int) bool {
	if req.Permit == nil {
		return true
	}
	ctx, cancel := context.WithTimeoutCause(f.ctx, cmp.Or(req.ApprovalTimeout, session.DefaultApprovalTimeout), session.ErrExpired)
	defer cancel()
	err := req.Permit.Ask(ctx)
	code := "denied"
	if errors.Is(err, session.ErrExpired) || errors.Is(err, policy.ErrExpired) {
		code = "expired"
	}
	defer func() {
		f.mu.Lock()
		f.waits = false
		f.mu.Unlock()
	}()
	for i, h := range req.Hosts {
		switch {
		case err == nil, only != nil && !slices.Contains(only, i):
		case f.ctx.Err() != nil:
			f.note(i, nil, fault("run", h.Name, "canceled", true, "not started: %w", ctxerr.Of(f.ctx)))
		case req.Asking(h):
			f.member(f.ctx, i, FleetRequest{Principal: req.Principal, Hosts: req.Hosts, Command: req.Command})
		default:
			f.note(i, nil, fault("run", h.Name, code, false, "%w", err))
		}
	}
	return err == nil
}

// Awaiting reports whether somebody has yet to approve it for all hosts at once. See also Member.Awaits.
func (f *Fleet) Awaiting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waits
}

// Decision is what the policy said about a host before anything began; the zero Decision where it was not asked.
func (f *Fleet) Decision(h hosts.Host) policy.Decision { return f.decisions[h.Name] }

// Command is what is run.
func (f *Fleet) Command() Command { return f.cmd }

// all runs the command on all hosts, or those at some places, some at a time.
func (f *Fleet) all(req FleetRequest, forks int, only []int) {
	next := make(chan int, len(req.Hosts))
	for i := range req.Hosts {
		if only == nil || slices.Contains(only, i) {
			next <- i
		}
	}
	close(next)
	var wg sync.WaitGroup
	for range forks {
		wg.Go(func() {
			for i := range next {
				f.member(f.ctx, i, req)
			}
		})
	}
	wg.Wait()
}

// member runs the command on one host.
func (f *Fleet) member(ctx context.Context, i int, req FleetRequest) {
	if ctx.Err() != nil {
		f.note(i, nil, fault("run", req.Hosts[i].Name, "canceled", true, "not started: %w", ctxerr.Of(ctx)))
		return
	}
	if req.Check != nil {
		if err := req.Check(req.Hosts[i]); err != nil {
			f.note(i, nil, fault("run", req.Hosts[i].Name, "denied", false, "%w", err))
			return
		}
	}
	if _, err := f.on(ctx, req, i, func(x *Exec) { f.note(i, x, nil) }); err != nil {
		f.note(i, nil, err)
	}
}

// on runs a command on one host, in a session of its own, and returns when it has ended. began is told of its Exec. The error is of
// a command that has none.
func (f *Fleet) on(ctx context.Context, req FleetRequest, i int, began func(*Exec)) (*Exec, error) {
	e, err := f.r.add(OpenRequest{Principal: req.Principal, Host: req.Hosts[i]}, true)
	if err != nil {
		return nil, err
	}
	defer e.close("its command has ended")
	if req.Dir != "" {
		if err := e.begin(ctx, OpenRequest{Host: req.Hosts[i], Dir: req.Dir, Reason: req.Command.Reason}); err != nil {
			return nil, err
		}
	}
	x, err := e.start(ctx, req.Command)
	if err != nil {
		return nil, err
	}
	began(x)
	if x.Wait(ctx) != nil {
		x.Stop()
	}
	return x, nil
}

func (f *Fleet) note(i int, x *Exec, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[i].Exec, f.members[i].Err = x, err
}

// ID is the run's; unique.
func (f *Fleet) ID() string { return f.id }

// Done is closed when all hosts have ended.
func (f *Fleet) Done() <-chan struct{} { return f.done }

// Rollout is what has happened in a rollout that has ended; nil else.
func (f *Fleet) Rollout() *rollout.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report
}

// Stop stops what runs, leaves out who has not begun, and returns when all have ended.
func (f *Fleet) Stop() {
	f.stop()
	<-f.done
}

// Members returns what is known now, in the order of the request.
func (f *Fleet) Members() []Member {
	f.mu.Lock()
	ms, once := append([]Member(nil), f.members...), f.once
	f.mu.Unlock()
	for i, m := range ms {
		ms[i].Awaits = !once && m.Exec != nil && m.Exec.Running() && m.Exec.Awaiting()
	}
	return ms
}

// Fleets returns a principal's runs, the oldest first.
func (r *Registry) Fleets(principal string) []*Fleet {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Fleet
	for _, id := range r.order {
		if f := r.fleets[id]; f.principal == principal {
			all = append(all, f)
		}
	}
	return all
}

// FleetOf returns a principal's run by its id.
func (r *Registry) FleetOf(principal, id string) (*Fleet, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.fleets[id]; f != nil && f.principal == principal {
		return f, nil
	}
	return nil, fault("find", "", CodeNotFound, false, "there is no run %.80q", id)
}
