// Package shell implements "fairlead shell".
package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	hostscmd "github.com/fairlead-ssh/fairlead/cmd/internal/hosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Options is everything the command needs: dependencies, then flags, then arguments.
type Options struct {
	IO         *iostreams.IOStreams
	Getenv     func(string) string
	Inventory  func() (*hosts.Inventory, error)
	Reach      targets.Reach
	Audit      func() (audit.Sink, error)
	Dial       func(context.Context, hosts.Host) (session.Transport, error) // nil means as package dialer does
	Policy     func() (policy.Decider, error)
	Caller     cmdutil.Caller
	Place      place.Chooser
	Ask        func() sshconn.Ask       // a person, while connecting from here
	NoPrograms func() bool              // see cmdutil.Factory
	Recordings func() (string, error)   // the directory
	MaxBytes   int64                    // of a recording
	ExitCode   func(session.Result) int // of the program, for how the shell ended or why there is none; nil means package exitcode's

	PolicyFile     string
	NoRecord       bool
	RecordInput    bool
	Escape         byte // 0 means none
	ConnectTimeout time.Duration

	Target string

	sent []string // variables of the caller's that ssh_config sends
}

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, Getenv: f.Getenv, Inventory: f.Inventory, Reach: f.Reach(), Audit: f.Audit,
		Caller: f.Caller(), MaxBytes: terminals.MaxRecording, Escape: '~', Place: place.NewChooser(f), Ask: f.Ask, NoPrograms: f.NoPrograms,
	}
	o.Policy = func() (policy.Decider, error) {
		engine, err := f.Policy(o.PolicyFile)
		if err != nil {
			return nil, err // and no Decider that is not nil and holds nothing
		}
		return engine, nil
	}
	o.Recordings = func() (string, error) {
		dir, err := f.AuditDir()
		return filepath.Join(filepath.Dir(dir), "recordings"), err
	}
	if runF == nil {
		runF = Run
	}
	cmd := &cobra.Command{
		Use:     "shell HOST",
		Short:   "Open a terminal on one host, recorded",
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
	f.SSH.Add(fl)
	f.SSH.AddBecome(fl)
	fl.StringVar(&o.PolicyFile, "policy", "", "judge by this policy `file` instead of the one in your configuration")
	fl.BoolVar(&o.NoRecord, "no-record", false, "record nothing but the audit entry, which says so; for operators only")
	fl.BoolVar(&o.RecordInput, "record-input", false, "record what is typed too, passwords included")
	fl.VarP(escapeFlag{&o.Escape}, "escape", "e", "the character that begins escape sequences")
	fl.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "give up connecting after `duration`; 0 means what the inventory or ssh_config says")
	return cmd
}

// parse checks flags and arguments. dash is how many arguments stand before "--", -1 without one.
func (o *Options) parse(args []string, dash int) error {
	switch {
	case len(args) == 0 || dash == 0:
		return cmdutil.Usagef("shell needs a HOST: fairlead shell HOST")
	case dash > 0 || len(args) > 1:
		return cmdutil.Usagef("shell takes one HOST and no command: fairlead run %s -- %s", printable.Word(args[0]), cmdutil.Retype(args[1:]))
	case o.NoRecord && o.RecordInput:
		return cmdutil.Usagef("--no-record and --record-input exclude each other")
	case o.NoRecord && !operator(o.Caller.Principal):
		return cmdutil.Usagef("--no-record is for operators, and the caller is %s", o.Caller.Principal)
	case o.PolicyFile != "" && o.Caller.Mark != "":
		return cmdutil.Usagef("--policy is not for agents, and %s is set", o.Caller.Mark)
	case o.ConnectTimeout < 0 || o.ConnectTimeout > cmdutil.MaxConnectTimeout:
		return cmdutil.Usagef("--connect-timeout must be between 0 and %v", cmdutil.MaxConnectTimeout)
	}
	o.Target = args[0]
	return nil
}

func operator(principal string) bool { return strings.HasPrefix(principal, "operator/") }

