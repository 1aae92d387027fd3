// Package forward implements "fairlead forward": ports of this machine and of hosts that lead to others.
package forward

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Options is everything the commands need: dependencies, then flags, then arguments.
type Options struct {
	f *cmdutil.Factory

	Forwards []hosts.Forward
	Unlink   bool
	Reason   string
	Yes      bool
	JSON     bool

	Target string
}

const long = `Forward ports through a host, as ssh -L, -R and -D do, judged and recorded in the audit log.

  -L [address:]port:host:port    a port here leads to one that the host reaches
  -R [address:]port:host:port    a port of the host leads to one that this machine reaches
  -D [address:]port              a port here is a SOCKS 4 and 5 proxy that connects from the host; so is -R [address:]port there

The path of a socket may stand for [address:]port, and for host:port. One that is listened on here is the account's own (mode 0600),
and is removed at the end; whether sshd removes one of its own is up to its StreamLocalBindUnlink.
Only the machine itself can connect to a port unless an address is given: * is all of them, which sshd allows for -R only with
GatewayPorts. Port 0 is any that is free. Without -L, -R and -D it forwards what the inventory (forwards:) and ssh_config
(LocalForward, RemoteForward, DynamicForward) say of the host.

The keeper forwards until "close", and this command ends; with --keeper off it forwards itself, until ^C. If one of several
forwards fails, none is left. When the connection to the host is lost, Fairlead connects again. X11 is not supported.
Agents may have a -L with a port here that a rule of the policy allows (it is judged as: nc HOST PORT, or nc -U PATH).`

const example = `  fairlead forward db1 -L 5432:localhost:5432
  fairlead forward web1 -R 0:localhost:8080          # prints the port that web1 has found
  fairlead forward bastion -D 1080                   # curl -x socks5h://localhost:1080 …
  fairlead forward web1 -L ./docker.sock:/run/docker.sock
  fairlead forward list
  fairlead forward close e_…`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &Options{f: f}
	cmd := &cobra.Command{
		Use: "forward HOST [-L|-R|-D SPEC]…", Short: "Forward ports through a host", Long: long, Example: example,
		Args: cmdutil.Args(1, 1, "one HOST"), ValidArgsFunction: completion.Targets(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Target = args[0]
			return run(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	f.SSH.Add(fl)
	fl.VarP(&spec{o, "-L"}, "local", "L", "forward a port here to a host and port: `[address:]port:host:port`; repeatable")
	fl.VarP(&spec{o, "-R"}, "remote", "R", "forward a port of the host to here: `[address:]port[:host:port]`; repeatable")
	fl.VarP(&spec{o, "-D"}, "dynamic", "D", "serve SOCKS 4 and 5 on a port here: `[address:]port`; repeatable")
	fl.BoolVar(&o.Unlink, "unlink", false, "let a socket to listen on here take the place of one that is there (StreamLocalBindUnlink)")
	fl.StringVar(&o.Reason, "reason", "", "`reason` to record in the audit log")
	fl.BoolVarP(&o.Yes, "yes", "y", false, "confirm what the policy asks to confirm")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	list := &cobra.Command{
		Use: "list", Short: "List the ports that the keeper forwards", Args: cmdutil.Args(0, 0, "no arguments"),
		Long: `List the ports that the keeper forwards.

A pipe gets one tab-separated line per forward, without a header: id, host, -L, -R or -D with what it forwards, when it was opened,
connections that are open, all that there were, bytes to the targets and from them, and why the last connection that failed did. Empty fields are "-".`,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAll(cmd.Context(), o) },
	}
	list.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	cmd.AddCommand(list, &cobra.Command{
		Use: "close ID…", Short: "Close forwards, and end their connections", Args: cmdutil.Args(1, maxIDs, "the ids of forwards"),
		RunE: func(cmd *cobra.Command, args []string) error { return closeAll(cmd.Context(), o, args) },
	})
	return cmd
}

// maxIDs bounds what one call closes.
const maxIDs = 1000

// spec is a flag that adds a forward.
type spec struct {
	o      *Options
	option string
}

var _ pflag.Value = (*spec)(nil)

func (s *spec) String() string { return "" }
func (s *spec) Type() string   { return "forward" }

// Repeatable implements cmdutil.Repeatable: each adds a forward.
func (s *spec) Repeatable() bool { return true }

func (s *spec) Set(text string) error {
	f, err := hosts.ParseForward(s.option, text)
	if err == nil {
		s.o.Forwards = append(s.o.Forwards, f)
	}
	return err
}

// find returns the keeper that runs; nil where none does.
func (o *Options) find(ctx context.Context) (*client.Client, error) {
	mode, err := o.f.KeeperMode()
	if err != nil || mode == config.Off {
		return nil, err
	}
	c, err := o.f.Keepers.Find(ctx)
	if errors.Is(err, cmdutil.ErrNoKeeper) {
		return nil, nil
	}
	return c, err
}

func listAll(ctx context.Context, o *Options) error {
	c, err := o.find(ctx)
	if err != nil || c == nil {
		return err
	}
	defer c.Close()
	all, err := c.Forwards(ctx)
	if err != nil {
		return err
	}
	if o.JSON {
		return o.printJSON(all...)
	}
	t := table.New("ID", "HOST", "FORWARD", "OPENED", "OPEN", "CONNECTIONS", "SENT", "RECEIVED", "FAULT")
	t.Fit, t.Keep, t.Whole, t.Drop = true, []string{"FORWARD", "FAULT"}, []string{"OPENED"}, []string{"OPENED", "CONNECTIONS"}
	for _, f := range all {
		t.Add(f.ID, f.Host, inWords(f), f.Opened.Local().Format(time.DateTime), fmt.Sprint(f.Open), fmt.Sprint(f.Connections), fmt.Sprint(f.Sent), fmt.Sprint(f.Received), cmp.Or(f.Fault, "-"))
	}
	return t.Print(o.f.IO)
}

func (o *Options) printJSON(all ...wire.Forward) error {
	enc := json.NewEncoder(o.f.IO.Out)
	for _, f := range all {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// inWords is a forward as ssh says it.
func inWords(f wire.Forward) string {
	text := options[f.Kind] + " " + f.Listen
	if f.To != "" {
		text += ":" + f.To
	}
	return text
}

var options = map[string]string{wire.ForwardLocal: "-L", wire.ForwardRemote: "-R", wire.ForwardDynamic: "-D"}

// kindOf is what the keeper calls an option.
func kindOf(option string) string {
	for kind, o := range options {
		if o == option {
			return kind
		}
	}
	return ""
}

// closeAll closes forwards, and tells at the end which there are not.
func closeAll(ctx context.Context, o *Options, ids []string) error {
	c, err := o.find(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return cmdutil.Usagef("there is no forward %s: no keeper runs", ids[0])
	}
	defer c.Close()
	refused, err := client.Each(ids, func(id string) error { _, err := c.CloseForward(ctx, id); return err })
	if err != nil || refused == nil {
		return err
	}
	return &cmdutil.UsageError{Err: refused}
}
