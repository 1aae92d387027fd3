// Package cp implements "fairlead cp" and "fairlead fetch": copies of files to hosts and from them.
package cp

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Options is everything the commands need: dependencies, then flags, then arguments.
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
	Getenv    func(string) string
	StateDir  func() (string, error) // uploads that run are noted there
	Settings  func() (config.Config, error)

	Except         string
	JSON           bool
	Forks          int
	Timeout        time.Duration
	ConnectTimeout time.Duration
	Reason         string
	Yes            bool
	Partial        bool

	Mode   string
	Owner  string
	Delete bool
	DryRun bool
	Verify bool
	Resume bool
	Times  bool

	silent bool              // nothing is printed of what went well
	missed func(name string) // hears then of what was skipped; may be nil

	// lacks hears of what could not be read on a host from which all else came, which is then no failure; nil makes it one.
	lacks func(copies.Report)
}

func newOptions(f *cmdutil.Factory) *Options {
	return &Options{
		IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Pool: f.Pool, Policy: f.Policy, Caller: f.Caller, Terminal: f.Terminal,
		Place: place.NewChooser(f), Running: f.Running, Getenv: f.Getenv, StateDir: f.StateDir, Settings: f.Config,
	}
}

func (o *Options) flags(f *cmdutil.Factory, cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagError)
	fl := cmd.Flags()
	f.SSH.AddWay(fl, "P") // as scp has it
	f.SSH.AddBecome(fl)
	fl.StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	fl.BoolVar(&o.JSON, "json", false, "print one result per host as JSON, then a summary")
	fl.IntVar(&o.Forks, "forks", session.DefaultForks, "copy to or from at most `n` hosts at a time")
	fl.DurationVar(&o.Timeout, "timeout", 0, "stop a copy that takes longer than `duration` (2m30s); 0 means no limit")
	fl.DurationVar(&o.ConnectTimeout, "connect-timeout", 0, "stop connecting after `duration`; 0 means the limit of the inventory or ssh_config")
	fl.StringVar(&o.Reason, "reason", "", "`reason` to record in the audit log")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "answer confirmations with yes")
	fl.BoolVar(&o.Partial, "partial", false, "copy where the policy allows it, and list the other hosts")
	fl.BoolVarP(&o.Times, "times", "p", false, "keep when files and directories were changed last, in whole seconds")
	fl.StringVar(&o.Mode, "mode", "", "set the permissions of files to `mode` in octal, as 0644")
}

// check refuses flags that make no sense.
func (o *Options) check() error {
	switch {
	case o.Forks < 1:
		return cmdutil.Usagef("--forks must be at least 1, not %d", o.Forks)
	case o.Timeout < 0:
		return cmdutil.Usagef("--timeout must not be negative")
	case o.ConnectTimeout < 0 || o.ConnectTimeout > cmdutil.MaxConnectTimeout:
		return cmdutil.Usagef("--connect-timeout must be between 0 and %v", cmdutil.MaxConnectTimeout)
	}
	if _, err := strconv.ParseUint(o.Mode, 8, 12); o.Mode != "" && err != nil {
		return cmdutil.Usagef("--mode %q: mode is up to four octal digits, as 0644", o.Mode)
	}
	return nil
}

// NewCmd builds "cp".
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := newOptions(f)
	cmd := &cobra.Command{
		Use: "cp SRC… DST", Short: "Copy files to hosts, or from one", Long: long, Example: example,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			src, dst, err := endpoints(args)
			if err == nil {
				err = o.check()
			}
			if err != nil {
				return err
			}
			return o.copy(cmd.Context(), src, dst)
		},
		ValidArgsFunction: completePaths(f, 0, true),
	}
	o.flags(f, cmd)
	fl := cmd.Flags()
	fl.StringVar(&o.Owner, "owner", "", "set the owner to `uid:gid`, in numbers; takes root on the host")
	fl.BoolVar(&o.Delete, "delete", false, "remove what is in the directories on the host and not in SRC; shows a plan and asks first")
	fl.BoolVarP(&o.DryRun, "dry-run", "n", false, "show what would change on the host, with hashes and diffs, and what the policy says of it; change nothing")
	fl.BoolVar(&o.Resume, "resume", false, "keep what has come of large files where the copy is interrupted, and continue it the next time")
	fl.BoolVar(&o.Verify, "verify", false, "read files over 16 MiB back from the host, too, before they get their names")
	return cmd
}

