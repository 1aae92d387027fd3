package hosts

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// ListOptions is everything that "hosts list" needs.
type ListOptions struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Reach     targets.Reach

	SSHInventory func() (*hosts.Inventory, error) // nil for an agent

	Except string
	JSON   bool
	SSH    bool // the hosts of ssh_config, and not of the inventory
	Names  bool // nothing but names
	Held   bool // connect, and say by what each host's kernel holds reads

	Pool  func(cmdutil.PoolOptions) (*session.Pool, error)
	Place place.Chooser

	Selector string // "" means all
}

// NewCmdList builds the command. runF replaces the real work in tests of flags.
func NewCmdList(f *cmdutil.Factory, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), SSHInventory: f.SSHInventory, Pool: f.Pool, Place: place.NewChooser(f)}
	if runF == nil {
		runF = listRun
	}
	cmd := &cobra.Command{
		Use:   "list [SELECTOR]",
		Short: "List hosts",
		Long: `List the hosts of the inventory, or those that SELECTOR picks.

A terminal gets a table that fits its width. A pipe gets one tab-separated line per host, without a header: name, transport,
address, tier, groups, labels, and for a host of ssh_config its file and line. Empty fields are "-"; "hosts show" shows what
will be used. --json also has the file and line that each host comes from, and why a host refuses logins.

Without an inventory these are the hosts that ~/.ssh/config names without wildcards. With an inventory, --ssh-config lists
them, and operators can use them by name. Agents use only hosts of an inventory.

--held connects to the hosts and runs true in a held shell. It adds by what the host's kernel holds reads, "no" and why it
cannot, or "unknown" and why that could not be found out.`,
		Example: `  fairlead hosts list
  fairlead hosts list --ssh-config
  fairlead hosts list '@web & !tier=prod'
  fairlead hosts list -1 role=db
  fairlead hosts list --held @web
  fairlead hosts list --json | jq -r .source`,
		Args: cmdutil.Args(0, 1, "at most one SELECTOR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Selector = strings.Join(args, "")
			if len(args) == 0 {
				o.Selector = "all"
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Targets(f),
	}
	cmd.Flags().StringVarP(&o.Except, "except", "x", "", "leave out the hosts that `selector` picks")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVar(&o.SSH, "ssh-config", false, "list the hosts of ssh_config instead of the inventory")
	cmd.Flags().BoolVarP(&o.Names, "names", "1", false, "print names only, one per line")
	cmd.Flags().BoolVar(&o.Held, "held", false, "connect, and report by what each host's kernel holds reads")
	return cmd
}

func listRun(ctx context.Context, o *ListOptions) error {
	switch {
	case o.JSON && o.Names:
		return &cmdutil.UsageError{Err: errors.New("--json prints the names as well: leave out --names")}
	case o.Held && o.Names:
		return &cmdutil.UsageError{Err: errors.New("--names prints nothing but names: leave out --held")}
	}
	r := targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}
	if o.SSH {
		r.Inventory = o.sshInventory
	}
	hs, err := r.Resolve(o.Selector, o.Except)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	var kernels map[string]kernel
	if o.Held {
		if kernels, err = o.kernels(ctx, hs); err != nil {
			return err
		}
	}
	if o.JSON || o.Names {
		return o.lines(hs, kernels)
	}
	columns := []string{"NAME", "TRANSPORT", "ADDRESS", "TIER", "GROUPS", "LABELS"}
	sources := slices.ContainsFunc(hs, o.ofSSH)
	if sources {
		columns = append(columns, "SOURCE")
	}
	if o.Held {
		columns = append(columns, "HELD")
	}
	t := table.New(columns...)
	t.Fit = true
	for _, h := range hs {
		row := []string{h.Name, string(kind(h)), cmp.Or(address(h), "-"), cmp.Or(h.Tier, "-"), cmp.Or(strings.Join(h.Groups, ","), "-"), cmp.Or(strings.Join(labels(h), ","), "-")}
		if sources {
			row = append(row, cmp.Or(h.Source.String(), "-"))
		}
		if o.Held {
			row = append(row, kernels[h.Name].String())
		}
		t.Add(row...)
	}
	return t.Print(o.IO)
}

// kernel is by what one holds reads, or why that is not so.
type kernel struct{ held, by, not string }

func (k kernel) String() string {
	switch {
	case k.held == "kernel":
		return k.by
	case k.not == "":
		return k.held
	}
	return k.held + ": " + k.not
}

