package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// startAll starts one job on several hosts: one request, judged as a whole before it starts anywhere, and approved once. Its
// ids on the hosts are one, with a number behind it, which finds all of them again.
func startAll(ctx context.Context, o *Options, hs []hosts.Host) error {
	keeper, err := o.Place.For(ctx, hs)
	if err != nil {
		return err
	}
	if keeper != nil {
		defer keeper.Close()
	}
	judge := consent.Judge{
		IO: o.IO, Caller: o.Caller(), Policy: o.Policy, Terminal: o.Terminal, Yes: o.Yes, Reason: o.Reason, Approvable: keeper != nil, Job: true,
		Scripts: o.scripts(),
	}
	judge.TellAgent()
	if err := judge.Many(ctx, o.Settings, "job", o.Script, hs); err != nil {
		return err
	}
	judged, err := judge.Decide(ctx, o.Script, hs)
	if err != nil {
		return err
	}
	o.Reason, o.id = judged.Reason, jobs.NewID()
	g := &groupStart{o: o, labels: targets.Labels(hs), at: map[targets.Key]int{}, out: make([]bytes.Buffer, len(hs))}
	for i, h := range hs {
		g.at[targets.KeyOf(h)] = i
	}
	cmd := session.Command{Script: o.Script, Scripts: o.scripts(), Reason: o.Reason, Group: client.NewRunID(), Streams: g.streams}
	if g.work, err = jobs.StartOnEach(&cmd, o.id, o.Caller().Principal, hs); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	defer o.Running.Track(func() []string { return g.labels })()
	if err := o.where(keeper, judged).Run(ctx, hs, cmd, g.began); err != nil {
		return err
	}
	if err := g.print(); err != nil {
		return err
	}
	if ended := outcome.Ended(context.Cause(ctx)); ended != nil {
		return ended
	}
	return g.codes.exit()
}

// where is what starts a job on many hosts: the keeper, or this process.
func (o *Options) where(keeper *client.Client, judged *consent.Verdict) place.Runner {
	secrets := o.secrets()
	here := &place.Here{Secrets: secrets, Redact: o.Caller().Mark != "", Open: sync.OnceValues(func() (*session.Pool, error) {
		return o.Pool(cmdutil.PoolOptions{Forks: session.DefaultForks, Policy: judged, Redact: secrets})
	})}
	if keeper == nil || judged.Refused() { // what was refused goes nowhere, and is put on record from here
		return here
	}
	there := &place.There{Keeper: keeper, Request: wire.NewRun{Job: o.id}, Waiting: place.TellWaiting(o.IO.Err)}
	there.Answers = func(in *wire.NewRun, names []string) { place.Answers(in, o.Caller(), o.Yes, judged, names) }
	return &place.Either{There: there, Here: here, Place: o.Place, Tell: o.IO.Err}
}

// secrets are those of the command, and of all.
func (o *Options) secrets() *redact.Set {
	secrets := redact.New(redact.Config{})
	secrets.LearnFromCommand(o.Script)
	for _, text := range o.each {
		secrets.LearnFromCommand(text)
	}
	return secrets
}

// groupStart takes how a job begins on several hosts.
type groupStart struct {
	o      *Options
	work   *jobs.Work
	labels []string
	at     map[targets.Key]int
	out    []bytes.Buffer // what the starts print, which says how they went

	begun, outside []string       // hosts as they were asked for: in the inventory, and others
	causes         outcome.Causes // of hosts that got no job
	codes          tally
	err            error // of the output
}

// streams takes what the start on a host prints. It has a bound of its own.
func (g *groupStart) streams(h hosts.Host) (stdout, stderr io.Writer) {
	return &g.out[g.at[targets.KeyOf(h)]], nil
}

// began takes how it went on a host.
func (g *groupStart) began(e place.HostEnd) {
	i, h, r := g.at[targets.KeyOf(e.Host)], e.Host, e.Result
	ref := jobs.Ref{Host: targets.Asked(h), ID: g.work.ID(h.Name)}
	sent := r.Err != nil && r.Err.Sent
	switch {
	case r.Status == session.StatusLost, r.Status == session.StatusCanceled && sent:
		g.codes.add(mayRun(g.o.IO.Err, g.labels[i], ref, "the connection went away"))
		return
	case r.Status == session.StatusTimeout && sent:
		g.codes.add(mayRun(g.o.IO.Err, g.labels[i], ref, "no answer came in time"))
		return
	case r.Status != session.StatusOK && r.Status != session.StatusExit:
		g.causes.Add(outcome.CauseOf(g.labels[i], r, ""))
		g.codes.all.Add(r)
		return
	}
	switch err := jobs.Started(h.Name, g.out[i].Bytes()); {
	case errors.Is(err, session.ErrUnknownOutcome):
		g.codes.add(mayRun(g.o.IO.Err, g.labels[i], ref, "the host answered something else"))
		return
	case err != nil:
		g.codes.add(g.o.failed(context.Background(), g.labels[i], err))
		return
	}
	g.codes.all.Add(session.Result{Status: session.StatusOK})
	if strings.Contains(ref.Host, "@") || strings.Contains(ref.Host, ":") {
		g.outside = append(g.outside, ref.Host)
	} else {
		g.begun = append(g.begun, ref.Host)
	}
	if g.o.JSON && g.err == nil {
		g.err = json.NewEncoder(g.o.IO.Out).Encode(wire.Job{ID: ref.String(), Host: h.Name, State: string(jobs.Running), Exec: r.Exec})
	}
}

// print prints how hosts failed, and the name of the job, which picks the hosts on which it has begun.
func (g *groupStart) print() error {
	g.causes.Tell(g.o.IO.Err)
	if g.err != nil || g.o.JSON || len(g.begun)+len(g.outside) == 0 {
		return g.err
	}
	on := g.outside
	if len(g.begun) > 0 {
		on = append([]string{hosts.Fold(g.begun)}, on...)
	}
	_, err := fmt.Fprintf(g.o.IO.Out, "%s/%s\n", strings.Join(on, ","), g.o.id)
	return err
}

// mayRun says that nobody knows whether a job has begun, and where to look.
func mayRun(to io.Writer, host string, ref jobs.Ref, why string) error {
	fmt.Fprintf(to, "fairlead: %s: outcome unknown: %s while the job %s was started. To see whether it runs: fairlead jobs list %s\n", host, why, ref, printable.Word(ref.Host))
	return cmdutil.Exit(exitcode.Unknown)
}
