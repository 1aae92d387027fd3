package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// ShowOptions is everything that "hosts show" needs.
type ShowOptions struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)
	Reach     targets.Reach
	Caller    func() cmdutil.Caller

	NoPrograms func() bool // see cmdutil.Factory

	JSON bool
	As   string // "" means the caller

	Name string
}

// NewCmdShow builds the command. runF replaces the real work in tests of flags.
func NewCmdShow(f *cmdutil.Factory, runF func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{IO: f.IO, Inventory: f.Inventory, Reach: f.Reach(), Caller: f.Caller, NoPrograms: f.NoPrograms}
	if runF == nil {
		runF = showRun
	}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show the settings of a host, and their sources",
		Long: `Show every value that will be used for a host, and where it comes from: the inventory, OpenSSH's client configuration,
or a default. NAME is a host of the inventory or of ssh_config, or user@host for one outside of both. Nothing is connected.

Where the inventory has credentials the account and the keys are those of who asks, and with --as those of another
principal; "no login" says why that one would not get in.`,
		Example: `  fairlead hosts show web01
  fairlead hosts show deploy@10.0.0.5:2222
  fairlead hosts show web01 --as agent/claude
  fairlead hosts show web01 --json | jq '.effective[] | select(.field == "user")'`,
		Args: cmdutil.Args(1, 1, "the NAME of one host"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			if o.As == "" {
				o.As = o.Caller().Principal
			} else if err := hosts.CheckPrincipal(o.As); err != nil || !strings.Contains(o.As, "/") {
				return cmdutil.Usagef("--as takes a principal such as agent/claude, not %q", o.As)
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Hosts(f),
	}
	f.SSH.Add(cmd.Flags())
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	cmd.Flags().StringVar(&o.As, "as", "", "show how this `principal` logs in, such as agent/claude (default you)")
	return cmd
}

// showJSON is a stable format: the host as the inventory has it, and what that comes to.
type showJSON struct {
	hostJSON
	Effective []Value `json:"effective"`
}

func showRun(_ context.Context, o *ShowOptions) error {
	h, lent, from, err := o.host()
	listed := h
	if err == nil && o.Reach.Change != nil {
		h, err = o.Reach.Change(h)
	}
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	var origin Origin
	if from != nil {
		origin = OriginOf(from, listed, h)
	}
	values, err := Effective(h, lent, origin, o.NoPrograms())
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(showJSON{toJSON(h), values})
	}
	t := table.New("FIELD", "VALUE", "FROM")
	for _, v := range values {
		t.Add(v.Field, cmp.Or(v.Value, "-"), v.From)
	}
	return t.Print(o.IO)
}

// host finds the host as the principal logs in to it, and the credential that says so; a zero one is none. from is the inventory
// that lists it, nil if none does. The inventory is
// asked about a host outside of it only where that may matter.
func (o *ShowOptions) host() (h hosts.Host, lent hosts.Credential, from *hosts.Inventory, err error) {
	h, outside, err := hosts.ParseAdHoc(o.Name)
	if err != nil || outside && hosts.RoleOf(o.As) != hosts.RoleAgent {
		return h, lent, nil, err
	}
	inv, err := o.Inventory()
	switch {
	case outside && err != nil:
		return h, lent, nil, nil
	case err != nil:
		return h, lent, nil, err
	}
	inv = inv.As(o.As)
	if outside {
		return inv.Outside(h), lent, nil, nil
	}
	if h, err = inv.Lookup(o.Name); err == nil {
		lent, _ = inv.Credential(h)
		return h, lent, inv, nil
	}
	if o.Reach.Named != nil && hosts.RoleOf(o.As) != hosts.RoleAgent {
		if ssh, ok, serr := o.Reach.Named(o.Name); ok || serr != nil {
			return ssh, lent, nil, serr
		}
	}
	if errors.Is(err, hosts.ErrNotFound) && strings.ContainsAny(o.Name, "@*?[]{},|&!~=^ ") {
		err = fmt.Errorf("%w; hosts show takes one name, and fairlead hosts list takes a selector", err)
	}
	return h, lent, nil, err
}