// NewFetchCmd builds "fetch".
func NewFetchCmd(f *cmdutil.Factory) *cobra.Command {
	o := newOptions(f)
	cmd := &cobra.Command{
		Use: "fetch SELECTOR:PATH DIR", Short: "Copy files from many hosts into a directory for each", Long: fetchLong, Example: fetchExample,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cmdutil.Usagef("fetch needs SELECTOR:PATH and a directory: fairlead fetch '@web:/var/log/nginx/*.log' logs")
			}
			from, to := parseEndpoint(args[0]), parseEndpoint(args[1])
			if !from.far() || to.far() {
				return cmdutil.Usagef("fetch copies from hosts to a directory here: fairlead fetch SELECTOR:PATH DIR")
			}
			if to.path == "" {
				return cmdutil.Usagef("the directory is empty: fairlead fetch SELECTOR:PATH DIR")
			}
			if err := o.check(); err != nil {
				return err
			}
			return o.fetch(cmd.Context(), from, to.path)
		},
		ValidArgsFunction: completePaths(f, 1, false),
	}
	o.flags(f, cmd)
	return cmd
}

// copy does what the arguments of cp say.
func (o *Options) copy(ctx context.Context, src []endpoint, dst endpoint) error {
	if src[0].far() && dst.far() {
		return o.across(ctx, src[0], dst)
	}
	if src[0].far() {
		if o.Owner != "" || o.Delete || o.DryRun || o.Verify || o.Resume {
			return cmdutil.Usagef("--owner, --delete, --dry-run, --resume and --verify are for copies to hosts")
		}
		return o.download(ctx, src[0], dst.path)
	}
	var paths []string
	for _, s := range src {
		paths = append(paths, s.path)
	}
	return o.upload(ctx, paths, dst, nil, between{})
}

// hosts are those that a selector picks, as the flags change them.
func (o *Options) hosts(selector string) ([]hosts.Host, error) {
	sel := targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}
	hs, err := sel.Resolve(selector, o.Except)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	for i := range hs {
		if o.ConnectTimeout > 0 {
			hs[i].ConnectTimeout = o.ConnectTimeout
		}
	}
	return hs, nil
}

// do judges a copy on hs and runs it.
func (o *Options) do(ctx context.Context, hs []hosts.Host, c *copies.Copy, v *view) error {
	c.Plan.Guarded = o.Caller().Mark != ""
	if dir, err := o.StateDir(); err == nil {
		c.Journal = copies.JournalIn(dir, c.Plan.Guarded)
	}
	cmd, err := c.Command()
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	keeper, err := o.Place.For(ctx, hs)
	if err != nil {
		return err
	}
	if keeper != nil {
		defer keeper.Close()
	}
	judge := consent.Judge{
		IO: o.IO, Caller: o.Caller(), Policy: o.Policy, Terminal: o.Terminal, Yes: o.Yes, Reason: o.Reason,
		Approvable: keeper != nil, Partial: o.Partial,
	}
	judge.TellAgent()
	if err := judge.Many(ctx, o.Settings, "copy", cmd.Script, hs); err != nil {
		return err
	}
	judged, err := judge.Decide(ctx, cmd.Script, hs)
	if err != nil {
		return err
	}
	cmd.Reason, cmd.Timeout = judged.Reason, o.Timeout
	here := &place.Here{Secrets: redact.New(redact.Config{}), Open: sync.OnceValues(func() (*session.Pool, error) {
		return o.Pool(cmdutil.PoolOptions{Forks: min(o.Forks, len(hs)), Policy: judged, Redact: redact.New(redact.Config{})})
	})}
	var where place.Runner = here
	if keeper != nil && !judged.Refused() {
		there := &place.There{Keeper: keeper, Waiting: place.TellWaiting(o.IO.Err), Request: wire.NewRun{
			Partial: o.Partial, Forks: o.Forks, Copy: &c.Plan, Stdin: c.Plan.Op == copies.Upload && !c.Plan.DryRun,
		}}
		if c.Plan.Op == copies.Download {
			there.Files = c.Sink
		}
		if c.Source != nil {
			cmd.Stdins = c.Source
		}
		if o.ConnectTimeout > 0 {
			s := o.ConnectTimeout.Seconds()
			there.Request.ConnectTimeoutS = &s
		}
		there.Answers = func(in *wire.NewRun, names []string) { place.Answers(in, o.Caller(), o.Yes, judged, names) }
		where = &place.Either{
			There: there, Here: here, Place: o.Place, Tell: o.IO.Err,
			Refused: func(h hosts.Host) bool { return judged.Refusal(h) != nil },
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v.gate = outcome.NewGate(o.IO, cancel)
	err = v.run(ctx, where, hs, cmd)
	if errors.Is(err, client.ErrNoText) { // the path: names of files have their bytes
		return cmdutil.Usagef("the path on the host is not UTF-8, and the keeper does not take it: nothing was sent; copy with --keeper off")
	}
	return err
}
