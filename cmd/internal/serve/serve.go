// Package serve implements "fairlead serve".
package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/otlp"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/storeplace"
	"github.com/fairlead-ssh/fairlead/cmd/internal/version"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Options is everything the command needs: dependencies, then flags.
type Options struct {
	IO        *iostreams.IOStreams
	Audit     func() (audit.Sink, error)
	AuditDir  func() (string, error)
	Policy    func(file string) (*rules.Engine, error)
	Caller    func() cmdutil.Caller
	Approvals func() ([]string, error)
	Approvers func() ([]approval.Approver, error)
	Outputs   func() (audit.OutputStore, error)
	Store     func() (store.Config, error)
	Config    func() (config.Config, error)
	Inventory func() (string, error) // its path
	Usual     func() (string, error) // where it is without anybody naming it
	SSHHosts  *sshhosts.Book
	PolicyDir func() (string, error) // where the user's policy.yaml is
	Places    func() (listen.Places, error)
	Own       func() []string // files and directories of Fairlead on this machine

	Stop bool
	Auto bool
	Idle time.Duration
	TCP  listen.TCP
	Door listen.AgentDoor
}

const long = `Run the keeper, the background process that holds sessions, in the foreground.

It listens on a unix socket for this account only ($XDG_RUNTIME_DIR/fairlead/keeper.sock, else under the state directory)
and serves an HTTP API there; /openapi.json describes it. A caller is this account, or an agent that it names. Every
command is judged and audited as on the command line.

--listen also serves it over TLS to callers with a bearer token. Make tokens on the socket (POST /v1/tokens) for a
principal and a role: viewer, operator, approver, admin or agent. No token can both run and approve.

Run under an account of its own, which alone holds SSH keys, policy and store, the keeper enforces its policy:
--agent-socket opens a socket for the socket's group, where every caller is the agent that --agent names. That agent runs
what the policy allows, and approves nothing.

^C, SIGTERM or "fairlead serve --stop" end the keeper and its sessions.`

const example = `  fairlead serve
  fairlead serve --idle 1h
  curl --unix-socket $XDG_RUNTIME_DIR/fairlead/keeper.sock http://localhost/healthz
  fairlead serve --agent-socket /run/fairlead-agents/socket --agent claude
  fairlead serve --stop`

const mayNot = "start or stop the keeper"

// stopTime bounds how long --stop waits.
const stopTime = time.Minute

// NewCmd builds the command. runF replaces the real work in tests of flags.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{
		IO: f.IO, Audit: f.Audit, AuditDir: f.AuditDir, Policy: f.Policy, Caller: f.Caller, Approvals: f.ApprovalsDirs, Approvers: f.Approvers,
		Inventory: f.InventoryPath, Usual: f.DefaultInventory, SSHHosts: f.SSHHosts, Outputs: f.Outputs, Config: f.Config,
		Store: func() (store.Config, error) { return storeplace.Of(f) },
		PolicyDir: func() (string, error) {
			inv, err := f.DefaultInventory()
			return filepath.Dir(inv), err
		},
		Places: func() (listen.Places, error) { return listen.FindPlaces(f.Getenv) },
		Own:    func() []string { return f.Own().Paths },
	}
	o.Door.AuthSock = f.Getenv("SSH_AUTH_SOCK")
	if runF == nil {
		runF = run
	}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the keeper, which holds sessions and serves the HTTP API", Long: long, Example: example,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.TCP.Addr == "" && (o.TCP.CertFile != "" || o.TCP.KeyFile != "" || len(o.TCP.Names) > 0):
				return cmdutil.Usagef("--tls-cert, --tls-key and --name go with --listen")
			case o.TCP.Addr != "" && (o.TCP.CertFile == "" || o.TCP.KeyFile == ""):
				return cmdutil.Usagef("--listen takes --tls-cert and --tls-key: without TLS there is only the socket")
			case (o.Door.Socket == "") != (o.Door.Name == ""):
				return cmdutil.Usagef("--agent-socket and --agent go together: a path, and the agent that every caller on it is")
			case o.Stop && (o.Auto || o.Idle != 0 || o.TCP.Addr != "" || o.Door.Socket != ""):
				return cmdutil.Usagef("--stop goes with no other flag")
			case o.Idle < 0:
				return cmdutil.Usagef("--idle takes a time such as 15m, and not a negative one")
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.Stop, "stop", false, "end the keeper that runs, with its sessions")
	fl.DurationVar(&o.Idle, "idle", 0, "leave after so long a `time` without session and caller (default never)")
	fl.StringVar(&o.TCP.Addr, "listen", "", "listen on `host:port` too, with TLS, for callers with a token")
	fl.StringVar(&o.TCP.CertFile, "tls-cert", "", "certificate `file` for --listen (PEM)")
	fl.StringVar(&o.TCP.KeyFile, "tls-key", "", "key `file` of the certificate (PEM)")
	fl.StringSliceVar(&o.TCP.Names, "name", nil, "take requests for this `host` name too on --listen; others are refused; repeatable")
	fl.StringVar(&o.Door.Socket, "agent-socket", "", "listen on a socket at this `path` too, where every caller is the agent of --agent")
	fl.StringVar(&o.Door.Name, "agent", "", "who callers on --agent-socket are: agent/`name`")
	fl.BoolVar(&o.Auto, "auto", false, "run as one that was started on first use")
	_ = fl.MarkHidden("auto")
	return f.ForPeople(cmd, mayNot, func() bool { return o.Auto }) // who has started --auto hears it from serve
}

