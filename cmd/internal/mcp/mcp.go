// Package mcp implements "fairlead mcp".
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
)

// Options is everything the command needs: dependencies, then flags.
type Options struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Audit     func() (audit.Sink, error)
	Policy    func(file string) (*rules.Engine, error)
	Caller    func() cmdutil.Caller
	Approvals func() ([]string, error) // where to listen for answers, the first one; nil asks nobody
	Approvers func() ([]approval.Approver, error)
	Config    func() (config.Config, error)

	KeeperMode func() (config.KeeperMode, error)
	Keeper     func(context.Context) (*client.Client, error) // nil without an error: there is none, and none is required

	NoPrograms  func() bool              // see cmdutil.Factory
	StartFlags  func() ([]string, error) // for a process that starts this program
	As          string
	AllowAll    bool
	Elicit      bool
	PrintConfig bool
}

const long = `Serve one agent on standard input and output, over the Model Context Protocol.

The agent gets tools to list hosts, run commands on them and keep sessions. It acts as agent/NAME; every command is judged
and audited under that name. Without a policy file it may run what only reads. Anything else is denied or needs approval:
"fairlead approvals list" and "approve ID" at your terminal, within 15 minutes or what approvals: {expire: …} in config.yaml
says. --print-config prints the client's configuration, and "fairlead setup" installs it.

--elicit also lets the client ask its user for approval. An approval there counts as unproven; any other answer does not
count. Dangerous or privileged commands, and those above 1 KiB, are never approved there.

The keeper serves the agent, and starts if none runs (see --keeper, and fairlead serve --help). If it ends, the agent's
sessions close, and the agent's next request goes to another keeper. With --keeper off, or with --allow-all, this process
serves the agent itself.

Standard output carries the protocol only. When standard input ends, Fairlead stops the agent's commands and closes its
sessions; named sessions stay with the keeper for the same agent.`

const example = `  fairlead -i hosts.yaml mcp --print-config
  fairlead mcp --as claude`

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Inventory: f.Listed, Audit: f.Audit, Policy: f.Policy, Caller: f.Caller, Approvals: f.ApprovalsDirs, Approvers: f.Approvers, Config: f.Config,
		KeeperMode: f.KeeperMode, Keeper: f.Keeper, StartFlags: f.StartFlags, NoPrograms: f.NoPrograms}
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve an agent over the Model Context Protocol",
		Long:    long,
		Example: example,
		Args:    cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !agentName.MatchString(o.As) {
				return cmdutil.Usagef("--as takes a name of letters, digits, dots, dashes and underscores, not %q", o.As)
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.As, "as", "mcp", "let the agent act as agent/`name`")
	fl.BoolVar(&o.AllowAll, "allow-all", false, "let the agent do whatever you may do, on any host, except with Fairlead's own files: no other rule applies")
	fl.BoolVar(&o.Elicit, "elicit", false, "also let the client ask its user for approval")
	fl.BoolVar(&o.PrintConfig, "print-config", false, "print what a client's configuration needs, and exit")
	return cmd
}

var agentName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// run serves until the client is gone.
func run(ctx context.Context, o *Options) error {
	if o.PrintConfig {
		return printConfig(o)
	}
	if mark := o.Caller().Mark; mark != "" && (o.AllowAll || o.Elicit) {
		flag := map[bool]string{true: "--allow-all", false: "--elicit"}[o.AllowAll]
		return cmdutil.Usagef("%s is for a person to give, and an agent has started this (%s is set)", flag, mark)
	}
	p, err := o.dial(ctx)
	if err != nil {
		return err
	}
	if p != nil {
		return (&relay{ios: o.IO, dial: o.dialAgain}).serve(ctx, p)
	}
	return alone(ctx, o)
}

