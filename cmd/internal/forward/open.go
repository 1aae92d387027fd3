package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// run opens all forwards, in the keeper or from here.
func run(ctx context.Context, o *Options) error {
	h, err := o.host()
	if err != nil {
		return err
	}
	if len(o.Forwards) == 0 {
		if o.Forwards, err = hostscmd.Forwards(h, o.f.NoPrograms(), false); err != nil {
			return err
		}
		if len(o.Forwards) == 0 {
			return cmdutil.Usagef("nothing is forwarded: give -L, -R or -D, or set forwards of %s in the inventory", h.Name)
		}
	}
	var lines []string
	if o.Unlink {
		lines = []string{"StreamLocalBindUnlink=yes"}
	}
	if o.Forwards, err = hostscmd.Completed(h, o.Forwards, o.f.NoPrograms(), lines...); err != nil {
		return err
	}
	if o.Unlink && !slices.ContainsFunc(o.Forwards, func(f hosts.Forward) bool { return f.Unlink }) {
		return cmdutil.Usagef("--unlink is for a socket that is listened on here, and these forwards name no such socket: leave it out")
	}
	judge := consent.Judge{IO: o.f.IO, Caller: o.f.Caller(), Policy: o.f.Policy, Terminal: o.f.Terminal, Yes: o.Yes, Reason: o.Reason}
	judge.TellAgent()
	said := make([]*consent.Verdict, len(o.Forwards))
	for i, f := range o.Forwards {
		if script := pipe.ForwardScript(f); script != "" {
			if said[i], err = judge.Decide(ctx, script, []hosts.Host{h}); err != nil {
				return err
			}
		}
	}
	chooser := place.NewChooser(o.f)
	keeper, err := chooser.For(ctx, []hosts.Host{h})
	if err != nil {
		return err
	}
	if keeper == nil {
		return o.here(ctx, h, said)
	}
	defer keeper.Close()
	err = o.there(ctx, keeper, h, said)
	if err != nil && chooser.Auto() && place.Elsewise(err) {
		fmt.Fprintf(o.f.IO.Err, "fairlead: going on without a keeper: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
		return o.here(ctx, h, said)
	}
	return o.failed(ctx, h, err)
}

// host is the one that the argument names.
func (o *Options) host() (hosts.Host, error) {
	all := targets.Resolver{Inventory: o.f.Inventory, In: strings.NewReader(""), Reach: o.f.Reach()}
	hs, err := all.Resolve(o.Target, "")
	switch {
	case err != nil:
		return hosts.Host{}, &cmdutil.UsageError{Err: err}
	case len(hs) > 1:
		return hosts.Host{}, cmdutil.Usagef("a forward leads through one host, and %s picks %d", o.Target, len(hs))
	}
	return hs[0], nil
}

// there opens all forwards in the keeper, or none.
func (o *Options) there(ctx context.Context, keeper *client.Client, h hosts.Host, said []*consent.Verdict) error {
	var opened []wire.Forward
	for i, f := range o.Forwards {
		in := wire.NewForward{Host: targets.Asked(h), Kind: kindOf(f.Option), Listen: f.Listen(), To: f.Target(), Unlink: f.Unlink, Reason: o.Reason}
		if v := said[i]; v != nil {
			var answers wire.NewRun
			place.Answers(&answers, o.f.Caller(), o.Yes, v, []string{h.Name})
			in.Confirm, in.BreakGlass, in.Reason = answers.Confirm, answers.BreakGlass, v.Reason
		}
		got, err := keeper.OpenForward(ctx, in)
		if err != nil {
			for _, f := range opened {
				_, _ = keeper.CloseForward(context.WithoutCancel(ctx), f.ID) // a keeper that is gone has closed it
			}
			return err
		}
		opened = append(opened, got)
	}
	for _, f := range opened {
		if err := o.print(f); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) print(f wire.Forward) error {
	if o.JSON {
		return o.printJSON(f)
	}
	_, err := fmt.Fprintf(o.f.IO.Out, "%s\t%s\t%s\n", f.ID, f.Host, inWords(f))
	return err
}

// failed tells why there is no forward as commands tell that of a host.
func (o *Options) failed(ctx context.Context, h hosts.Host, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		if ended := outcome.Ended(cause); ended != nil {
			return ended
		}
		return cause
	}
	if se, ok := errors.AsType[*session.Error](err); ok {
		if errors.Is(se, session.ErrAudit) {
			return se
		}
		err = &wire.Problem{Code: se.Code, Detail: cmdutil.WhyAt(se), Retriable: se.Retriable}
	}
	r, err := place.Refused(err, h.Name, "", false)
	if err != nil {
		return err
	}
	fmt.Fprint(o.f.IO.Err, outcome.Tell(h.Name, r))
	return cmdutil.Exit(exitcode.Host(r))
}

// here forwards from this process, until ctx ends or a forward does.
func (o *Options) here(ctx context.Context, h hosts.Host, said []*consent.Verdict) error {
	sink, err := o.f.Audit()
	if err != nil {
		return err
	}
	lends := &pipe.Lender{Make: func() (*session.Pool, error) { return o.f.Pool(cmdutil.PoolOptions{Forks: 1}) }}
	defer o.f.Running.Track(func() []string { return []string{h.Name} })()
	var opened []*pipe.Forward
	defer func() {
		for _, w := range opened {
			w.Close()
		}
	}()
	told := func(err error) {
		fmt.Fprintf(o.f.IO.Err, "fairlead: %s: %s\n", h.Name, cmdutil.OneLine(cmdutil.Text(err)))
	}
	ended := make(chan *pipe.Forward, len(o.Forwards))
	for i, f := range o.Forwards {
		w, err := o.openHere(ctx, sink, lends, h, f, said[i], told)
		if err != nil {
			return o.failed(ctx, h, err)
		}
		opened = append(opened, w)
		go func() { // ends with the forward, which is closed above
			<-w.Done()
			ended <- w
		}()
	}
	for _, w := range opened {
		f := w.Forwarding()
		if err := o.print(wire.Forward{ID: w.ID(), Host: h.Name, Kind: kindOf(f.Option), Listen: f.Listen(), To: f.Target(), Owner: o.f.Caller().Principal, Opened: w.Opened().UTC()}); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case w := <-ended:
		return o.failed(ctx, h, &session.Error{Op: "forward", Host: h.Name, Code: "unreachable", Err: fmt.Errorf("%s: %w", w.Forwarding(), w.Why())})
	}
}

func (o *Options) openHere(ctx context.Context, sink audit.Sink, lends *pipe.Lender, h hosts.Host, f hosts.Forward, v *consent.Verdict, told func(error)) (*pipe.Forward, error) {
	reason := o.Reason
	if v == nil { // each connection is judged
		engine, err := o.f.Policy("")
		if err != nil {
			return nil, err
		}
		if err := engine.Admit(o.f.Caller().Principal, time.Now()); err != nil {
			return nil, err
		}
		cfg := pipe.Config{Sink: sink, Principal: o.f.Caller().Principal, Decide: engine.Decide, Lend: lends.Lend}
		return pipe.OpenForward(ctx, cfg, h, f, reason, "", told)
	}
	v.Count()
	cfg := pipe.Config{Sink: sink, Principal: o.f.Caller().Principal, Decide: v.Decide, Lend: lends.Lend}
	return pipe.OpenForward(ctx, cfg, h, f, v.Reason, "", told)
}
