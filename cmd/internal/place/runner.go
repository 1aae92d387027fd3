package place

import (
	"context"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Runner runs a command on hosts. What shows the output and the results does not know where that is.
type Runner interface {
	// Run runs cmd on all of hs and tells each Result as it comes, from one goroutine, as session.Pool.Each does. The end of
	// ctx stops what runs; results come all the same. The error says why there are none, or no more.
	Run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(HostEnd)) error
}

// HostEnd is what became of one host.
type HostEnd struct {
	Host   hosts.Host
	Result session.Result
	Taken  redact.Counts // secrets that were taken out of what it printed
}

// Here runs commands from this process.
type Here struct {
	Open    func() (*session.Pool, error) // at most once
	Secrets *redact.Set                   // nil means that nothing is taken out of anything
	Redact  bool                          // they are taken out of what is shown, too
	Bound   func(*session.Command)        // bounds what a command may take; nil is no bounds

	Forks   int                   // hosts at a time of a rollout
	Steps   *Steps                // how it is rolled out; nil is all at once
	Refused func(hosts.Host) bool // whether the command has been refused on a host, which is then no part of a rollout; nil is never
}

func (h *Here) Run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(HostEnd)) error {
	pool, err := h.Open()
	if err != nil {
		return err
	}
	if h.Bound != nil {
		h.Bound(&cmd)
	}
	if h.Secrets != nil {
		cmd.Reason, _ = h.Secrets.String(cmd.Reason, redact.Guarded)
	}
	var many *censor.Many
	if h.Redact {
		many, cmd = censor.NewMany(h.Secrets, redact.Guarded, cmd)
	}
	tell := func(host hosts.Host, r session.Result) {
		e := HostEnd{Host: host, Result: r}
		if many != nil {
			e.Result, e.Taken = many.Result(host, r)
		}
		done(e)
	}
	var rest []hosts.Host
	if h.Steps != nil {
		hs, rest = targets.Divide(hs, func(host hosts.Host) bool { return h.Refused != nil && h.Refused(host) })
	}
	ctx = sshconn.OneRun(ctx)
	for host, r := range pool.Each(ctx, hs, cmd) {
		tell(host, r)
	}
	if len(rest) == 0 {
		return nil
	}
	if h.Steps.lacks(rest) {
		h.Steps.without(hs, rest, cmd, done)
		return nil
	}
	cmd.Forks = h.Forks
	return h.Steps.run(ctx, pool, rest, cmd, h, tell)
}