// alone serves in this process.
func alone(ctx context.Context, o *Options) error {
	principal := "agent/" + o.As
	engine, err := o.Policy("")
	if err != nil {
		return err
	}
	g, clean := gateOf(principal, engine), engine.Limits(principal).CleanEnv
	if o.AllowAll {
		g, clean = allowAll(engine), false
	}
	cmdutil.CollectLess()
	settings, err := o.Config()
	if err != nil {
		return err
	}
	expire := settings.Approvals.Expire
	sink, err := o.Audit()
	if err != nil {
		return err
	}
	inventory := func() (*hosts.Inventory, error) {
		inv, err := o.Inventory()
		if err != nil {
			return nil, err
		}
		return inv.As(principal), nil
	}
	d, err := dialer.New(dialer.Config{Inventory: inventory, Principal: principal, NoPrograms: o.NoPrograms()})
	if err != nil {
		return err
	}
	defer d.Close()
	state, secrets := newConns(), redact.New(redact.Config{})
	approver, hangUp := o.approver(ctx)
	defer hangUp()
	var elicitor *mcpserver.Elicitor
	if desk, ok := approver.(*approval.Desk); ok && o.Elicit {
		elicitor = mcpserver.NewElicitor(desk, principal)
		approver = elicitor
	}
	pool, err := session.NewPool(session.PoolConfig{
		Dial: d.Dial, FullHint: cmdutil.FullHint, DialTimeout: -1, // a dial has limits of its own, which stand still while a person is asked
		Session: session.Config{Principal: principal, Policy: g, Audit: cmdutil.CleanSink(mcpserver.Labeled(sink), secrets), Redact: cmdutil.Redactor(secrets), Sending: cmdutil.Learner(secrets, principal), Trace: state.trace(),
			Approver: approver, ApprovalTimeout: expire, CleanEnv: clean},
	})
	if err != nil {
		return err
	}
	defer pool.Close()
	reg, err := registry.New(registry.Config{Open: pool.Open, OpenOnce: pool.OpenOnce, Secrets: secrets, Render: emulate.Render})
	if err != nil {
		return err
	}
	defer reg.Close()
	book := jobwork.New(jobwork.Config{Pool: pool, Secrets: secrets, Host: func(name string) (hosts.Host, error) {
		inv, err := inventory()
		if err != nil {
			return hosts.Host{}, err
		}
		if h, ok, err := hosts.ParseAdHoc(name); o.AllowAll && (ok || err != nil) {
			return h, err
		}
		return inv.Lookup(name)
	}})
	defer book.Close()
	s, err := mcpserver.New(mcpserver.Config{
		Registry: reg, Jobs: book, Inventory: inventory, Principal: principal, Policy: g, LeastProof: g.least, Limits: g.limits, Admit: g.admit, AnyEnv: g.anyEnv,
		Exchange: string(settings.Exchange), Asks: approver != nil, Approver: approver, ApprovalTimeout: expire, Elicit: elicitor, AnyOne: o.AllowAll, State: state.state, Version: version.Read().Version,
		Way: func(h hosts.Host) string {
			way, _ := d.Way(h) // dialing says why not
			return way
		},
	})
	if err != nil {
		return err
	}
	return s.Serve(ctx, o.IO.In, o.IO.Out, func() { reg.Close() })
}

// approver is a desk at which operators answer (fairlead approvals), and what closes it. Without a place for its socket
// there is none, and what asks is denied.
func (o *Options) approver(ctx context.Context) (policy.Approver, func()) {
	if o.Approvals == nil {
		return nil, func() {}
	}
	desk := approval.NewDesk(approval.Config{Approvers: o.Approvers})
	dirs, err := o.Approvals()
	var srv *approval.Server
	if err == nil {
		srv, err = approval.Listen(desk, dirs[0])
	}
	if err != nil {
		fmt.Fprintf(o.IO.Err, "fairlead: approvals are not available, so commands that need approval are denied: %s\n", cmdutil.Text(err))
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(ctx) })
	return desk, func() {
		cancel()
		wg.Wait()
	}
}

// printConfig prints what clients read, in the form that most of them share.
func printConfig(o *Options) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	args, err := o.StartFlags()
	if err != nil {
		return err
	}
	args = append(args, "mcp")
	if o.As != "mcp" {
		args = append(args, "--as", o.As)
	}
	if o.AllowAll {
		args = append(args, "--allow-all")
	}
	if o.Elicit {
		args = append(args, "--elicit")
	}
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	enc := json.NewEncoder(o.IO.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]map[string]server{"mcpServers": {"fairlead": {Command: exe, Args: args}}})
}
