package keeper

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// maxForwards bounds how many ports a keeper forwards.
const maxForwards = 200

// forwards are the ports that are forwarded.
type forwards struct {
	mu   sync.Mutex
	open map[string]*openForward // by id
	over bool                    // the keeper ends
}

// openForward is one with its owner.
type openForward struct {
	*pipe.Forward
	owner string
}

type (
	newForwardIn struct {
		Key  string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request gives the same forward, for 24 hours"`
		Body wire.NewForward
	}
	forwardIn struct {
		ID string `path:"id" maxLength:"80" doc:"id of a forward of one's own"`
	}
)

func (k *Keeper) addForwards(a *route.API) {
	const tag = "forwards"
	route.Add(a, route.Route{Method: "POST", Path: "/v1/forwards", ID: "open-forward", Tag: tag, Need: access.NeedRun, Status: http.StatusCreated,
		Summary: "Forward a port, until it is closed or the keeper ends. The keeper's machine listens or connects, so it is for callers on its socket; an agent may have local ones that a rule of the policy allows"}, k.newForward)
	route.Add(a, route.Route{Method: "GET", Path: "/v1/forwards", ID: "list-forwards", Summary: "Ports that are forwarded for the caller", Tag: tag, Need: access.NeedSee},
		func(_ context.Context, c *access.Caller, _ *route.None) (*route.Body[wire.Forwards], error) {
			out := &wire.Forwards{Items: []wire.Forward{}}
			for _, w := range k.forwards.of(c.Principal) {
				out.Items = append(out.Items, describeForward(w))
			}
			slices.SortFunc(out.Items, func(a, b wire.Forward) int { return a.Opened.Compare(b.Opened) })
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "DELETE", Path: "/v1/forwards/{id}", ID: "close-forward", Summary: "Forward a port no longer, and end its connections: the answer says what has passed", Tag: tag, Need: access.NeedRun},
		func(_ context.Context, c *access.Caller, in *forwardIn) (*route.Body[wire.Forward], error) {
			w := k.forwards.find(c.Principal, in.ID)
			if w == nil {
				return nil, problem.NotFound("forward", in.ID)
			}
			if err := w.Close(); err != nil {
				return nil, problem.New(http.StatusInternalServerError, "audit", "the forward is closed, and that is missing from the audit log: %v", err)
			}
			k.forwards.remove(w.ID()) // at once: who has been answered sees it no more
			out := describeForward(w)
			return route.JSON(&out), nil
		})
}

var forwardOptions = map[string]string{wire.ForwardLocal: "-L", wire.ForwardRemote: "-R", wire.ForwardDynamic: "-D"}

func describeForward(w *openForward) wire.Forward {
	f, s := w.Forwarding(), w.Stats()
	out := wire.Forward{
		ID: w.ID(), Host: w.Host().Name, Listen: f.Listen(), To: f.Target(), Owner: w.owner, Opened: w.Opened().UTC(),
		Open: s.Open, Connections: s.Connections, Failed: s.Failed, Fault: s.Fault, Sent: s.Sent, Received: s.Received,
	}
	for kind, option := range forwardOptions {
		if option == f.Option {
			out.Kind = kind
		}
	}
	return out
}

// forwardingOf reads what a request asks for.
func forwardingOf(b *wire.NewForward) (f hosts.Forward, err error) {
	f.Option, f.Unlink = forwardOptions[b.Kind], b.Unlink
	if f.Bind = b.Listen; !hosts.IsSocket(b.Listen) {
		host, port, err := net.SplitHostPort(b.Listen)
		n, nerr := strconv.ParseUint(port, 10, 16)
		if err != nil || nerr != nil {
			return f, problem.Invalid("listen is address:port, or the path of a socket, and %.80q is neither", b.Listen)
		}
		f.Bind, f.Port = host, uint16(n)
	}
	if f.Host = b.To; b.To != "" && !hosts.IsSocket(b.To) {
		if f.Host, f.To, err = pipe.ParsePort(b.To); err != nil {
			return f, problem.Invalid("to: %v", err)
		}
	}
	if err := f.Check(); err != nil {
		return f, problem.Invalid("%v", err)
	}
	return f, nil
}