// Run does the work: select, judge, connect, record, and be a terminal.
func Run(ctx context.Context, o *Options) error {
	host, err := o.host()
	if err != nil {
		return err
	}
	if !o.IO.InTTY || !o.IO.OutTTY {
		which := "input"
		if o.IO.InTTY {
			which = "output"
		}
		return cmdutil.Usagef("standard %s is not a terminal: shell is for people at one; for a command use fairlead run %s -- COMMAND", which, printable.Word(o.Target))
	}
	t, err := openTerminal(o.IO.In)
	if err != nil {
		return err
	}
	defer t.close()
	if o.sent, err = hostscmd.SentEnv(host, nil, os.Environ(), o.NoPrograms()); err != nil {
		return fmt.Errorf("%s: %w", host.Name, err)
	}
	if err := o.program(host); err != nil {
		return err
	}
	keeper, err := o.keeper(ctx, host)
	if err != nil {
		return err
	}
	if keeper != nil {
		defer keeper.Close()
		if again, err := o.there(ctx, keeper, host, t); !again {
			return err
		}
	}
	return o.here(ctx, host, t)
}

// program refuses a host for which ssh_config says that ssh would open something else than the account's shell on a terminal.
func (o *Options) program(h hosts.Host) error {
	p, err := hostscmd.ProgramOf(h, o.NoPrograms())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", h.Name, err)
	case p.Command != "":
		return cmdutil.Usagef("%s: RemoteCommand: shell opens the account's shell and no other program; run it: fairlead ssh %s; or open the shell: fairlead shell -o RemoteCommand=none %s", p.From, printable.Word(o.Target), printable.Word(o.Target))
	case p.TTY == "no":
		return cmdutil.Usagef("%s: RequestTTY no, and shell needs a terminal; without one: fairlead ssh %s; with one all the same: fairlead ssh -t %s", p.TTYFrom, printable.Word(o.Target), printable.Word(o.Target))
	}
	return nil
}

// here opens the terminal from this process.
func (o *Options) here(ctx context.Context, host hosts.Host, t *terminal) error {
	sink, err := o.Audit()
	if err != nil {
		return err
	}
	line := terminals.Line(t.settings(), host.Env)
	d, err := o.judge(ctx, host, line)
	if err != nil {
		return err
	}
	if d.Verdict != policy.Allow {
		return o.denied(host, terminals.NewEntry(sink, o.Caller.Principal, host, session.Peer{}), line, d)
	}
	dial := o.Dial
	if dial == nil {
		d, err := dialer.New(dialer.Config{Ask: o.Ask(), Inventory: o.Inventory, Principal: o.Caller.Principal, NoPrograms: o.NoPrograms(), Audit: func() (audit.Sink, error) { return sink, nil }})
		if err != nil {
			return err
		}
		defer d.Close()
		dial = d.Dial
	}
	conn, err := dial(ctx, host)
	if err != nil {
		return o.notReached(ctx, host, err)
	}
	defer conn.Close()
	return o.open(ctx, host, conn, t, terminals.NewEntry(sink, o.Caller.Principal, host, conn.Peer()), line, d)
}

// host returns the one host that is meant.
func (o *Options) host() (hosts.Host, error) {
	sel := targets.Resolver{Inventory: o.Inventory, In: strings.NewReader(""), Reach: o.Reach}
	hs, err := sel.Resolve(o.Target, "")
	if err != nil {
		return hosts.Host{}, &cmdutil.UsageError{Err: err}
	}
	if len(hs) > 1 {
		names := hosts.Fold(targets.Labels(hs))
		if len(names) > 200 {
			names = names[:200] + "…"
		}
		return hosts.Host{}, cmdutil.Usagef("shell takes one host, and %s picks %d: %s", o.Target, len(hs), names)
	}
	h := hs[0]
	if o.ConnectTimeout > 0 {
		h.ConnectTimeout = o.ConnectTimeout
	}
	return h, nil
}

// notReached tells why there is no connection.
func (o *Options) notReached(ctx context.Context, h hosts.Host, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	status := session.StatusUnreachable
	switch {
	case errors.Is(err, session.ErrHostKey):
		status = session.StatusHostKey
	case errors.Is(err, session.ErrAuth):
		status = session.StatusAuth
	}
	return o.fail(h, session.Result{Status: status}, cmdutil.WhyAt(err))
}

// fail prints one line and returns the exit code for r.
func (o *Options) fail(h hosts.Host, r session.Result, why string) error {
	what := map[session.Status]string{
		session.StatusAuth: "not logged in", session.StatusHostKey: "not trusted",
	}[r.Status]
	if r.Err != nil && r.Err.Code == "become" {
		what = "become failed"
	}
	if what == "" {
		what = string(r.Status)
	}
	fmt.Fprintf(o.IO.Err, "fairlead: %s: %s: %s\n", h.Name, what, cmdutil.OneLine(why))
	return o.exitOf(r)
}
