package run

import (
	"context"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// runner runs a command on hosts. What shows the output and the results does not know where that is.
type runner interface {
	// run runs cmd on all of hs and tells each Result as it comes, from one goroutine, as session.Pool.Each does. The end of
	// ctx stops what runs; results come all the same. The error says why there are none, or no more.
	run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(hostEnd)) error
}

// hostEnd is what became of one host.
type hostEnd struct {
	host   hosts.Host
	result session.Result
	taken  redact.Counts // secrets that were taken out of what it printed
}

// here runs commands from this process.
type here struct {
	open    func() (*session.Pool, error) // at most once
	secrets *redact.Set
	redact  bool // they are taken out of what is shown, too
}

// here returns the runner of this process. judged is what decides.
func (o *Options) here(n int, judged *consent.Verdict, secrets *redact.Set) *here {
	return &here{secrets: secrets, redact: o.Redact, open: sync.OnceValues(func() (*session.Pool, error) {
		return o.Pool(cmdutil.PoolOptions{Forks: min(o.Forks, n), Policy: judged, Redact: secrets})
	})}
}

func (h *here) run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(hostEnd)) error {
	pool, err := h.open()
	if err != nil {
		return err
	}
	cmd.Reason, _ = h.secrets.String(cmd.Reason, redact.Guarded)
	var many *censor.Many
	if h.redact {
		many, cmd = censor.NewMany(h.secrets, redact.Guarded, cmd)
	}
	for host, r := range pool.Each(ctx, hs, cmd) {
		e := hostEnd{host: host, result: r}
		if many != nil {
			e.result, e.taken = many.Result(host, r)
		}
		done(e)
	}
	return nil
}