func run(ctx context.Context, o *Options) error {
	places, err := o.Places()
	if err != nil {
		return err
	}
	if o.Stop {
		return stop(ctx, o, places)
	}
	tell := func(error) {}
	if o.Auto {
		tell = reach.Ready()
	}
	err = serve(ctx, o, places, tell)
	if o.Auto && errors.Is(err, listen.ErrRunning) {
		tell(nil) // who wanted a keeper has one
		return nil
	}
	tell(err)
	if ctx.Err() != nil && err == nil {
		return nil // that is how it ends
	}
	return err
}

func serve(ctx context.Context, o *Options, places listen.Places, tell func(error)) error {
	cmdutil.CollectLess()
	defer adopt()()
	who := o.Caller()
	if err := who.MayNot(mayNot); err != nil {
		return err
	}
	cfg := keeper.Config{Principal: who.Principal, Idle: o.Idle, Version: version.Read().Version, Log: o.IO.Err, TCP: o.TCP, AgentDoor: o.Door, Auto: o.Auto}
	if !o.Auto && o.Idle == 0 {
		cfg.Idle = -1
	}
	var err error
	for _, name := range []*string{&cfg.TCP.CertFile, &cfg.TCP.KeyFile} {
		if *name == "" {
			continue
		}
		if *name, err = filepath.Abs(*name); err != nil { // agents are kept from them by their whole names
			return err
		}
	}
	if o.Own != nil {
		cfg.Own = o.Own()
	}
	if cfg.Inventory, err = o.Inventory(); err != nil {
		return err
	}
	if cfg.Usual, err = o.Usual(); err != nil {
		return err
	}
	cfg.SSHHosts = o.SSHHosts
	if exe, err := os.Executable(); err == nil {
		cfg.Confine = []string{exe, ConfineName}
	}
	cfg.Policy = func() (*rules.Engine, error) { return o.Policy("") }
	dir, err := o.PolicyDir()
	if err != nil {
		return err
	}
	cfg.PolicyFiles = []string{rules.SystemFile, filepath.Join(dir, "policy.yaml")}
	cfg.SettingsFiles = []string{filepath.Join(dir, config.FileName)}
	if _, err := cfg.Policy(); err != nil {
		return err
	}
	if cfg.Audit, err = o.Audit(); err != nil {
		return err
	}
	if cfg.AuditDir, err = o.AuditDir(); err != nil {
		return err
	}
	cfg.Recordings = filepath.Join(filepath.Dir(cfg.AuditDir), "recordings")
	cfg.Runs = &runstore.Store{Dir: filepath.Join(filepath.Dir(cfg.AuditDir), "runs")}
	if dirs, err := o.Approvals(); err == nil {
		cfg.ApprovalsDir = dirs[0]
	}
	cfg.Approvers = o.Approvers
	settings, err := o.Config()
	if err != nil {
		return err
	}
	cfg.Notify, cfg.ApprovalTimeout = settings.Notify, settings.Approvals.Expire
	cfg.Keep = settings.Store.Keep
	cfg.Exchange = string(settings.Exchange)
	if settings.OTLP.URL != "" {
		spans, err := otlp.Open(ctx, settings.OTLP.Config, cfg.Version, func(text string) { fmt.Fprintf(o.IO.Err, "fairlead: %s\n", text) })
		if err != nil {
			return fmt.Errorf("otlp: %w", err)
		}
		defer spans.Close()
		cfg.Spans = spans
	}
	if cfg.Outputs, err = o.Outputs(); err != nil {
		return err
	}
	where, err := o.Store()
	if err != nil {
		return err
	}
	if cfg.Store, err = store.Open(ctx, where); err != nil {
		return err
	}
	defer cfg.Store.Close()
	if cfg.ID, err = places.ID(); err != nil {
		return err
	}
	keeper.LimitMemory()
	return keeper.Serve(ctx, cfg, places, func() {
		tell(nil)
		if !o.Auto {
			fmt.Fprintf(o.IO.Err, "fairlead: the keeper listens on %s\n", places.Socket)
		}
	})
}

func stop(ctx context.Context, o *Options, places listen.Places) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	err := reach.Stop(ctx, places)
	if errors.Is(err, reach.ErrNone) {
		fmt.Fprintln(o.IO.Err, "fairlead: no keeper runs")
		return nil
	}
	return err
}
