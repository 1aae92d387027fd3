package run

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// The values of Options.Stdin.
const (
	stdinNone = ""
	stdinHost = "host" // to the one host, as it comes
	stdinCopy = "copy" // to each host, a copy of all of it
)

func (o *Options) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	o.SSH.Add(fl)
	fl.StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	fl.BoolVar(&o.JSON, "json", false, "print one result per line as JSON as hosts finish, then a summary")
	fl.BoolVar(&o.Fold, "fold", false, "print identical outcomes once, under the names of their hosts")
	fl.BoolVar(&o.Raw, "raw", false, "print control characters of hosts as they are on a terminal, too")
	fl.BoolVar(&o.Redact, "redact", false, "redact secrets in the printed output too; the audit log never has them")
	fl.IntVar(&o.Forks, "forks", DefaultForks, "how many hosts run at a time, at most `n`")
	fl.DurationVar(&o.Timeout, "timeout", 0, "stop a command that runs longer than `duration` (2m30s); 0 means no limit")
	fl.DurationVar(&o.Idle, "idle", 0, "stop a command that prints nothing for `duration`; 0 means no limit")
	fl.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "give up connecting after `duration`; 0 means what the inventory or ssh_config says")
	fl.Var(stdinFlag{&o.Stdin}, "stdin", "forward standard input (--stdin=copy: to every host)")
	fl.Lookup("stdin").NoOptDefVal = stdinHost
	fl.BoolVar(&o.Program, "program", false, "run the words after -- as a program and its exact arguments, without shell features")
	fl.BoolVar(&o.Held, "held", false, "run it in shells that the hosts' kernels hold to reading: a dry run that changes nothing")
	fl.Var((*sshopt.Account)(&o.Become), "become", "run it as `account`, root if none is named, by sudo or what the inventory says; =none: as the account that logs in")
	fl.Lookup("become").NoOptDefVal = "root"
	fl.StringVar(&o.ScriptFile, "script", "", "run the shell script in `file` (- is standard input); its arguments follow --")
	fl.StringVar(&o.Reason, "reason", "", "`reason` to record in the audit log")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "confirm what the policy asks to confirm")
	fl.StringVar(&o.PolicyFile, "policy", "", "judge by this policy `file` instead of the one in your configuration")
	fl.BoolVar(&o.Partial, "partial", false, "run where the policy allows it, and list the other hosts; else it runs on all or on none")
	fl.StringVar(&o.Rerun, "rerun", "", "run the last run, or RUN, again on its hosts that are `failed|unreachable|notrun|all`")
	o.stepOptions.flags(fl)
	o.outputOptions.flags(fl)
	o.fillOptions.flags(fl)
	fl.Var(exitFlag{&o.OwnExitCode}, "exit-code", "host: a single host's own exit code; own: 1 for any that is not 0")
}

// parse checks flags and arguments. dash is how many arguments stand before "--", -1 without one.
func (o *Options) parse(args []string, dash int, scripted bool) error {
	if err := o.words(args, dash, scripted); err != nil {
		return err
	}
	if err := o.outputOptions.parse(o, scripted); err != nil {
		return err
	}
	switch {
	case o.JSON && o.Raw:
		return cmdutil.Usagef("--json and --raw exclude each other: JSON escapes control characters")
	case o.Forks < 1:
		return cmdutil.Usagef("--forks must be at least 1, not %d", o.Forks)
	case o.Timeout < 0:
		return cmdutil.Usagef("--timeout must not be negative")
	case o.Idle < 0:
		return cmdutil.Usagef("--idle must not be negative")
	case o.ConnectTimeout < 0 || o.ConnectTimeout > cmdutil.MaxConnectTimeout:
		return cmdutil.Usagef("--connect-timeout must be between 0 and %v", cmdutil.MaxConnectTimeout)
	case o.Program && scripted:
		return cmdutil.Usagef("--program and --script exclude each other: a script is shell source")
	case o.ScriptFile == "-" && o.Stdin != stdinNone:
		return cmdutil.Usagef("--script - and --stdin cannot both have standard input: write the script to a file")
	}
	if err := o.stepOptions.parse(); err != nil {
		return err
	}
	if o.Rerun == "" { // which may add batches
		if err := o.between(); err != nil {
			return err
		}
	}
	return o.places()
}

// words takes TARGETS and the command, or the arguments of the script.
func (o *Options) words(args []string, dash int, scripted bool) error {
	if o.Rerun != "" {
		return o.rerunWords(args, dash)
	}
	if scripted {
		return o.scriptWords(args, dash)
	}
	switch {
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("run needs TARGETS and a command: fairlead run TARGETS -- COMMAND")
	case dash < 0 && len(args) == 1 && o.canPrompt():
		o.Targets, o.prompted = args[0], true
		return o.prompts()
	case dash < 0 && len(args) == 1:
		return cmdutil.Usagef("run needs a command: fairlead run %s -- COMMAND", printable.Word(args[0]))
	case dash < 0:
		return cmdutil.Usagef("write -- before the command: fairlead run %s -- %s", printable.Word(args[0]), cmdutil.Retype(args[1:]))
	case dash > 1:
		return cmdutil.Usagef("run takes one TARGETS, got %d: join selectors with a comma", dash)
	case len(args) == dash:
		return cmdutil.Usagef("no command follows --")
	}
	o.Targets = args[0]
	return o.command(args[1:])
}

// command takes what stands after --.
func (o *Options) command(args []string) (err error) {
	script := consent.Script
	if o.Program {
		o.Words, script = args, consent.Program
	} else {
		o.after = args
	}
	if o.Script, err = script(args); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	return nil
}

func (o *Options) scriptWords(args []string, dash int) error {
	switch {
	case o.ScriptFile == "":
		return cmdutil.Usagef("--script needs the name of a file, or - for standard input")
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("run needs TARGETS: fairlead run TARGETS --script %s", printable.Word(o.ScriptFile))
	case dash < 0 && len(args) > 1:
		return cmdutil.Usagef("write -- before the script's arguments: fairlead run %s --script %s -- %s", printable.Word(args[0]), printable.Word(o.ScriptFile), cmdutil.Retype(args[1:]))
	case dash > 1:
		return cmdutil.Usagef("run takes one TARGETS, got %d: join selectors with a comma", dash)
	}
	o.Targets = args[0]
	if len(args) > 1 {
		o.Args = args[1:]
	}
	return nil
}

// stdinFlag is --stdin.
type stdinFlag struct{ mode *string }

func (s stdinFlag) Set(v string) error {
	if v != stdinHost && v != stdinCopy {
		return errors.New("must be copy, or nothing at all")
	}
	*s.mode = v
	return nil
}

func (s stdinFlag) String() string {
	if s.mode == nil {
		return ""
	}
	return *s.mode
}

// Type makes the help show the value as one that may be left out.
func (s stdinFlag) Type() string { return "bool" }

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
