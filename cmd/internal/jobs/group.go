package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outdir"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// doing does something to a job of a group, writes what it reads, and returns how the job is then.
type doing func(ctx context.Context, s site, j *wire.Job, out, err io.Writer) (*wire.Job, error)

// removing takes a job off its host.
type removing func(ctx context.Context, s site, j *wire.Job) (*wire.Job, error)

// ofAll does something to each job of a group, and tells how each is then: how it ended, where tell is nil. remove, if it is not
// nil, is called once all that do has read is written.
func (o *Options) ofAll(ctx context.Context, g *group, tell func(host string, j *wire.Job) error, do doing, remove removing) error {
	all, s, codes := g.all, g.site, g.codes
	defer s.close()
	width := 0
	labels := make([]string, len(all))
	for i, j := range all {
		labels[i] = j.Host
		width = max(width, len(j.Host))
	}
	var dir *outdir.Dir
	if o.OutDir != "" {
		var err error
		if dir, err = outdir.New(o.OutDir, labels); err != nil {
			return cmdutil.Usagef("--out-dir: %w", err)
		}
	}
	var mu sync.Mutex // guards the outputs, codes and folded
	var folded folding
	forEach(len(all), func(i int) {
		host, s := labels[i], s
		if o.Follow {
			one := *o
			one.Target = all[i].ID
			f := &followed{site: shared{s}, o: &one, host: host}
			defer func() { f.close() }()
			s = f
		}
		prefix := fmt.Sprintf("%-*s | ", width, host)
		out, errw := &prefixed{mu: &mu, to: o.IO.Out, prefix: prefix}, &prefixed{mu: &mu, to: o.IO.Err, prefix: prefix}
		var outTo, errTo io.Writer = out, errw
		if dir != nil {
			outTo, errTo = dir.Start(host)
		}
		both := [2]*foldedOutput{newFolded(), newFolded()}
		if o.Fold {
			outTo, errTo = both[0], both[1]
		}
		j, err := do(ctx, s, &all[i], outTo, errTo)
		err = cmp.Or(err, out.end(), errw.end())
		if dir != nil {
			if err == nil {
				if err = dir.Done(host, resultOf(j)); err != nil && !errors.Is(err, os.ErrExist) {
					err = errors.Join(err, dir.Drop(host)) // the job is still on its host: the next attempt needs the place
				}
				err = o.written(host, err)
			} else if gone := dir.Drop(host); gone != nil {
				fmt.Fprintf(o.IO.Err, "fairlead: %s: --out-dir: %s\n", host, cmdutil.Text(gone))
			}
		}
		var shown error
		if err == nil && o.JSON {
			mu.Lock()
			shown = json.NewEncoder(o.IO.Out).Encode(j)
			mu.Unlock()
		}
		if err == nil && shown == nil && remove != nil {
			j, err = remove(ctx, s, j)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			codes.add(o.failedOne(ctx, host, err))
			return
		}
		if shown != nil {
			codes.add(shown)
		}
		if o.Fold {
			folded.add(host, j, both)
		}
		if tell != nil {
			codes.add(tell(host, j))
			return
		}
		if o.waits && !isOver(j) {
			codes.add(o.waited(host, j))
			return
		}
		_ = o.ended(host, j)                                                    // which reports it; its code is the job's own
		if j.ExitCode != nil && *j.ExitCode != 0 && j.Signal == "" && !o.Fold { // the exit code of the call does not say on which host
			fmt.Fprintf(o.IO.Err, "fairlead: %s: exit %d\n", host, *j.ExitCode)
		}
		codes.all.Add(resultOf(j))
	})
	if err := folded.print(o.IO.Out); err != nil {
		return err
	}
	return codes.exit()
}

// resultOf is the end of a job as that of a command. A job that has begun was allowed.
func resultOf(j *wire.Job) session.Result {
	r := session.Result{
		Host: j.Host, Command: j.Command, State: session.Done, Status: session.StatusOK, ExitCode: j.ExitCode, Lane: "session",
		StdoutBytes: j.StdoutBytes + j.Omitted["stdout"], StderrBytes: j.StderrBytes + j.Omitted["stderr"],
		OmittedStdout: j.Omitted["stdout"], OmittedStderr: j.Omitted["stderr"], StoppedBy: j.StoppedBy, MayRun: j.MayRun,
		Decision: policy.Decision{Verdict: policy.Allow, Reason: "the job was judged before it was started"},
	}
	if j.Started != nil {
		r.Started = *j.Started
		if j.Ended != nil {
			r.Duration = j.Ended.Sub(*j.Started)
		}
	}
	switch {
	case j.State == string(jobs.Running):
	case j.ExitCode == nil:
		r.Status = session.StatusLost
	case *j.ExitCode != 0:
		r.Status = session.StatusExit
	}
	return r
}

// forEach calls do for each of n, some at a time.
func forEach(n int, do func(i int)) {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(n, session.DefaultForks) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	wg.Wait()
}

// tally adds up the ends of several jobs. The zero tally is of none.
type tally struct {
	all exitcode.Tally
	err error // that is none of a job
}

// add takes an error of a job's command in.
func (t *tally) add(err error) {
	code := exitcode.OK
	if exit := (*cmdutil.ExitError)(nil); errors.As(err, &exit) {
		code = exit.Code
	} else if err != nil {
		t.err = err
		return
	}
	status := session.StatusExit
	switch code {
	case exitcode.OK:
		status = session.StatusOK
	case exitcode.Unreachable:
		status = session.StatusUnreachable
	case exitcode.Unknown:
		status = session.StatusLost
	case exitcode.Denied:
		status = session.StatusDenied
	case exitcode.Internal:
		status = session.StatusError
	}
	t.all.Add(session.Result{Status: status})
}

func (t *tally) exit() error {
	if t.err != nil {
		return t.err
	}
	t.all.Own = true
	return cmdutil.Exit(t.all.Code())
}

// maxHeld is how much of a line waits for its end.
const maxHeld = 64 << 10

// prefixed writes whole lines behind a host's name.
type prefixed struct {
	mu     *sync.Mutex
	to     io.Writer
	prefix string
	held   []byte
}

func (p *prefixed) Write(text []byte) (int, error) {
	for _, c := range text {
		p.held = append(p.held, c)
		if c != '\n' && len(p.held) < maxHeld {
			continue
		}
		if err := p.flush(); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

func (p *prefixed) flush() error {
	line := p.prefix + string(p.held)
	if !strings.HasSuffix(line, "\n") {
		line += "\n"
	}
	p.held = p.held[:0]
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.to, line)
	return err
}

// end writes what is left.
func (p *prefixed) end() error {
	if len(p.held) == 0 {
		return nil
	}
	return p.flush()
}