func (k *Keeper) newForward(ctx context.Context, c *access.Caller, in *newForwardIn) (*route.Body[wire.Forward], error) {
	f, err := forwardingOf(&in.Body)
	if err != nil {
		return nil, err
	}
	id, err := onlyonce.Do(ctx, k.onces, c.Principal, in.Key, struct {
		Inventory string
		Forward   wire.NewForward
	}{c.Where(), in.Body}, func() (string, error) {
		w, err := k.openForward(ctx, c, &pipe.Request{
			Target: in.Body.Host, Forward: &f, Reason: in.Body.Reason, Confirm: in.Body.Confirm, BreakGlass: in.Body.BreakGlass,
		}, nil)
		if err != nil {
			return "", err
		}
		return w.ID(), nil
	})
	if err != nil {
		return nil, err
	}
	w := k.forwards.find(c.Principal, id)
	if w == nil {
		return nil, problem.New(http.StatusGone, "closed", "that forward, %s, was opened before and is closed", id)
	}
	out := describeForward(w)
	return route.JSON(&out), nil
}

// openForward forwards a port. tell hears of connections that fail; nil logs nothing of them.
func (k *Keeper) openForward(ctx context.Context, c *access.Caller, asked *pipe.Request, tell func(error)) (_ *openForward, err error) {
	if c.Bucket != "" {
		return nil, problem.New(http.StatusForbidden, "denied", "a forward listens on the keeper's machine or connects from it, so it is for callers on its socket: run fairlead forward on your own machine")
	}
	if _, err := k.realms.Admit(c); err != nil {
		return nil, err
	}
	stayed, err := k.stay()
	if err != nil {
		return nil, err
	}
	r, leave, err := k.realms.Of(c)
	if err != nil {
		stayed()
		return nil, err
	}
	over := func() {
		leave()
		stayed()
	}
	defer func() {
		if err != nil {
			over()
		}
	}()
	h, err := r.HostAs(asked.Target, asked.Sum, 0)
	if err != nil {
		return nil, err
	}
	yes, err := k.realms.Consent(c, h.Name, pipe.ForwardScript(*asked.Forward), &wire.Run{Reason: asked.Reason, Confirm: asked.Confirm, BreakGlass: asked.BreakGlass})
	if err != nil {
		return nil, err
	}
	yes.At = asked.Answered
	opening, cancel := context.WithTimeout(context.WithValue(ctx, livepolicy.ConsentKey{}, yes), route.BeforeSending)
	defer cancel()
	cfg := pipe.Config{Sink: k.sink, Principal: c.Principal, Decide: r.Judge.DecideCommand, Lend: r.LendOrAlone}
	if !k.forwards.room() {
		return nil, problem.New(http.StatusTooManyRequests, "full", "%d ports are forwarded: close some", maxForwards)
	}
	w, err := pipe.OpenForward(opening, cfg, h, *asked.Forward, asked.Reason, asked.Ask.Caller, tell)
	if err != nil {
		return nil, err
	}
	kept := &openForward{w, c.Principal}
	if !k.forwards.add(kept) {
		_ = w.Close() // its end is on record, or the keeper's own is at fault
		err = problem.ErrEnding
		return nil, err
	}
	go func() { // ends with the forward, which ends with the keeper
		<-w.Done()
		k.forwards.remove(w.ID())
		if why := w.Why(); why != nil {
			k.log.Printf("the forward %s of %s ended: %s", w.Forwarding(), h.Name, cmdutil.OneLine(cmdutil.Text(why)))
		}
		over()
	}()
	return kept, nil
}

// holdForward forwards a port as long as the connection of a request lasts.
func (k *Keeper) holdForward(ctx context.Context, c *access.Caller, s *pipe.Server, asked *pipe.Request, opened func()) {
	w, err := k.openForward(ctx, c, asked, s.Told)
	opened()
	if err != nil {
		_ = s.Refuse(problem.Of(err))
		return
	}
	s.Hold(w.Forward)
}

func (f *forwards) room() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open) < maxForwards
}

// add reports false once the keeper ends.
func (f *forwards) add(w *openForward) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return false
	}
	if f.open == nil {
		f.open = map[string]*openForward{}
	}
	f.open[w.ID()] = w
	return true
}

func (f *forwards) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, id)
}

// of are those of a principal; "" is all.
func (f *forwards) of(principal string) (all []*openForward) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.open {
		if principal == "" || w.owner == principal {
			all = append(all, w)
		}
	}
	return all
}

// find returns one of a principal's; nil where there is none.
func (f *forwards) find(principal, id string) *openForward {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.open[id]; w != nil && w.owner == principal {
		return w
	}
	return nil
}

// close ends them all.
func (f *forwards) close() {
	f.mu.Lock()
	f.over = true
	f.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range f.of("") {
		wg.Go(func() { _ = w.Close() })
	}
	wg.Wait()
}
