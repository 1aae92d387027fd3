package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/prompt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// canPrompt reports whether a person at a terminal is there, who types commands. Without a command others get an error.
func (o *Options) canPrompt() bool {
	return o.Terminal != nil && o.IO.InTTY && o.IO.ErrTTY && o.Caller().Mark == ""
}

// prompts refuses flags that need the command to be known, or say where its results go.
func (o *Options) prompts() error {
	for flag, set := range map[string]bool{
		"--stdin": o.Stdin != stdinNone, "--program": o.Program, "--json": o.JSON, "--out-dir": o.OutDir != "",
	} {
		if set {
			return cmdutil.Usagef("%s needs a command: fairlead run %s %s … -- COMMAND", flag, printable.Word(o.Targets), printable.Word(flag))
		}
	}
	return nil
}

// prompting runs what a person types, on the hosts as they are now.
type prompting struct {
	o      *Options
	hosts  []hosts.Host
	labels []string
	last   *runstore.Record // of the last command; nil before it
}

// prompt reads commands at the terminal, and runs each.
func (o *Options) prompt(ctx context.Context) error {
	hs, err := o.hosts()
	if err != nil {
		return err
	}
	tty, err := o.Terminal()
	if err != nil {
		return cmdutil.Usagef("there is no terminal: %w; give a command: fairlead run %s -- COMMAND", err, printable.Word(o.Targets))
	}
	defer tty.Close()
	file, ok := tty.(prompt.Terminal)
	if !ok {
		return cmdutil.Usagef("there is no terminal; give a command: fairlead run %s -- COMMAND", printable.Word(o.Targets))
	}
	x := &prompting{o: o, hosts: hs, labels: targets.Labels(hs)}
	form := prompt.Lines
	switch {
	case o.Fold:
		form = prompt.Fold
	case o.Diff:
		form = prompt.Diff
	}
	p := prompt.New(prompt.Config{
		Terminal: file, Notices: o.IO.Err, Hosts: x.labels, Folded: func(names []string) string { return hosts.Fold(slices.Clone(names)) },
		Form: form, Forks: o.Forks, Run: x.run, Only: x.only, History: o.commands,
	})
	code, err := p.Run(ctx)
	if err != nil {
		return err
	}
	return cmdutil.Exit(code)
}

// run runs one line.
func (x *prompting) run(ctx context.Context, r prompt.Request) (prompt.Answer, error) {
	one := *x.o
	one.prompted = false
	one.Script, one.Words, one.Fold, one.Diff, one.Forks = r.Command, nil, r.Form == prompt.Fold, r.Form == prompt.Diff, r.Forks
	if r.Become != "" {
		one.Become = r.Become
	}
	one.foldsMany = x.o.foldsMany && one.Fold
	one.among = make([]hosts.Host, len(r.Hosts))
	rec := &runstore.Record{State: "done"}
	for i, at := range r.Hosts {
		one.among[i] = x.hosts[at]
		rec.Hosts = append(rec.Hosts, runstore.Host{Name: x.labels[at]})
	}
	if len(r.Hosts) < len(x.hosts) {
		names := make([]string, len(r.Hosts))
		for i, h := range rec.Hosts {
			names[i] = h.Name
		}
		one.Targets = hosts.Fold(names)
	}
	labels := map[targets.Key]string{}
	for i, h := range x.hosts {
		labels[targets.KeyOf(h)] = x.labels[i]
	}
	one.took = func(h hosts.Host, res session.Result) { // one after the other
		rec.Ends = append(rec.Ends, runstore.EndOf(labels[targets.KeyOf(h)], res, false))
	}
	x.last = rec
	code, err := x.end(ctx, one.line(ctx))
	if len(rec.Ends) == 0 && code != exitcode.Internal { // it was refused or not confirmed: a run that starts has an end of each host
		for _, h := range rec.Hosts {
			rec.Ends = append(rec.Ends, runstore.End{Host: h.Name, Status: session.StatusCanceled, NotRun: true})
		}
	}
	a := prompt.Answer{Code: code}
	if failed, ferr := rec.Pick(runstore.Failed); ferr == nil {
		a.Failed = len(failed)
	}
	return a, err
}

// line runs the command that was typed. An interrupt ends it alone.
func (o *Options) line(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer o.Running.Catch(cancel)()
	o.after = []string{o.Script}
	if err := o.places(); err != nil {
		return err
	}
	if o.CWD != "" || len(o.Env) > 0 {
		if err := o.surround(); err != nil {
			return err
		}
	}
	return run(ctx, o)
}

// end shows why a line was not run. Its error ends the prompt.
func (x *prompting) end(ctx context.Context, err error) (code int, _ error) {
	var (
		exit  *cmdutil.ExitError
		usage *cmdutil.UsageError
		sig   *cmdutil.SignalError
	)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err == nil:
		return exitcode.OK, nil
	case x.o.IO.Out.Err() != nil:
		return 0, err
	case errors.As(err, &exit):
		return exit.Code, nil
	case errors.As(err, &sig):
		return 128 + sig.Number, nil
	}
	code = exitcode.Internal
	if errors.As(err, &usage) {
		code, err = exitcode.Usage, usage.Err
	}
	fmt.Fprintf(x.o.IO.Err, "fairlead: %s\n", printable.Text(cmdutil.Text(err)))
	return code, nil
}

// only finds the hosts of a word, or of a selector, among those of the prompt.
func (x *prompting) only(which string) ([]int, error) {
	yes := map[string]bool{}
	switch which {
	case runstore.Failed, runstore.Unreachable, runstore.NotRun, "ok":
		if x.last == nil {
			return nil, errors.New("no command has run yet")
		}
		for _, out := range x.last.Outcomes() {
			if which == "ok" && out.Status == session.StatusOK {
				yes[out.Name] = true
			}
		}
		if which == "ok" {
			break
		}
		picked, err := x.last.Pick(which)
		if err != nil {
			return nil, err
		}
		for _, h := range picked {
			yes[h.Name] = true
		}
	default:
		sel := targets.Resolver{Inventory: x.o.Inventory, In: taken{errors.New("standard input is the terminal")}, Reach: x.o.Reach}
		hs, err := sel.Resolve(which, "")
		if err != nil {
			return nil, errors.New(cmdutil.Text(err))
		}
		among := targets.Among(hs)
		for i, h := range x.hosts {
			if among(h) {
				yes[x.labels[i]] = true
			}
		}
	}
	var at []int
	for i, label := range x.labels {
		if yes[label] {
			at = append(at, i)
		}
	}
	return at, nil
}

// commands are those of earlier runs that can be run again as they were, the newest first.
func (o *Options) commands() (all []string) {
	if o.Runs == nil {
		return nil
	}
	store, err := o.Runs()
	if err != nil {
		return nil
	}
	runs, err := store.List(o.Caller().Principal)
	if err != nil {
		return nil
	}
	for _, r := range runs {
		if r.Exact && r.Words == nil {
			all = append(all, r.Command)
		}
	}
	return all
}
