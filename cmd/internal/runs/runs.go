// Package runs implements "fairlead runs": what became of commands on hosts, after they were run.
package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// options is what all the commands need.
type options struct {
	io     *iostreams.IOStreams
	store  func() (runstore.Store, error)
	caller func() cmdutil.Caller

	keepers cmdutil.Keepers

	json bool
	n    int
}

const long = `Show, follow, stop and repeat runs: the commands that you ran with fairlead run.

Fairlead keeps the last 200 runs: when each ran, on which hosts, its command and how it ended on each host. It keeps no
output, and a command that holds a secret only redacted; such a command cannot be run again as it was.`

const example = `  fairlead runs list
  fairlead runs show
  fairlead runs rerun r_… --on failed
  fairlead run --rerun notrun --batch 5`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &options{io: f.IO, store: f.Runs, caller: f.Caller, keepers: f.Keepers}
	cmd := &cobra.Command{
		Use: "runs", Short: "Show and repeat runs", Long: long, Example: example, Args: cmdutil.Group, RunE: cmdutil.Help,
	}
	for _, sub := range []*cobra.Command{o.showCmd(), o.followCmd(), o.stopCmd(), rerunCmd(f)} {
		sub.ValidArgsFunction = completion.Words(1, run.IDs(f))
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(o.listCmd())
	return cmd
}

// ids are the runs that are kept, the newest first, for completion.
func (o *options) listCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List your runs, the newest first",
		Long: `List your runs, the newest first.

In a pipe it is one line per run, separated by tabs: id, start, state, hosts, ok, failed, not run, command. A run is running,
done, or lost where its process went away without a report.`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return o.list() },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line")
	cmd.Flags().IntVarP(&o.n, "lines", "n", 20, "list at most `n` runs; 0 lists all")
	return cmd
}

func (o *options) showCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [RUN]", Short: "Show how a run ended on its hosts",
		Args: cmdutil.Args(0, 1, "at most one run"),
		RunE: func(_ *cobra.Command, args []string) error { return o.show(args) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print all that is kept of it, as JSON")
	return cmd
}

func (o *options) followCmd() *cobra.Command {
	return &cobra.Command{
		Use: "follow [RUN]", Short: "Show how a run ends on each host, until its end",
		Long: "Show how a run ends on each host as it happens, until the run ends; the exit code is the run's.",
		Args: cmdutil.Args(0, 1, "at most one run"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.follow(cmd.Context(), args) },
	}
}

func (o *options) stopCmd() *cobra.Command {
	return &cobra.Command{
		Use: "stop RUN", Short: "Stop a run as ^C does",
		Args: cmdutil.Args(1, 1, "one run"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.stop(cmd.Context(), args) },
	}
}

func rerunCmd(f *cmdutil.Factory) *cobra.Command {
	on := runstore.Failed
	cmd := &cobra.Command{
		Use: "rerun [RUN]", Short: "Run a run again, on the hosts where it failed",
		Long: `Run a run's command again on some of its hosts, in the same batches and with the same limits, as fairlead run --rerun does,
which takes all the flags of run.

failed includes hosts whose outcome is unknown: the command may have run there. notrun takes only hosts that certainly got nothing.`,
		Args: cmdutil.Args(0, 1, "at most one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch on {
			case runstore.Failed, runstore.Unreachable, runstore.NotRun, runstore.All:
			default:
				return cmdutil.Usagef("--on must be failed, unreachable, notrun or all")
			}
			return f.RunInner(cmd.Context(), run.NewCmd(f, nil), append([]string{"--rerun", on}, args...))
		},
	}
	cmd.Flags().StringVar(&on, "on", on, "pick the hosts that are `failed|unreachable|notrun|all`")
	return cmd
}

// find is the run that args name, or the last one.
func (o *options) find(args []string) (runstore.Store, *runstore.Record, error) {
	store, err := o.store()
	if err != nil {
		return store, nil, err
	}
	who := o.caller().Principal
	if len(args) > 0 {
		rec, err := store.Get(who, args[0])
		if errors.Is(err, runstore.ErrNotFound) {
			err = cmdutil.Usagef("%w: see fairlead runs list", err)
		}
		return store, rec, err
	}
	all, err := store.List(who)
	if err == nil && len(all) == 0 {
		err = cmdutil.Usagef("there is no run yet")
	}
	if err != nil {
		return store, nil, err
	}
	return store, all[0], nil
}

func (o *options) list() error {
	store, err := o.store()
	if err != nil {
		return err
	}
	if o.n < 0 {
		return cmdutil.Usagef("-n must not be negative")
	}
	all, err := store.List(o.caller().Principal)
	if err != nil {
		return err
	}
	if o.n > 0 {
		all = all[:min(o.n, len(all))]
	}
	t := table.New("RUN", "STARTED", "STATE", "HOSTS", "OK", "FAILED", "NOT RUN", "COMMAND")
	t.Fit, t.Keep, t.Whole = true, []string{"FAILED", "COMMAND"}, []string{"STARTED"}
	t.Drop = []string{"NOT RUN", "STARTED", "OK"}
	for _, r := range all {
		if o.json {
			if err := json.NewEncoder(o.io.Out).Encode(r); err != nil {
				return err
			}
			continue
		}
		ok, failed, notRun := count(r)
		t.Add(r.ID, r.Started.Local().Format(time.DateTime), r.State, strconv.Itoa(len(r.Hosts)), strconv.Itoa(ok), strconv.Itoa(failed),
			strconv.Itoa(notRun), short(r.Command))
	}
	if o.json {
		return nil
	}
	return t.Print(o.io)
}

