// Package run implements "fairlead run".
package run

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// DefaultForks is how many hosts run at a time.
const DefaultForks = session.DefaultForks

// Options is everything the command needs: dependencies, then flags, then arguments.
type Options struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Pool      func(cmdutil.PoolOptions) (*session.Pool, error)

	Except         string
	JSON           bool
	Fold           bool
	Forks          int
	Timeout        time.Duration
	ConnectTimeout time.Duration
	OwnExitCode    bool

	Targets string
	Script  string
}

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Inventory: f.Inventory, Pool: f.Pool}
	exit := exitFlag{own: &o.OwnExitCode}
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
			if err := o.parse(args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	fl := cmd.Flags()
	fl.StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	fl.BoolVar(&o.JSON, "json", false, "print one result per line as JSON as hosts finish, then a summary")
	fl.BoolVar(&o.Fold, "fold", false, "print identical outcomes once, under the names of their hosts")
	fl.IntVar(&o.Forks, "forks", DefaultForks, "how many hosts run at a time, at most `n`")
	fl.DurationVar(&o.Timeout, "timeout", 0, "stop a command that runs longer than `duration` (2m30s); 0 means no limit")
	fl.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "give up connecting after `duration`; 0 means what the inventory or ssh_config says")
	fl.Var(exit, "exit-code", "host: a single host's own exit code; own: 1 for any that is not 0")
	return cmd
}

// parse checks flags and arguments. dash is how many arguments stand before "--", -1 without one.
func (o *Options) parse(args []string, dash int) error {
	switch {
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("run needs TARGETS and a command: fairlead run TARGETS -- COMMAND")
	case dash < 0 && len(args) == 1:
		return cmdutil.Usagef("run needs a command: fairlead run %s -- COMMAND", args[0])
	case dash < 0:
		return cmdutil.Usagef("write -- before the command: fairlead run %s -- %s", args[0], args[1])
	case dash > 1:
		return cmdutil.Usagef("run takes one TARGETS, got %d: join selectors with a comma", dash)
	case len(args) == dash:
		return cmdutil.Usagef("no command follows --")
	case o.JSON && o.Fold:
		return cmdutil.Usagef("--json and --fold exclude each other")
	case o.Forks < 1:
		return cmdutil.Usagef("--forks must be at least 1, not %d", o.Forks)
	case o.Timeout < 0:
		return cmdutil.Usagef("--timeout must not be negative")
	case o.ConnectTimeout < 0 || o.ConnectTimeout > cmdutil.MaxConnectTimeout:
		return cmdutil.Usagef("--connect-timeout must be between 0 and %v", cmdutil.MaxConnectTimeout)
	}
	o.Targets = args[0]
	command := args[1:]
	if len(command) == 1 {
		o.Script = command[0]
		return nil
	}
	var err error
	if o.Script, err = session.Words(command...); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	return nil
}

// run does the work: select, open the record, run, report.
func run(ctx context.Context, o *Options) error {
	sel := targets.Resolver{Inventory: o.Inventory, In: o.IO.In}
	hs, err := sel.Resolve(o.Targets, o.Except)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if o.ConnectTimeout > 0 {
		for i := range hs {
			hs[i].ConnectTimeout = o.ConnectTimeout
		}
	}
	pool, err := o.Pool(cmdutil.PoolOptions{Forks: min(o.Forks, len(hs))})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newReport(o, hs, &gate{ios: o.IO, cancel: cancel})
	return r.run(ctx, pool)
}

// exitFlag is --exit-code.
type exitFlag struct{ own *bool }

func (e exitFlag) Set(v string) error {
	switch v {
	case "host", "own":
		*e.own = v == "own"
		return nil
	}
	return errors.New("must be host or own")
}

func (e exitFlag) String() string {
	if e.own != nil && *e.own {
		return "own"
	}
	return "host"
}

func (e exitFlag) Type() string { return "host|own" }
