// Package sandbox implements "fairlead sandbox": the directories in which agents may work, as the keeper knows them.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Base is what every one of the commands needs.
type Base struct {
	IO         *iostreams.IOStreams
	KeeperMode func() (config.KeeperMode, error)
	Keepers    cmdutil.Keepers
}

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	b := Base{IO: f.IO, KeeperMode: f.KeeperMode, Keepers: f.Keepers}
	cmd := &cobra.Command{
		Use: "sandbox COMMAND", Aliases: []string{"sandboxes"}, Short: "Manage the directories that agents work in",
		Long: `Manage the directories that agents work in.

A sandbox is a directory on one host of the inventory, for one agent. A session that names it starts there and stays there.
Every session, and "sandbox check", reports how that is enforced:

  kernel   by the host's kernel: only the sandbox can be written, and the account's keys are hidden (bubblewrap, or
           Landlock on the keeper's own machine)
  account  by the account: the inventory says that the agent's login can do no more (sandboxed: true under credentials)
  checked  not enforced: Fairlead only judges the paths that commands name

With --network none, programs in a sandbox have no network. Only the kernel can enforce that, so other hosts refuse it.

On the keeper's own machine a sandbox cannot contain Fairlead's own files.

The keeper stores sandboxes, for hosts of the inventory that it was started with. Agents see their own, and cannot make or
change any.`,
		Example: `  fairlead sandbox create web01 /srv/app --for agent/claude --label app
  fairlead sandbox check app
  fairlead sandbox list --owner agent/claude
  fairlead sandbox edit app --active=false
  fairlead sandbox delete app`,
		Args: cmdutil.Group,
		RunE: cmdutil.Help,
	}
	cmd.AddCommand(NewCmdList(b, nil), NewCmdShow(b, nil), NewCmdCheck(b, nil),
		f.ForPeople(NewCmdCreate(f, b, nil), "create sandboxes"), f.ForPeople(NewCmdEdit(b, nil), "change sandboxes"),
		f.ForPeople(NewCmdDelete(b, nil), "delete sandboxes"))
	return cmd
}

// with calls do with the keeper, which is started where none runs: sandboxes are there without one, and nobody else may
// look into its store. What the keeper answers that is no success becomes what ends the program.
func (b *Base) with(ctx context.Context, do func(c *client.Client) error) error {
	mode, err := b.KeeperMode()
	switch {
	case err != nil:
		return err
	case mode == config.Off:
		return cmdutil.Usagef("sandboxes are the keeper's, and the keeper is off: leave --keeper off out, or say --keeper auto where %s or config.yaml switches it off", cmdutil.KeeperVariable)
	}
	c, err := b.Keepers.Start(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return cmdutil.Wrap("sandboxes need the keeper", err)
	}
	defer c.Close()
	return b.told(do(c))
}

// told turns a problem that the keeper tells into what ends the program.
func (b *Base) told(err error) error {
	var p *wire.Problem
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case "forbidden", "denied":
		return b.end(err, exitcode.Denied)
	case "unreachable", "auth", "hostkey":
		return b.end(err, exitcode.Unreachable)
	case "timeout", "lost":
		return b.end(err, exitcode.Unknown)
	case "not_found", "invalid", "inventory":
		return &cmdutil.UsageError{Err: err}
	}
	return err
}

func (b *Base) end(err error, code int) error {
	fmt.Fprintf(b.IO.Err, "fairlead: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
	return cmdutil.Exit(code)
}

// find returns the sandbox of an id, or else of a label that no other one has.
func find(ctx context.Context, c *client.Client, name string) (wire.Sandbox, error) {
	s, err := c.Sandbox(ctx, name)
	var p *wire.Problem
	if !errors.As(err, &p) || p.Code != "not_found" {
		return s, err
	}
	all, lerr := c.Sandboxes(ctx, "", "")
	if lerr != nil {
		return s, lerr
	}
	var ids []string
	for _, other := range all {
		if other.Label == name {
			s, ids = other, append(ids, other.ID)
		}
	}
	switch len(ids) {
	case 0:
		return s, cmdutil.Usagef("there is no sandbox %s; list them with: fairlead sandbox list", word(name))
	case 1:
		return s, nil
	}
	return s, cmdutil.Usagef("%d sandboxes have the label %s: say which one is meant: %s", len(ids), word(name), strings.Join(ids, ", "))
}

// word makes any text fit for one cell of a line: what holds anything that cannot be seen is quoted as in Go.
func word(text string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, hidden) || strings.ContainsAny(text, `\"`) || strings.TrimSpace(text) != text {
		return strconv.Quote(text)
	}
	return text
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return word(text)
}

func state(active bool) string {
	if active {
		return "active"
	}
	return "off"
}

// principal looks at a flag that names one.
func principal(flag, name string) error {
	if err := hosts.CheckPrincipal(name); err != nil || !strings.Contains(name, "/") {
		return cmdutil.Usagef("%s takes a principal such as agent/claude, not %q", flag, name)
	}
	return nil
}

// network checks a flag that names one.
func network(name string) error {
	if name != "account" && name != "none" {
		return cmdutil.Usagef("--network takes account or none, not %q", name)
	}
	return nil
}

// one is the Args of a command about one sandbox.
var one = cmdutil.Args(1, 1, "the ID or the label of one sandbox")
