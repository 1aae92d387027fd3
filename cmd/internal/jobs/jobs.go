// Package jobs implements "fairlead jobs": commands that outlive the connection.
package jobs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
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
	Settings  func() (config.Config, error)

	JSON   bool
	CWD    string
	Reason string
	Yes    bool
	Follow bool
	Stop   bool
	Grace  time.Duration
	OutDir string // of what is collected from several hosts; "" prints it

	Target string // a host, or a job
	Script string

	NoTemplate bool
	Fold       bool          // identical output of several hosts is shown once
	Timeout    time.Duration // of wait; 0 is none
	Older      time.Duration // that a job must have ended, for clean
	Agents     bool          // clean removes those of agents, too
	DryRun     bool

	waits bool                   // for the end alone
	id    string                 // of the job that is started: also known where the answer is lost
	after []string               // what stands after --
	each  map[targets.Key]string // the command of each host, where they differ; nil else
}

const long = `Start commands that outlive the connection, and collect their output later.

A job runs detached on its host: it survives a lost connection, and the end of fairlead and its keeper. Its output and exit
code stay on the host, in a directory of their own, until "collect" removes them. "start" prints the job's name, HOST/ID,
which finds it again from any machine that reaches the host.

On several hosts it is one job: "start" prints TARGETS/ID, which all commands for a job take. The policy judges it on all
hosts before it starts on any, and one approval is for all of them. Lines of output have the names of their hosts before them;
--fold prints identical output once, and "collect --out-dir" writes files. {host}, {addr}, {n} and {label.KEY} in the command
are those of each host.

Commands for such a job report the hosts that do not answer (exit code 3) or do not have it (4), and continue on the others.
"collect" removes a job from its host only after the output is written.

A job is judged like the same command in "fairlead run". Its standard input is /dev/null. The first 64 MiB of each output
are kept; the rest is counted and dropped.

"follow", "wait" and "collect" exit with the job's exit code, once it has one. Other exit codes are those of "fairlead run".`

const example = `  fairlead jobs start web1 -- make -C /srv/app release
  fairlead jobs list web1
  fairlead jobs follow web1/j_…
  fairlead jobs collect web1/j_…
  fairlead jobs start 'web[1-9]' -- apt-get upgrade -y
  fairlead jobs collect 'web[1-9]/j_…' --out-dir ./upgrade`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &Options{
		IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool, Policy: f.Policy, Caller: f.Caller, Terminal: f.Terminal,
		Place: place.NewChooser(f), Keepers: f.Keepers, Running: f.Running, Settings: f.Config, SSH: &f.SSH.Set,
	}
	cmd := &cobra.Command{
		Use: "jobs", Short: "Run commands that outlive the connection", Long: long, Example: example,
		Args: cmdutil.Group, RunE: cmdutil.Help,
	}
	cmd.PersistentFlags().StringVar(&o.Reason, "reason", "", "`reason` to record in the audit log")
	f.SSH.Add(cmd.PersistentFlags())
	f.SSH.AddBecome(cmd.PersistentFlags())
	cmd.AddCommand(startCmd(f, o), listCmd(f, o), outputCmd(f, o), followCmd(f, o), waitCmd(f, o), stopCmd(f, o), collectCmd(f, o), cleanCmd(f, o))
	return cmd
}

func startCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "start [flags] TARGETS -- COMMAND…", Short: "Start a job, and print its name",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return start(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.JSON, "json", false, "print the job as one line of JSON")
	fl.StringVar(&o.CWD, "cwd", "", "run it in this `directory`")
	fl.BoolVar(&o.NoTemplate, "no-template", false, "send {host}, {addr}, {n} and {label.KEY} as they stand")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "confirm what the policy asks to confirm")
	return cmd
}

func listCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [TARGETS]", Short: "List the jobs on hosts",
		Long: `List jobs on hosts: yours, and those of agents. Without TARGETS: on the hosts where the running keeper knows of jobs.

A pipe gets one tab-separated line per job, without a header: name, state, exit code, start by the host's clock, bytes of
standard output and of standard error, owner, and the beginning of the command without secrets. Empty fields are "-".`,
		Args: cmdutil.Args(0, 1, "at most one selector of hosts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.Target = args[0]; o.Target == "" {
					return cmdutil.Usagef("the selector is empty: name hosts, or leave it out")
				}
			}
			return list(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	return cmd
}

