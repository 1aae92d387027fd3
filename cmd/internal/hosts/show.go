package hosts

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// ShowOptions is everything that "hosts show" needs.
type ShowOptions struct {
	IO        *iostreams.IOStreams
	Inventory func() (*hosts.Inventory, error)

	JSON bool

	Name string
}

// NewCmdShow builds the command. runF replaces the real work in tests of flags.
func NewCmdShow(f *cmdutil.Factory, runF func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{IO: f.IO, Inventory: f.Inventory}
	if runF == nil {
		runF = showRun
	}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what is known about a host, and from where",
		Long: `Show every value that will be used for a host, and where it comes from: the inventory, OpenSSH's client configuration,
or a default. NAME is a host of the inventory, or user@host for one outside of it. Nothing is connected.`,
		Example: `  fairlead hosts show web01
  fairlead hosts show deploy@10.0.0.5:2222
  fairlead hosts show web01 --json | jq '.effective[] | select(.field == "user")'`,
		Args: cmdutil.Args(1, 1, "the NAME of one host"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Hosts(f),
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	return cmd
}

// showJSON is a stable format: the host as the inventory has it, and what that comes to.
type showJSON struct {
	hostJSON
	Effective []value `json:"effective"`
}

func showRun(_ context.Context, o *ShowOptions) error {
	h, ok, err := hosts.ParseAdHoc(o.Name)
	if err == nil && !ok {
		var inv *hosts.Inventory
		if inv, err = o.Inventory(); err == nil {
			h, err = inv.Lookup(o.Name)
		}
	}
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	values, err := effective(h)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(showJSON{toJSON(h), values})
	}
	t := table.New("FIELD", "VALUE", "FROM")
	for _, v := range values {
		t.Add(v.Field, dash(v.Value), v.From)
	}
	return t.Print(o.IO)
}
