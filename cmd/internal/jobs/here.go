package jobs

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// here reaches jobs from this process.
type here struct {
	o    *Options
	pool *session.Pool
	book *jobwork.Book
}

// local returns what reaches jobs from here. judged is the policy; nil is the user's own.
func (o *Options) local(judged policy.Decider) (*here, error) {
	secrets, who := o.secrets(), redact.Everybody
	if o.Caller().Mark != "" { // agents see no secrets
		who = redact.Guarded
	}
	pool, err := o.Pool(cmdutil.PoolOptions{Forks: session.DefaultForks, Policy: judged, Redact: secrets})
	if err != nil {
		return nil, err
	}
	o.Reason, _ = secrets.String(o.Reason, redact.Guarded)
	find := func(name string) (hosts.Host, error) { return o.host(name) }
	return &here{o, pool, jobwork.New(jobwork.Config{Pool: pool, Host: find, Secrets: secrets, Audience: who})}, nil
}

func (l *here) close() { l.book.Close() }

func (l *here) start(ctx context.Context, h hosts.Host) (*wire.Job, error) {
	j, r, err := jobs.On(l.pool, h).Start(ctx, jobs.Spec{ID: l.o.id, Command: l.o.Script, Dir: l.o.CWD, Reason: l.o.Reason})
	if err != nil {
		if r.Err != nil && r.Decision.Hint != "" && r.Status == session.StatusDenied {
			err = &wire.Problem{Code: "denied", Detail: cmdutil.Why(r.Err) + ": " + cmdutil.OneLine(r.Decision.Hint)}
		}
		return nil, err
	}
	out := wire.JobOf(j)
	out.Exec = r.Exec
	return out, nil
}

func (l *here) list(ctx context.Context, hs []hosts.Host, group string) ([]jobs.Job, error) {
	if group == "" {
		return l.book.List(ctx, hs, l.o.Reason)
	}
	return l.book.ListGroup(ctx, hs, group, l.o.Reason)
}

func (l *here) ref(id string) jobs.Ref {
	i := strings.LastIndexByte(id, '/') // find has made it
	return jobs.Ref{Host: id[:i], ID: id[i+1:]}
}

func (l *here) job(ctx context.Context, id string, wait time.Duration) (*wire.Job, error) {
	j, err := l.book.State(ctx, l.ref(id), wait, l.o.Reason)
	return wire.JobOf(j), err
}

func (l *here) output(ctx context.Context, id, stream string, offset int64, wait time.Duration) (*wire.JobPage, error) {
	j, p, err := l.book.Output(ctx, l.ref(id), jobwork.Ask{Stream: stream, Offset: offset, Limit: pageBytes, Wait: wait, Reason: l.o.Reason})
	if err != nil {
		return nil, err
	}
	out := &wire.JobPage{Page: wire.Page{Stream: stream, Offset: p.Offset, Next: p.Next, End: p.End, Skipped: p.Skipped}, Job: *wire.JobOf(j)}
	out.Encoding, out.Data = wire.Encode(p.Text, utf8.Valid(p.Text))
	return out, nil
}

func (l *here) stop(ctx context.Context, id string, grace time.Duration) (*wire.Job, error) {
	j, err := l.book.Stop(ctx, l.ref(id), grace, l.o.Reason)
	return wire.JobOf(j), err
}

func (l *here) discard(ctx context.Context, id string) (*wire.Job, error) {
	j, err := l.book.Discard(ctx, l.ref(id), l.o.Reason)
	return wire.JobOf(j), err
}

func (l *here) collect(ctx context.Context, id string) (*wire.Job, error) {
	j, err := l.book.Collect(ctx, l.ref(id), l.o.Reason)
	return wire.JobOf(j), err
}
