// Package run implements "fairlead run".
package run

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// DefaultForks is how many hosts run at a time.
const DefaultForks = session.DefaultForks

// Options is everything the command needs: dependencies, then flags, then arguments.
type Options struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Reach     targets.Reach
	Pool      func(cmdutil.PoolOptions) (*session.Pool, error)
	Policy    func(file string) (*rules.Engine, error)
	Caller    func() cmdutil.Caller
	Terminal  func() (cmdutil.Terminal, error) // nil means that nobody can be asked
	Place     place.Chooser
	Running   *cmdutil.Running
	Settings  func() (config.Config, error)
	SSH       *sshopt.Flags
	Runs      func() (runstore.Store, error) // nil means that runs are not kept

	Except         string
	JSON           bool
	Fold           bool
	Raw            bool // control characters of hosts reach the terminal
	Redact         bool
	Forks          int
	Timeout        time.Duration
	Idle           time.Duration
	ConnectTimeout time.Duration
	Stdin          string // "", "host" or "copy"
	ScriptFile     string // "" means that Script is what runs
	Reason         string
	Yes            bool
	PolicyFile     string
	OwnExitCode    bool
	Partial        bool
	stepOptions
	outputOptions
	fillOptions
	Held    bool
	Become  string // the account as which it runs; "" is what the inventory says
	Program bool   // what stands after -- is a program and its exact arguments

	Rerun   string // which hosts of a run get the command again; "" is that Targets picks them
	rerunOf string // "" is the last run

	Targets string
	Script  string
	Words   []string // what Script is made of in structured mode; nil is shell source
	Args    []string // of ScriptFile

	prompted bool                             // commands come from a prompt
	among    []hosts.Host                     // that run it, of a prompt; nil is what Targets picks
	took     func(hosts.Host, session.Result) // hears how each host has ended, one after the other; may be nil

	shell     string // that the script names; "" is the host's
	foldsMany bool   // Fold is of config.yaml, and so for several hosts alone: the output of one stays exact
}

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool, Policy: f.Policy, Caller: f.Caller, Terminal: f.Terminal, Place: place.NewChooser(f), Running: f.Running, Settings: f.Config, SSH: &f.SSH, Runs: f.Runs}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:     "run TARGETS [flags] [-- COMMAND…]",
		Short:   "Run a command on the selected hosts",
		Long:    long,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(args, cmd.ArgsLenAtDash(), cmd.Flags().Changed("script")); err != nil {
				return err
			}
			o.foldsMany = o.Fold && !cmd.Flags().Changed("fold")
			return runF(cmd.Context(), o)
		},
	}
	picks, runs := completion.Targets(f), completion.Words(1, IDs(f))
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if o.Rerun != "" {
			return runs(cmd, args, typed)
		}
		return picks(cmd, args, typed)
	}
	o.flags(cmd)
	return cmd
}

// IDs returns what finds the ids of the caller's runs, the newest first, for completion.
func IDs(f *cmdutil.Factory) func(context.Context) []string {
	return func(context.Context) (all []string) {
		store, err := f.Runs()
		if err != nil {
			return nil
		}
		kept, err := store.List(f.Caller().Principal)
		if err != nil {
			return nil
		}
		for _, r := range kept {
			all = append(all, r.ID)
		}
		return all
	}
}