func count(r *runstore.Record) (ok, failed, notRun int) {
	for _, x := range r.Outcomes() {
		switch {
		case x.Status == session.StatusOK:
			ok++
		case x.NotRun:
			notRun++
		case x.Status != "":
			failed++
		}
	}
	return ok, failed, notRun
}

// maxCommand is how much of a command a table shows.
const maxCommand = 60

func short(command string) string {
	line, rest, _ := strings.Cut(command, "\n")
	if text := []rune(line); len(text) > maxCommand {
		return string(text[:maxCommand-1]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return cmp.Or(line, "-")
}

func (o *options) show(args []string) error {
	_, r, err := o.find(args)
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(o.io.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	var b strings.Builder
	field := func(name, value string) { fmt.Fprintf(&b, "%-9s %s\n", name, cmdutil.OneLine(value)) }
	field("run", r.ID)
	field("started", r.Started.Local().Format(time.DateTime))
	state := r.State
	if r.Finish != nil {
		state = fmt.Sprintf("%s, exit code %d, after %v", r.State, r.Finish.ExitCode, r.Finish.Ended.Sub(r.Started).Round(time.Millisecond))
	}
	field("state", state)
	field("targets", r.Targets)
	command := r.Command
	if !r.Exact {
		command += " (not kept as it was)"
	}
	field("command", command)
	if f := r.Finish; f != nil && f.Rollout != nil && f.Rollout.Cut() {
		field("stopped", f.Rollout.Why)
	}
	for _, g := range groups(r) {
		fmt.Fprintf(&b, "  %s  %s\n", hosts.Fold(g.names), cmdutil.OneLine(outcome.ForHosts(g.what, g.names)))
		for _, own := range g.own {
			fmt.Fprintf(&b, "    %s\n", cmdutil.OneLine(own))
		}
	}
	_, err = o.io.Out.Write([]byte(b.String()))
	return err
}

type group struct {
	what  string
	names []string
	own   []string // what only one of them has, its key's fingerprint
}

// groups are the hosts of a run by how it ended on them.
func groups(r *runstore.Record) (all []*group) {
	by := map[string]*group{}
	for _, x := range r.Outcomes() {
		text := words(r, x.End)
		if x.Unverified {
			text += ", not verified"
		}
		what, own := outcome.Alike(text)
		g := by[what]
		if g == nil {
			g = &group{what: what}
			by[what], all = g, append(all, g)
		}
		g.names = append(g.names, x.End.Host)
		if own != "" && own != x.End.Host {
			g.own = append(g.own, x.End.Host+": "+own)
		}
	}
	return all
}

// words is how a run ended on a host.
func words(r *runstore.Record, e runstore.End) string {
	var what string
	switch {
	case e.Status == "" && r.State == "running":
		what = "not ended yet"
	case e.Status == "":
		what = "not known"
	case e.NotRun && e.Verify:
		return "verify: not run"
	case e.NotRun:
		return "not run"
	case e.Status == session.StatusCanceled:
		what = "stopped"
	default:
		what, _ = outcome.Describe(session.Result{Status: e.Status, ExitCode: e.ExitCode, Signal: e.Signal})
	}
	if e.Verify {
		what = "verify: " + what
	}
	if e.Why != "" {
		what += ": " + e.Why
	}
	return what
}

// followEvery is how often a run is looked at.
const followEvery = 200 * time.Millisecond

func (o *options) follow(ctx context.Context, args []string) error {
	store, r, err := o.find(args)
	if err != nil {
		return err
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for told := 0; ; {
		for _, e := range r.Ends[told:] {
			if _, err := fmt.Fprintf(o.io.Out, "%s  %s\n", e.Host, cmdutil.OneLine(words(r, e))); err != nil {
				return err
			}
		}
		told = len(r.Ends)
		switch r.State {
		case "done":
			return cmdutil.Exit(r.Finish.ExitCode)
		case "lost":
			fmt.Fprintf(o.io.Err, "fairlead: the process of %s went away without a report\n", r.ID)
			return cmdutil.Exit(exitcode.Unknown)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if r, err = store.Get(r.Principal, r.ID); err != nil {
			return err
		}
	}
}

// stopPatience is how long stop waits for the end of the run.
const stopPatience = time.Minute

func (o *options) stop(ctx context.Context, args []string) error {
	store, r, err := o.find(args)
	if err != nil {
		return err
	}
	switch err := r.Stop(); {
	case errors.Is(err, runstore.ErrKeeper):
		if err := o.stopThere(ctx, r.ID); err != nil {
			return err
		}
	case err != nil:
		return &cmdutil.UsageError{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for r.State == "running" {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was interrupted, and has not ended after %v: see fairlead runs show %s", r.ID, stopPatience, r.ID)
		case <-tick.C:
		}
		if r, err = store.Get(r.Principal, r.ID); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(o.io.Out, "%s: stopped\n", r.ID)
	return err
}

// stopThere has the keeper stop a run.
func (o *options) stopThere(ctx context.Context, id string) error {
	c, err := o.keepers.Find(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.StopRun(ctx, id)
}
