package rollout

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Runner runs a command on hosts, as a *session.Pool does. It is used from many goroutines, with one host at a time each.
type Runner interface {
	Each(ctx context.Context, hs []hosts.Host, cmd session.Command) iter.Seq2[hosts.Host, session.Result]
}

// Plan says how a command is rolled out. The zero Plan runs it on all hosts at once and has no limits.
type Plan struct {
	// Batches are the sizes of the batches; the last one repeats until all hosts are done. Nil is one batch of all hosts.
	Batches []Size

	// Canary, if not nil, picks the hosts of a first batch, before Batches divide the others. It must pick one.
	Canary func(hosts.Host) bool

	// MaxFail is how many of all hosts may fail. Once more have failed, no further host gets the command. A host fails whose
	// Result is not ok, for whatever reason, or whose Verify is not.
	MaxFail Limit

	// BatchMaxFail is how many hosts of one batch may fail.
	BatchMaxFail Limit

	// Verify, if not nil, runs on the hosts of a batch on which the command succeeded, once the batch is done, also where a
	// limit has stopped the run. Its Streams are its own.
	Verify *session.Command

	// Confirm, if not nil, is asked before each batch but the first, with what has happened. An error stops the run. It may
	// take as long as ctx lasts.
	Confirm func(ctx context.Context, so Report) error

	// Deadline is how long the whole run may take, also while Confirm waits; zero is for ever. Then commands that run are
	// stopped, with status timeout, and the others do not start.
	Deadline time.Duration

	// Retry is how often a connection that cannot be made is tried again, after 1 s, 2 s, 4 s and so on up to 30 s. A command
	// of which a byte may have been sent is never sent again, and one that was approved is not tried again: its approval is used,
	// and its standard input read. Each attempt asks the command's Streams and Stdins anew.
	Retry int

	// Begin, if not nil, is told of each batch before it begins.
	Begin func(b Batch)
	// Result, if not nil, is told what became of each host, exactly once, as it comes.
	Result func(h hosts.Host, r session.Result)
	// Verified, if not nil, is told the Result of Verify on a host.
	Verified func(h hosts.Host, r session.Result)
}

// CodeNotRun is the code of the error of a host that got nothing because the run was stopped, and not canceled.
const CodeNotRun = "notrun"

// Errors of a Plan, and of the Results of hosts that got nothing.
var (
	ErrNoCanary = errors.New("no host of the run is a canary")
	ErrDeclined = errors.New("the next batch was not confirmed") // for Confirm to return
	ErrDeadline = errors.New("the deadline of the run passed")
	ErrNotRun   = errors.New("not run")
)

// Split divides hosts into the batches in which they run. It sends nothing.
func (p Plan) Split(hs []hosts.Host) ([]Batch, error) {
	rest := hs
	var batches []Batch
	if p.Canary != nil {
		var first, others []hosts.Host
		for _, h := range hs {
			if p.Canary(h) {
				first = append(first, h)
			} else {
				others = append(others, h)
			}
		}
		if len(first) == 0 {
			return nil, ErrNoCanary
		}
		batches, rest = append(batches, Batch{Canary: true, Hosts: first}), others
	}
	for i := 0; len(rest) > 0; i++ {
		n := len(rest)
		if len(p.Batches) > 0 {
			n = min(n, p.Batches[min(i, len(p.Batches)-1)].Of(len(hs)))
		}
		if n < 1 {
			return nil, errors.New("a batch of no hosts")
		}
		batches, rest = append(batches, Batch{Hosts: rest[:n:n]}), rest[n:]
	}
	for i := range batches {
		batches[i].Number = i + 1
	}
	return batches, nil
}