// of makes cmd do something to the job that its argument names.
func of(f *cmdutil.Factory, o *Options, cmd *cobra.Command, do func(context.Context, *Options) error) *cobra.Command {
	cmd.Args = cmdutil.Args(1, 1, "one job, as HOST/ID")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Target = args[0]
		return do(cmd.Context(), o)
	}
	cmd.ValidArgsFunction = completion.Jobs(f)
	return cmd
}

func outputCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := of(f, o, &cobra.Command{Use: "output HOST/ID", Aliases: []string{"logs"}, Short: "Print the output of a job so far"}, output)
	addFold(cmd, o)
	return cmd
}

// addFold adds --fold.
func addFold(cmd *cobra.Command, o *Options) {
	cmd.Flags().BoolVar(&o.Fold, "fold", false, "print identical output of several hosts once, under their names")
}

func followCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := of(f, o, &cobra.Command{
		Use: "follow HOST/ID", Short: "Print the output of a job until it ends; ^C leaves the job running",
	}, func(ctx context.Context, o *Options) error {
		o.Follow = true
		return output(ctx, o)
	})
	addFold(cmd, o)
	return cmd
}

func waitCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := of(f, o, &cobra.Command{Use: "wait HOST/ID", Short: "Wait for the end of a job, without its output; ^C leaves the job running"}, wait)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the job as one line of JSON")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", 0, "give up after `duration`, with exit code 4; the job still runs. 0 means no limit")
	return cmd
}

func cleanCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "clean [TARGETS]", Short: "Remove your jobs that have ended, with their output",
		Long: `Remove your jobs that have ended from their hosts, with their output, and print their names. Without TARGETS: on the hosts
where the running keeper knows of jobs.`,
		Args: cmdutil.Args(0, 1, "at most one selector of hosts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Target = args[0]
			}
			return clean(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	fl := cmd.Flags()
	fl.DurationVar(&o.Older, "older", 0, "keep those that ended less than `duration` (12h) ago")
	fl.BoolVar(&o.Agents, "agents", false, "remove those of agents, too")
	fl.BoolVar(&o.DryRun, "dry-run", false, "print their names, and remove nothing")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	return cmd
}

func stopCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := of(f, o, &cobra.Command{Use: "stop HOST/ID", Short: "Stop a job with all its processes; its output stays"}, stop)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the job as one line of JSON")
	cmd.Flags().DurationVar(&o.Grace, "grace", 5*time.Second, "kill after this `duration` what SIGTERM does not end; at most 30s")
	return cmd
}

func collectCmd(f *cmdutil.Factory, o *Options) *cobra.Command {
	cmd := of(f, o, &cobra.Command{Use: "collect HOST/ID", Short: "Print all output of a job, and remove it from its host"}, collect)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the job as one line of JSON, and not its output")
	cmd.Flags().StringVar(&o.OutDir, "out-dir", "", "write the output of a job on several hosts to `dir`/HOST/stdout, stderr and result.json, instead of printing it")
	cmd.Flags().BoolVar(&o.Stop, "stop", false, "stop it first if it runs")
	return cmd
}

// parse checks the arguments of start. dash is how many stand before "--", -1 without one.
func (o *Options) parse(args []string, dash int) (err error) {
	switch {
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("jobs start needs TARGETS and a command: fairlead jobs start TARGETS -- COMMAND")
	case dash < 0 && len(args) == 1:
		return cmdutil.Usagef("jobs start needs a command: fairlead jobs start %s -- COMMAND", printable.Word(args[0]))
	case dash < 0:
		return cmdutil.Usagef("write -- before the command: fairlead jobs start %s -- %s", printable.Word(args[0]), cmdutil.Retype(args[1:]))
	case dash > 1:
		return cmdutil.Usagef("jobs start takes one TARGETS, got %d: join selectors with a comma", dash)
	case len(args) == dash:
		return cmdutil.Usagef("no command follows --")
	}
	o.Target, o.after = args[0], args[1:]
	if o.Script, err = source(o.after); err == nil && o.Script == "" {
		return cmdutil.Usagef("the command is empty: a job would have nothing to do")
	}
	return err
}
