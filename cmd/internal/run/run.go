// Package run implements "fairlead run".
package run

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
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
	Pool      func(cmdutil.PoolOptions) (*session.Pool, error)
	Policy    func(file string) (*rules.Engine, error)
	Caller    func() cmdutil.Caller
	Terminal  func() (cmdutil.Terminal, error) // nil means that nobody can be asked

	Except         string
	JSON           bool
	Fold           bool
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

	Targets string
	Script  string
	Args    []string // of ScriptFile
}

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Inventory: f.Inventory, Pool: f.Pool, Policy: f.Policy, Caller: f.Caller, Terminal: f.Terminal}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:     "run TARGETS [flags] -- COMMAND…",
		Short:   "Run a command on the selected hosts",
		Long:    long,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.KeeperFlag == config.Require {
				return cmdutil.Usagef("run connects from here and does not go through the keeper: leave --keeper require out")
			}
			if err := o.parse(args, cmd.ArgsLenAtDash(), cmd.Flags().Changed("script")); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	o.flags(cmd)
	return cmd
}

// run does the work: select, judge, open the record, run, report.
func run(ctx context.Context, o *Options) error {
	sel := targets.Resolver{Inventory: o.Inventory, In: o.listInput()}
	hs, err := sel.Resolve(o.Targets, o.Except)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if o.Stdin == stdinHost && len(hs) > 1 {
		return cmdutil.Usagef("--stdin gives standard input to one host, and %s picks %d: --stdin=copy gives each of them a copy", o.Targets, len(hs))
	}
	var shell string
	if o.ScriptFile != "" {
		if o.Script, shell, err = o.script(); err != nil {
			return err
		}
	}
	for i := range hs {
		if o.ConnectTimeout > 0 {
			hs[i].ConnectTimeout = o.ConnectTimeout
		}
		if shell != "" {
			hs[i].Shell = shell
		}
	}
	judge := consent.Judge{
		IO: o.IO, Caller: o.Caller(), Policy: o.Policy, Terminal: o.Terminal, PolicyFile: o.PolicyFile, Yes: o.Yes, Reason: o.Reason,
	}
	judge.TellAgent()
	judged, err := judge.Decide(ctx, o.Script, hs)
	if err != nil {
		return err
	}
	o.Reason = judged.Reason
	secrets := redact.New(redact.Config{})
	secrets.LearnFromCommand(o.Script)
	pool, err := o.Pool(cmdutil.PoolOptions{Forks: min(o.Forks, len(hs)), Policy: judged, Redact: secrets})
	if err != nil {
		return err
	}
	in, err := o.input(ctx, len(hs), judged)
	if err != nil {
		return err
	}
	defer in.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newReport(o, hs, outcome.NewGate(o.IO, cancel), secrets)
	return r.run(ctx, pool, in)
}
