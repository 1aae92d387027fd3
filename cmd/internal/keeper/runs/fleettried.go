package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// triesFirst reports whether the command is tried held to reading on all hosts before anybody is asked: on each of them it is allowed,
// or would be tried by itself. One host's session does that by itself.
func (x *fleet) triesFirst(ctx context.Context) bool {
	if len(x.hosts) == 1 || x.steps != nil || x.inlets != nil || x.outlets != nil {
		return false
	}
	asks := false
	for _, h := range x.hosts {
		d, err := x.engine.Decide(ctx, policy.Request{
			Principal: x.c.Principal, Host: h, Shell: h.Shell, Command: x.cmd.ScriptOn(h), Reason: x.cmd.Reason, Elsewhere: x.cmd.Program,
		})
		if err != nil || d.Verdict != policy.Allow && d.First == nil {
			return false
		}
		asks = asks || d.First != nil
	}
	return asks
}

// tried runs the command on all hosts, where nobody is asked, and tells of those that are done. The others were refused something, or
// cannot hold it: why says what, in words for those who approve it there. many gets what takes secrets out of what is told.
func (x *fleet) tried(ctx context.Context, cmd session.Command, many **censor.Many, tell func(hosts.Host, session.Result)) (left []hosts.Host, why string) {
	var mu sync.Mutex // guards begun
	begun := map[targets.Key]*lateStreams{}
	cmd.Unasked = true
	cmd.Streams = func(h hosts.Host) (io.Writer, io.Writer) {
		x.turns.Turn(x.label(h))
		l := &lateStreams{begin: sync.OnceValues(func() (io.Writer, io.Writer) { return x.begin(h) })}
		mu.Lock()
		begun[targets.KeyOf(h)] = l
		mu.Unlock()
		return lateStream{l, false}, lateStream{l, true}
	}
	*many = x.censor(&cmd)
	var reasons []string
	at := map[string][]string{} // the hosts that give a reason
	for h, r := range x.r.Pool.Each(ctx, x.hosts, cmd) {
		if r.Status == session.StatusDenied && r.Decision.Verdict == policy.Ask && r.Decision.First != nil && errors.Is(r.Err, session.ErrDenied) {
			left = append(left, h)
			if at[r.Decision.Reason] == nil {
				reasons = append(reasons, r.Decision.Reason)
			}
			at[r.Decision.Reason] = append(at[r.Decision.Reason], x.label(h))
			continue
		}
		mu.Lock()
		l := begun[targets.KeyOf(h)]
		mu.Unlock()
		if l != nil {
			l.begin()
		}
		tell(h, r)
	}
	for i, text := range reasons {
		if len(reasons) > 1 {
			reasons[i] = fmt.Sprintf("%s: %s", hosts.Fold(at[text]), text)
		}
	}
	return left, strings.Join(reasons, "; ")
}

// lateStreams say that a host's turn has come when there is something to show: a command that is only tried may show nothing.
type lateStreams struct {
	begin func() (stdout, stderr io.Writer)
}

type lateStream struct {
	of     *lateStreams
	errors bool
}

func (s lateStream) Write(p []byte) (int, error) {
	w, e := s.of.begin()
	if s.errors {
		w = e
	}
	if w == nil {
		return len(p), nil
	}
	return w.Write(p)
}
