package run

import (
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// here returns the runner of this process. judged is what decides.
func (o *Options) here(n int, judged *consent.Verdict, secrets *redact.Set) *place.Here {
	forks, _ := dialer.CapForks(min(o.Forks, n)) // the pool tells
	return &place.Here{Forks: forks, Secrets: secrets, Redact: o.Redact, Bound: judged.Bound, Open: sync.OnceValues(func() (*session.Pool, error) {
		return o.Pool(cmdutil.PoolOptions{Forks: min(o.Forks, n), Policy: judged, Redact: secrets})
	})}
}

// there returns the runner in the keeper, as far as the flags and what was answered say it.
func (o *Options) there(c *client.Client, judged *consent.Verdict, steps *place.Steps) *place.There {
	t := &place.There{Keeper: c, Steps: steps, Waiting: place.TellWaiting(o.IO.Err), Request: wire.NewRun{
		Partial: o.Partial, Forks: o.Forks, Shell: o.shell, Become: o.Become, Stdin: o.Stdin != stdinNone, Redact: o.Redact, Quiet: o.JSON && o.OutDir == "" && o.MaxOutput == 0,
	}}
	if o.Program {
		t.Request.Program, t.Request.Args = o.Words[0], o.Words[1:]
	}
	if o.ConnectTimeout > 0 {
		s := o.ConnectTimeout.Seconds()
		t.Request.ConnectTimeoutS = &s
	}
	t.Answers = func(in *wire.NewRun, names []string) { place.Answers(in, o.Caller(), o.Yes, judged, names) }
	return t
}
