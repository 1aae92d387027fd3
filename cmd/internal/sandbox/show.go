package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// ShowOptions is everything that "sandbox show" and "sandbox check" need.
type ShowOptions struct {
	Base
	JSON bool
	Name string // or id
}

// NewCmdShow builds the command. runF replaces the real work in tests of flags.
func NewCmdShow(b Base, runF func(context.Context, *ShowOptions) error) *cobra.Command {
	if runF == nil {
		runF = showRun
	}
	return about(b, runF, &cobra.Command{
		Use: "show ID|LABEL", Short: "Show a sandbox, without connecting",
	})
}

// NewCmdCheck builds the command. runF replaces the real work in tests of flags.
func NewCmdCheck(b Base, runF func(context.Context, *ShowOptions) error) *cobra.Command {
	if runF == nil {
		runF = checkRun
	}
	return about(b, runF, &cobra.Command{
		Use: "check ID|LABEL", Short: "Connect, and report how a sandbox is enforced",
		Long: `Connect to the sandbox's host as its owner would, check the directory and what the kernel can do, and report how a session
in it is enforced: kernel, account or checked, and why not better. For kernel it lists what stays open, such as the network
and abstract unix sockets.

It changes nothing on the host. The audit log records the check and who made it. Your SSH agent is not used for an agent's
sandbox, so a key that only your SSH agent holds is not tried.

The exit code is 1 if the directory is missing or its owner may not enter it.`,
		Example: `  fairlead sandbox check app
  fairlead sandbox check app --json | jq -r .level`,
	})
}

func about(b Base, runF func(context.Context, *ShowOptions) error, cmd *cobra.Command) *cobra.Command {
	o := &ShowOptions{Base: b}
	cmd.Args = one
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Name = args[0]
		return runF(cmd.Context(), o)
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	return cmd
}

func showRun(ctx context.Context, o *ShowOptions) error {
	return o.with(ctx, func(c *client.Client) error {
		s, err := find(ctx, c, o.Name)
		if err != nil {
			return err
		}
		if o.JSON {
			return json.NewEncoder(o.IO.Out).Encode(s)
		}
		t := table.New("FIELD", "VALUE")
		rows(t, s)
		t.Add("enforcement", "reported when a session opens in it, and by fairlead sandbox check "+s.ID)
		return t.Print(o.IO)
	})
}

func rows(t *table.Table, s wire.Sandbox) {
	t.Add("id", s.ID)
	t.Add("owner", word(s.Owner))
	t.Add("host", word(s.Host))
	t.Add("path", word(s.Path))
	t.Add("label", dash(s.Label))
	t.Add("state", state(s.Active))
	t.Add("network", cmp.Or(s.Network, "account"))
	t.Add("created", s.Created.Local().Format(time.DateTime))
	t.Add("updated", s.Updated.Local().Format(time.DateTime))
}

// checkJSON is a stable format.
type checkJSON struct {
	wire.Sandbox
	wire.Enforcement
}

func checkRun(ctx context.Context, o *ShowOptions) error {
	return o.with(ctx, func(c *client.Client) error {
		s, err := find(ctx, c, o.Name)
		if err != nil {
			return err
		}
		e, err := c.CheckSandbox(ctx, s.ID)
		if p := (*wire.Problem)(nil); errors.As(err, &p) && p.Code == "auth" {
			said := *p
			said.Detail += " (keys of your SSH agent were not tried for " + word(s.Owner) + ")"
			return &said
		}
		if err != nil {
			return err
		}
		if o.JSON {
			err = json.NewEncoder(o.IO.Out).Encode(checkJSON{s, e})
		} else {
			t := table.New("FIELD", "VALUE")
			rows(t, s)
			t.Add("directory", e.Directory)
			if e.LeadsTo != s.Path {
				t.Add("leads to", word(e.LeadsTo))
			}
			level := e.Level
			if e.How != "" {
				level += " (" + e.How + ")"
			}
			t.Add("enforcement", level)
			t.Add("why", e.Why)
			for _, left := range e.Open {
				t.Add("left open", left)
			}
			err = t.Print(o.IO)
		}
		if err == nil && e.Directory != "there" {
			err = cmdutil.Exit(exitcode.Failed)
		}
		return err
	})
}