// kernels runs true in a held shell of each host.
func (o *ListOptions) kernels(ctx context.Context, hs []hosts.Host) (map[string]kernel, error) {
	ping := &PingOptions{IO: o.IO, Inventory: o.Inventory, Reach: o.Reach, Pool: o.Pool, Place: o.Place, Forks: session.DefaultForks}
	where, done, err := ping.where(ctx, hs)
	if err != nil {
		return nil, err
	}
	defer done()
	all := map[string]kernel{}
	err = where.Run(ctx, hs, session.Command{Script: Looks, Held: true, Keep: -1, Reason: HeldReason}, func(e place.HostEnd) {
		k := kernel{held: e.Result.Held, by: e.Result.HeldBy, not: e.Result.NotHeld}
		if k.held == "" {
			k.held = "unknown"
			if e.Result.Err != nil {
				k.not = cmdutil.WhyAt(e.Result.Err)
			}
		}
		all[e.Host.Name] = k
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return all, err
}

// ofSSH reports whether a host is one of ssh_config.
func (o *ListOptions) ofSSH(h hosts.Host) bool {
	if o.Reach.Named == nil {
		return false
	}
	same, ok, err := o.Reach.Named(h.Name)
	return err == nil && ok && same.Source == h.Source
}

// sshInventory is what --ssh-config lists.
func (o *ListOptions) sshInventory() (*hosts.Inventory, error) {
	inv, err := o.SSHInventory()
	switch {
	case err != nil:
		return nil, err
	case inv == nil:
		return nil, errors.New("--ssh-config is for operators: an agent uses only the hosts of an inventory")
	case inv.Len() == 0:
		return nil, errors.New("ssh_config names no host: it has no Host line with a name without wildcards")
	}
	return inv, nil
}

// lines prints names or JSON objects.
func (o *ListOptions) lines(hs []hosts.Host, kernels map[string]kernel) error {
	out := bufio.NewWriter(o.IO.Out)
	enc := json.NewEncoder(out)
	for _, h := range hs {
		var err error
		if o.Names {
			_, err = out.WriteString(h.Name + "\n")
		} else {
			j, k := toJSON(h), kernels[h.Name]
			j.Held, j.HeldBy, j.NotHeld = k.held, k.by, k.not
			err = enc.Encode(j)
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// hostJSON is a stable format. It says what the inventory says; absent means not set.
type hostJSON struct {
	Name           string            `json:"name"`
	Transport      hosts.Kind        `json:"transport"`
	Addr           string            `json:"addr,omitempty"`
	Port           uint16            `json:"port,omitempty"`
	User           string            `json:"user,omitempty"`
	Via            []string          `json:"via,omitempty"`
	Groups         []string          `json:"groups"`
	Labels         map[string]string `json:"labels"`
	Tier           string            `json:"tier"` // what the host counts as
	Identity       []string          `json:"identity,omitempty"`
	SSHConfig      string            `json:"ssh_config,omitempty"`
	Shell          string            `json:"shell,omitempty"`
	Login          bool              `json:"login,omitempty"`
	Env            []string          `json:"env,omitempty"`
	Command        []string          `json:"command,omitempty"`
	ConnectTimeout string            `json:"connect_timeout,omitempty"`
	Source         string            `json:"source,omitempty"`
	Refused        string            `json:"refused,omitempty"` // why logins are refused
	Held           string            `json:"held,omitempty"`    // with --held: kernel, no or unknown
	HeldBy         string            `json:"held_by,omitempty"`
	NotHeld        string            `json:"not_held,omitempty"` // why
}

func toJSON(h hosts.Host) hostJSON {
	j := hostJSON{
		Name: h.Name, Transport: kind(h), Addr: h.Addr, Port: h.Port, User: h.User, Via: h.Via, Groups: h.Groups,
		Labels: h.Labels, Tier: h.TierName(), Identity: h.Identity, SSHConfig: h.SSHConfig, Shell: h.Shell,
		Login: h.Login, Env: h.Env, Command: h.Command, Refused: h.NoLogin,
	}
	if j.Groups == nil {
		j.Groups = []string{}
	}
	if j.Labels == nil {
		j.Labels = map[string]string{}
	}
	if h.ConnectTimeout > 0 {
		j.ConnectTimeout = h.ConnectTimeout.String()
	}
	if h.Source.File != "" {
		j.Source = h.Source.String()
	}
	return j
}

func kind(h hosts.Host) hosts.Kind {
	if h.Transport == "" {
		return hosts.SSH
	}
	return h.Transport
}

// address is user@addr:port as far as the inventory says.
func address(h hosts.Host) string {
	addr := h.Addr
	if addr == "" && (h.User != "" || h.Port != 0) {
		addr = h.Name
	}
	if h.Port != 0 {
		addr = net.JoinHostPort(addr, strconv.Itoa(int(h.Port)))
	}
	if h.User != "" {
		addr = h.User + "@" + addr
	}
	return addr
}

func labels(h hosts.Host) []string {
	out := make([]string, 0, len(h.Labels))
	for k, v := range h.Labels {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}
