// Package doctor implements "fairlead doctor": what works on this machine and on the way to hosts, and what to do where
// it does not.
//
// It parses nothing itself: each check asks the package that the program itself would ask.
package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Options is everything that the command needs: dependencies, then flags, then arguments.
type Options struct {
	IO            *iostreams.IOStreams
	Getenv        func(string) string
	Now           func() time.Time
	Caller        func() cmdutil.Caller
	InventoryPath func() (string, error)
	Reading       func() inventory.Options // how the inventory is read
	Inventory     func() (*hosts.Inventory, error)
	Reach         targets.Reach
	Pool          func(cmdutil.PoolOptions) (*session.Pool, error)
	AuditDir      func() (string, error)
	Config        func() (config.Config, error)
	KeeperMode    func() (config.KeeperMode, error)
	Places        func() (listen.Places, error)
	Policy        func(file string) (*rules.Engine, error)
	PolicyFile    func() (string, error)
	Approvers     func() ([]approval.Approver, error)

	JSON           bool
	Except         string
	ConnectTimeout time.Duration

	Selector string // "" is this machine
}

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, Getenv: f.Getenv, Now: time.Now, Caller: f.Caller, InventoryPath: f.InventoryPath, Reading: f.InventoryOptions, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool,
		AuditDir: f.AuditDir, Config: f.Config, KeeperMode: f.KeeperMode, Policy: f.Policy, Approvers: f.Approvers,
		Places:     func() (listen.Places, error) { return listen.FindPlaces(f.Getenv) },
		PolicyFile: f.PolicyFile,
	}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:   "doctor [HOSTS]",
		Short: "Check this machine or hosts, and say what to do",
		Long: `Check everything that commands need. Each line has a status (ok, warn or fail), what was found, and what to do next.

Without HOSTS it checks this machine: the inventory, ssh_config and known_hosts, keys and the SSH agent, config and policy,
approvers, the audit log, the keeper and free resources. It connects to no host, changes nothing and asks no questions.
Programs that the inventory or ssh_config names do run, as with every command; not where an agent names the inventory.

With HOSTS, a selector as for "fairlead run", it connects to each of them without the keeper and says which step fails:
name, network, host key, login or shell. Then it checks sftp, bubblewrap, the clock and temporary space there. What it runs
there is judged and audited. For a single host it first prints every value that is used, and where it comes from.

A pipe gets tab-separated lines: status, host or "-", check, what was found, what to do or "-".

The exit code is 1 if a check failed, else 0.`,
		Example: `  fairlead doctor
  fairlead doctor web01
  fairlead doctor 'tier=prod' --json | jq 'select(.status == "fail")'`,
		Args: cmdutil.Args(0, 1, "at most one selector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Selector = strings.Join(args, "")
			switch {
			case len(args) == 1 && o.Selector == "":
				return cmdutil.Usagef("the selector is empty: leave it out, or name hosts")
			case len(args) == 0 && (o.Except != "" || o.ConnectTimeout != 0 || !f.SSH.Set.Empty()):
				return cmdutil.Usagef("--except, --connect-timeout and the options of ssh go with hosts")
			case o.ConnectTimeout < 0 || o.ConnectTimeout > cmdutil.MaxConnectTimeout:
				return cmdutil.Usagef("--connect-timeout must be between 0 and %v", cmdutil.MaxConnectTimeout)
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	fl := cmd.Flags()
	f.SSH.Add(fl)
	fl.BoolVar(&o.JSON, "json", false, "print one JSON object per line, and a summary at the end")
	fl.StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	fl.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "give up connecting after `duration`; 0 means what the inventory or ssh_config says")
	return cmd
}

func run(ctx context.Context, o *Options) error {
	p := &printer{io: o.IO, json: o.JSON, counts: map[Status]int{}}
	var err error
	if o.Selector == "" {
		err = o.here(ctx, p)
	} else {
		err = o.there(ctx, p)
	}
	if err != nil {
		return err
	}
	code, err := p.end()
	if err != nil {
		return err
	}
	return cmdutil.Exit(code)
}

// here looks at this machine.
func (o *Options) here(ctx context.Context, p *printer) error {
	for _, look := range []func(context.Context) []Check{
		o.program, o.settings, o.inventory, o.agent, o.state, o.record, o.keeper, o.policy, o.sandbox, o.clock, o.terminals, o.openFiles,
	} {
		for _, c := range look(ctx) {
			p.print(c)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}
