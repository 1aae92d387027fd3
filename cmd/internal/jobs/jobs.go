// Package jobs implements "fairlead jobs": commands that outlive the connection.
package jobs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Options is everything the commands need: dependencies, then flags, then arguments.
type Options struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Reach     targets.Reach
	SSH       *sshopt.Set
	Pool      func(cmdutil.PoolOptions) (*session.Pool, error)
	Policy    func(file string) (*rules.Engine, error)
	Caller    func() cmdutil.Caller
	Terminal  func() (cmdutil.Terminal, error) // nil means that nobody can be asked
	Place     place.Chooser
	Keepers   cmdutil.Keepers
	Running   *cmdutil.Running

	JSON   bool
	CWD    string
	Reason string
	Yes    bool
	Follow bool
	Stop   bool
	Grace  time.Duration

	Target string // a host, or a job
	Script string

	id string // of the job that is started: also known where the answer is lost
}

const long = `Start commands that outlive the connection, and come back for them later.

A job runs on its host detached from everything here: it keeps running when the connection is lost, and when fairlead and
its keeper are killed. Its output and its exit code stay on the host, in a directory of their own, until "collect" takes them
away. The name that "start" prints, HOST/ID, is all that is needed to find it again, from any machine that reaches the host.

What the policy says of a job's command is what it says of the same command in fairlead run. Standard input is /dev/null. Of
each output the first 64 MiB are kept; what comes after is counted and thrown away.

"follow" and "collect" end with the exit code of the job, once it has one. Else exit codes are those of fairlead run.`

const example = `  fairlead jobs start web1 -- make -C /srv/app release
  fairlead jobs list web1
  fairlead jobs follow web1/j_…
  fairlead jobs collect web1/j_…`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &Options{
		IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool, Policy: f.Policy, Caller: f.Caller, Terminal: f.Terminal,
		Place: place.NewChooser(f), Keepers: f.Keepers, Running: f.Running, SSH: &f.SSH.Set,
	}
	cmd := &cobra.Command{
		Use: "jobs", Short: "Run commands that outlive the connection", Long: long, Example: example,
		Args: cmdutil.Group, RunE: cmdutil.Help,
	}
	cmd.PersistentFlags().StringVar(&o.Reason, "reason", "", "say why, for the record, in a `text`")
	f.SSH.Add(cmd.PersistentFlags())
	cmd.AddCommand(startCmd(f, o), listCmd(f, o), outputCmd(o), followCmd(o), stopCmd(o), collectCmd(o))
	return cmd
}

func startCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "start [flags] HOST -- COMMAND…", Short: "Start a job, and print its name",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return start(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Hosts(f),
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.JSON, "json", false, "print the job as one line of JSON")
	fl.StringVar(&o.CWD, "cwd", "", "run it in this `directory`")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "confirm what the policy wants confirmed")
	return cmd
}

func listCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [TARGETS]", Short: "List the jobs on hosts",
		Long: `List the jobs on hosts, as the hosts tell: yours, and those of agents. Without TARGETS the hosts are asked on which the
keeper has heard of jobs since it was started.

On a terminal this is a table. In a pipe it is one line per job, without a header and separated by tabs: name, state, exit
code, when it was started by its host's clock, bytes of standard output and of standard error, owner. What is not there is "-".`,
		Args: cmdutil.Args(0, 1, "at most one selector of hosts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Target = args[0]
			}
			return list(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	return cmd
}

// of makes cmd do something to the job that its argument names.
func of(o *Options, cmd *cobra.Command, do func(context.Context, *Options) error) *cobra.Command {
	cmd.Args = cmdutil.Args(1, 1, "one job, as HOST/ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Target = args[0]
		return do(cmd.Context(), o)
	}
	return cmd
}

func outputCmd(o *Options) *cobra.Command {
	return of(o, &cobra.Command{Use: "output HOST/ID", Short: "Show what a job has printed so far"}, output)
}

func followCmd(o *Options) *cobra.Command {
	return of(o, &cobra.Command{
		Use: "follow HOST/ID", Short: "Show what a job has printed, and prints, until it ends; ^C leaves it running",
	}, func(ctx context.Context, o *Options) error {
		o.Follow = true
		return output(ctx, o)
	})
}

func stopCmd(o *Options) *cobra.Command {
	cmd := of(o, &cobra.Command{Use: "stop HOST/ID", Short: "End a job with all processes of its session; its output stays"}, stop)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the job as one line of JSON")
	cmd.Flags().DurationVar(&o.Grace, "grace", 5*time.Second, "kill after this `duration` what SIGTERM does not end; at most 30s")
	return cmd
}

func collectCmd(o *Options) *cobra.Command {
	cmd := of(o, &cobra.Command{Use: "collect HOST/ID", Short: "Show all that a job has printed, and take it off its host"}, collect)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the job as one line of JSON, and not its output")
	cmd.Flags().BoolVar(&o.Stop, "stop", false, "stop it first if it runs")
	return cmd
}

// parse checks the arguments of start. dash is how many stand before "--", -1 without one.
func (o *Options) parse(args []string, dash int) (err error) {
	switch {
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("jobs start needs a host and a command: fairlead jobs start HOST -- COMMAND")
	case dash < 0 && len(args) == 1:
		return cmdutil.Usagef("jobs start needs a command: fairlead jobs start %s -- COMMAND", args[0])
	case dash < 0:
		return cmdutil.Usagef("write -- before the command: fairlead jobs start %s -- %s", args[0], args[1])
	case dash > 1:
		return cmdutil.Usagef("jobs start takes one host, got %d", dash)
	case len(args) == dash:
		return cmdutil.Usagef("no command follows --")
	}
	o.Target = args[0]
	o.Script, err = source(args[1:])
	return err
}
