package sandbox

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// CreateOptions is everything that "sandbox create" needs.
type CreateOptions struct {
	Base
	JSON bool
	New  wire.NewSandbox
}

// NewCmdCreate builds the command. runF replaces the real work in tests of flags.
func NewCmdCreate(f *cmdutil.Factory, b Base, runF func(context.Context, *CreateOptions) error) *cobra.Command {
	o := &CreateOptions{Base: b}
	if runF == nil {
		runF = createRun
	}
	cmd := &cobra.Command{
		Use: "create HOST PATH", Aliases: []string{"add"}, Short: "Let an agent work in a directory",
		Long: `Let an agent work in a directory: PATH, which is absolute, on HOST of the inventory. It prints the sandbox's id.

It does not make the directory, and connects to no host: "sandbox check" says whether the directory exists and how the
sandbox is enforced. An agent may have several sandboxes on one host.`,
		Example: `  fairlead sandbox create web01 /srv/app --for agent/claude --label app
  fairlead sandbox create web01 /srv/build --for agent/claude --network none`,
		Args: cmdutil.Args(2, 2, "a HOST and the absolute PATH of a directory there"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.New.Host, o.New.Path = args[0], args[1]
			if cmd.Flags().Changed("for") {
				if err := principal("--for", o.New.Owner); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("network") {
				if err := network(o.New.Network); err != nil {
					return err
				}
			}
			return runF(cmd.Context(), o)
		},
		ValidArgsFunction: completion.Hosts(f),
	}
	fl := cmd.Flags()
	fl.StringVar(&o.New.Owner, "for", "", "whose it is: a `principal` such as agent/claude (default you)")
	fl.StringVar(&o.New.Label, "label", "", "a `name` for people, which sessions may use too")
	fl.StringVar(&o.New.Network, "network", "", "the network that programs have: `account|none` (default account)")
	fl.BoolVar(&o.JSON, "json", false, "print the sandbox as a JSON object")
	return cmd
}

func createRun(ctx context.Context, o *CreateOptions) error {
	return o.with(ctx, func(c *client.Client) error {
		s, err := c.NewSandbox(ctx, o.New)
		switch {
		case err != nil:
			return err
		case o.JSON:
			return json.NewEncoder(o.IO.Out).Encode(s)
		}
		fmt.Fprintf(o.IO.Err, "fairlead: %s may work in %s on %s; fairlead sandbox check %s says what holds it there\n", word(s.Owner), word(s.Path), word(s.Host), s.ID)
		_, err = fmt.Fprintln(o.IO.Out, s.ID)
		return err
	})
}

// EditOptions is everything that "sandbox edit" needs.
type EditOptions struct {
	Base
	JSON   bool
	Change wire.SandboxChange
	Name   string // or id
}

// NewCmdEdit builds the command. runF replaces the real work in tests of flags.
func NewCmdEdit(b Base, runF func(context.Context, *EditOptions) error) *cobra.Command {
	o := &EditOptions{Base: b}
	if runF == nil {
		runF = editRun
	}
	var label, path, reach string
	var active bool
	cmd := &cobra.Command{
		Use: "edit ID|LABEL", Short: "Change a sandbox, or switch it off",
		Long: `Change a sandbox, or switch it off and on again. Only the given flags change.

Changes apply at once: a session in a sandbox that is off, or that got another directory or network, can do nothing more in
it.`,
		Example: `  fairlead sandbox edit app --active=false
  fairlead sandbox edit b_3kq7x --path /srv/app2 --label app2`,
		Args: one,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			fl := cmd.Flags()
			if fl.Changed("label") {
				o.Change.Label = &label
			}
			if fl.Changed("path") {
				o.Change.Path = &path
			}
			if fl.Changed("active") {
				o.Change.Active = &active
			}
			if fl.Changed("network") {
				if err := network(reach); err != nil {
					return err
				}
				o.Change.Network = &reach
			}
			if o.Change == (wire.SandboxChange{}) {
				return cmdutil.Usagef("sandbox edit needs something to change: --label, --path, --network or --active=false")
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&label, "label", "", "another `name` for people; \"\" removes it")
	fl.StringVar(&path, "path", "", "another directory: an absolute `path`")
	fl.StringVar(&reach, "network", "", "the network that programs have: `account|none`")
	fl.BoolVar(&active, "active", true, "false switches it off, true on")
	fl.BoolVar(&o.JSON, "json", false, "print the sandbox as it is then, as a JSON object")
	return cmd
}

func editRun(ctx context.Context, o *EditOptions) error {
	return o.with(ctx, func(c *client.Client) error {
		s, err := find(ctx, c, o.Name)
		if err != nil {
			return err
		}
		if s, err = c.ChangeSandbox(ctx, s.ID, o.Change); err != nil || !o.JSON {
			return err
		}
		return json.NewEncoder(o.IO.Out).Encode(s)
	})
}

// DeleteOptions is everything that "sandbox delete" needs.
type DeleteOptions struct {
	Base
	Name string // or id
}

// NewCmdDelete builds the command. runF replaces the real work in tests of flags.
func NewCmdDelete(b Base, runF func(context.Context, *DeleteOptions) error) *cobra.Command {
	o := &DeleteOptions{Base: b}
	if runF == nil {
		runF = deleteRun
	}
	return &cobra.Command{
		Use: "delete ID|LABEL", Short: "Delete a sandbox for good",
		Long: `Delete a sandbox for good. The directory on the host stays, and so do the audit entries of what ran in it. Sessions in the
sandbox can do nothing more.`,
		Args: one,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			return runF(cmd.Context(), o)
		},
	}
}

func deleteRun(ctx context.Context, o *DeleteOptions) error {
	return o.with(ctx, func(c *client.Client) error {
		s, err := find(ctx, c, o.Name)
		if err != nil {
			return err
		}
		return c.DeleteSandbox(ctx, s.ID)
	})
}