// run does the work: select, judge, open the record, run, report.
func run(ctx context.Context, o *Options) error {
	if o.prompted {
		return o.prompt(ctx)
	}
	hs, err := o.hosts()
	if err != nil {
		return err
	}
	if o.foldsMany && len(hs) == 1 {
		o.Fold = false
	}
	if err := o.fill(hs); err != nil {
		return err
	}
	steps, err := o.steps(hs)
	if err != nil {
		return err
	}
	if o.DryRun {
		return o.dryRun(ctx, hs, steps)
	}
	engine := sync.OnceValues(func() (*rules.Engine, error) { return o.Policy(o.PolicyFile) })
	secrets := redact.New(redact.Config{})
	var ahead sync.WaitGroup // while the keeper answers
	ahead.Go(func() { o.judgeAhead(ctx, engine, hs) })
	ahead.Go(func() {
		for _, text := range o.each {
			secrets.LearnFromCommand(text)
		}
		secrets.LearnFromCommand(o.Script)
	})
	keeper, err := o.keeper(ctx, hs)
	ahead.Wait()
	if err != nil {
		return err
	}
	if keeper != nil {
		defer keeper.Close()
	}
	judge := consent.Judge{
		IO: o.IO, Caller: o.Caller(), Policy: func(string) (*rules.Engine, error) { return engine() }, Terminal: o.Terminal, PolicyFile: o.PolicyFile, Yes: o.Yes, Reason: o.Reason,
		Words: o.Words, Scripts: o.scripts(), Approvable: keeper != nil, Tries: steps == nil, Partial: o.Partial,
	}
	judge.TellAgent()
	if err := o.verifiable(ctx, judge, hs); err != nil {
		return err
	}
	if o.Confirm && !judge.CanAsk() {
		return cmdutil.Usagef("--confirm needs a terminal, and there is no terminal")
	}
	if err := judge.Many(ctx, o.Settings, "command", o.Script, hs); err != nil {
		return err
	}
	judged, err := judge.Decide(ctx, o.Script, hs)
	if err != nil {
		return err
	}
	o.Reason = judged.Reason
	if !judged.Refused() && steps == nil { // those that get nothing are told first
		slices.SortStableFunc(hs, func(a, b hosts.Host) int { return cmp.Compare(refused(judged, b), refused(judged, a)) })
	}
	o.Redact = o.Redact || judge.Caller.Mark != "" // agents see no secrets
	from := o.here(len(hs), judged, secrets)
	from.Steps = steps
	from.Refused = func(h hosts.Host) bool { return judged.Refusal(h) != nil }
	var where place.Runner = from
	if keeper != nil && !judged.Refused() {
		where = &place.Either{
			There: o.there(keeper, judged, steps), Here: from, Place: o.Place, Tell: o.IO.Err, Refused: from.Refused,
		}
	} else if _, err := from.Open(); err != nil {
		return err
	}
	in, err := o.input(ctx, len(hs), judged)
	if err != nil {
		return err
	}
	defer in.close()
	if o.Stdin == stdinNone && o.ScriptFile != "-" {
		defer o.IO.Hush()()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newReport(o, hs, outcome.NewGate(o.IO, cancel))
	if r.files, err = o.openDir(targets.Labels(hs)); err != nil {
		return err
	}
	if steps != nil {
		r.watchSteps(steps, &judge)
	}
	r.log = o.keepRun(r.id, hs, steps, secrets)
	if where == place.Runner(from) {
		r.log.Turns() // a keeper has to say that itself
	}
	return r.run(ctx, where, in)
}

func refused(v *consent.Verdict, h hosts.Host) int {
	if v.Refusal(h) != nil {
		return 1
	}
	return 0
}

// selected are the hosts that TARGETS picks, or --rerun.
func (o *Options) selected() ([]hosts.Host, error) {
	if o.among != nil {
		return o.among, nil
	}
	if o.Rerun != "" {
		return o.rerunHosts()
	}
	sel := targets.Resolver{Inventory: o.Inventory, In: o.listInput(), Reach: o.Reach}
	hs, err := sel.Resolve(o.Targets, o.Except)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	return hs, nil
}

// hosts are those that TARGETS picks, as the flags change them.
func (o *Options) hosts() ([]hosts.Host, error) {
	hs, err := o.selected()
	if err != nil {
		return nil, err
	}
	if o.Stdin == stdinHost && len(hs) > 1 {
		return nil, cmdutil.Usagef("--stdin gives standard input to one host, and %s picks %d: --stdin=copy gives each of them a copy", o.Targets, len(hs))
	}
	if o.ScriptFile != "" {
		if o.Script, o.shell, err = o.script(); err != nil {
			return nil, err
		}
		if o.CWD != "" || len(o.Env) > 0 {
			if err := o.surround(); err != nil {
				return nil, err
			}
		}
	}
	if o.among == nil {
		hs = o.pick(hs)
	}
	for i := range hs {
		if o.ConnectTimeout > 0 {
			hs[i].ConnectTimeout = o.ConnectTimeout
		}
		if o.shell != "" {
			hs[i].Shell = o.shell
		}
		if hs[i].Become, err = hs[i].Become.Called(o.Become); err != nil {
			return nil, cmdutil.Usagef("--become: %v", err)
		}
	}
	return hs, nil
}

// keeper is the one that the command goes through; nil where it runs from here. --policy is judged by in this process, which
// a keeper would not know of.
func (o *Options) keeper(ctx context.Context, hs []hosts.Host) (*client.Client, error) {
	if o.PolicyFile == "" {
		return o.Place.For(ctx, hs)
	}
	if mode, err := o.Place.Mode(); err != nil || mode == config.Require {
		return nil, cmp.Or(err, cmdutil.Usagef("--policy is judged by from here, and the keeper has a policy of its own: leave --policy or --keeper require out"))
	}
	return nil, nil
}
