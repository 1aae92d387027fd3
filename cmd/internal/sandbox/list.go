package sandbox

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// ListOptions is everything that "sandbox list" needs.
type ListOptions struct {
	Base
	Owner, Host string // "" is any
	JSON        bool
}

// NewCmdList builds the command. runF replaces the real work in tests of flags.
func NewCmdList(b Base, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Base: b}
	if runF == nil {
		runF = listRun
	}
	cmd := &cobra.Command{
		Use: "list", Short: "List sandboxes",
		Long: `List sandboxes, the newest first: all of them, or for an agent its own.

On a terminal this is a table. In a pipe it is one line per sandbox, without a header and separated by tabs: id, owner,
host, path, label, and active or off. A label that is not there is "-".`,
		Example: `  fairlead sandbox list
  fairlead sandbox list --owner agent/claude --host web01
  fairlead sandbox list --json | jq -r .path`,
		Args: cmdutil.Args(0, 0, "no arguments: --host and --owner pick"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("owner") {
				if err := principal("--owner", o.Owner); err != nil {
					return err
				}
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Owner, "owner", "", "only those of this `principal`, such as agent/claude")
	fl.StringVar(&o.Host, "host", "", "only those on this `host`")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	return cmd
}

func listRun(ctx context.Context, o *ListOptions) error {
	return o.with(ctx, func(c *client.Client) error {
		all, err := c.Sandboxes(ctx, o.Owner, o.Host)
		if err != nil {
			return err
		}
		if o.JSON {
			enc := json.NewEncoder(o.IO.Out)
			for _, s := range all {
				if err := enc.Encode(s); err != nil {
					return err
				}
			}
			return nil
		}
		t := table.New("ID", "OWNER", "HOST", "PATH", "LABEL", "STATE")
		t.Fit, t.Keep = true, []string{"PATH"}
		for _, s := range all {
			t.Add(s.ID, word(s.Owner), word(s.Host), word(s.Path), dash(s.Label), state(s.Active))
		}
		return t.Print(o.IO)
	})
}
