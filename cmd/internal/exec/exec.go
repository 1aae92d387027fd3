// Package exec implements "fairlead exec".
package exec

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Options is everything the command needs: dependencies, then flags, then arguments.
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

	Session string
	Timeout time.Duration
	JSON    bool
	CWD     string
	Reason  string
	Yes     bool
	Program bool // what stands after -- is a program and its exact arguments

	Target string // a host, or a session
	Script string
	Words  []string // what Script is made of in structured mode; nil is shell source
}

const long = `Run one command on one host and show its output, exactly.

With -s it runs in the session of that name: a shell that keeps its directory, variables and functions between calls. The
keeper holds it. Fairlead opens the session on HOST if it does not exist; after that its name or id can replace the host.
"fairlead sessions" lists, resets and closes sessions.

Without -s the command has a shell of its own. Over SSH it goes through the keeper, which keeps connections open.

One argument after -- is shell source, sent as it is. Several are exact words, which no shell expands. The command's
standard input is /dev/null: use "fairlead run HOST --stdin" to forward yours.

Policy and exit codes are those of "fairlead run"; see fairlead run --help. A session runs one command at a time. ^C stops
the command and keeps the session; a second ^C exits at once, which ends the command too.`

const example = `  # one command; the second is fast
  fairlead exec web1 -- uptime
  fairlead exec web1 -- 'df -h / | tail -1'

  # a session
  fairlead exec -s build web1 -- cd /srv/app
  fairlead exec build -- make
  fairlead sessions close build`

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool, Policy: f.Policy, Caller: f.Caller, Terminal: f.Terminal,
		Place: place.NewChooser(f), Keepers: f.Keepers, Running: f.Running, SSH: &f.SSH.Set,
	}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:   "exec [flags] HOST|SESSION -- COMMAND…",
		Short: "Run a command on one host, in a session if wanted", Long: long, Example: example,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(args, cmd.ArgsLenAtDash(), cmd.Flags().Changed("session")); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Hosts(f),
	}
	fl := cmd.Flags()
	f.SSH.Add(fl)
	f.SSH.AddBecome(fl)
	fl.StringVarP(&o.Session, "session", "s", "", "run in the session of this `name`; open it if it does not exist")
	_ = cmd.RegisterFlagCompletionFunc("session", completion.Sessions(f, 1000))
	fl.DurationVar(&o.Timeout, "timeout", 0, "stop a command that runs longer than `duration` (2m30s); 0 means no limit")
	fl.BoolVar(&o.JSON, "json", false, "print the result as one line of JSON")
	fl.BoolVar(&o.Program, "program", false, "run the words after -- as a program and its exact arguments, without shell features")
	fl.StringVar(&o.CWD, "cwd", "", "go to this `directory` first; a session stays there")
	fl.StringVar(&o.Reason, "reason", "", "`reason` to record in the audit log")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "confirm what the policy asks to confirm")
	return cmd
}

// parse checks flags and arguments. dash is how many arguments stand before "--", -1 without one.
func (o *Options) parse(args []string, dash int, named bool) (err error) {
	switch {
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("exec needs a host or a session, and a command: fairlead exec HOST -- COMMAND")
	case dash < 0 && len(args) == 1:
		return cmdutil.Usagef("exec needs a command: fairlead exec %s -- COMMAND", printable.Word(args[0]))
	case dash < 0:
		return cmdutil.Usagef("write -- before the command: fairlead exec %s -- %s", printable.Word(args[0]), cmdutil.Retype(args[1:]))
	case dash > 1:
		return cmdutil.Usagef("exec takes one host or session, got %d: fairlead run takes many", dash)
	case len(args) == dash:
		return cmdutil.Usagef("no command follows --")
	case o.Timeout < 0:
		return cmdutil.Usagef("--timeout must not be negative")
	case named && o.Session == "":
		return cmdutil.Usagef("-s takes the name of a session")
	}
	o.Target = args[0]
	script := consent.Script
	if o.Program {
		o.Words, script = args[1:], consent.Program
	}
	if o.Script, err = script(args[1:]); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	return nil
}
