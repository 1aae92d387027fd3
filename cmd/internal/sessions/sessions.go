// Package sessions implements "fairlead sessions": the sessions that the keeper holds.
package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/framing"
)

// Options is everything the commands need: dependencies, then flags, then arguments.
type Options struct {
	IO         *iostreams.IOStreams
	KeeperMode func() (config.KeeperMode, error)
	Keepers    cmdutil.Keepers

	JSON bool

	Names []string // or ids
}

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &Options{IO: f.IO, KeeperMode: f.KeeperMode, Keepers: f.Keepers}
	cmd := &cobra.Command{
		Use: "sessions", Short: "List, reset and close the sessions that the keeper holds",
		Long: `List the sessions that the keeper holds: those that "fairlead exec -s" opened, and those that programs opened for you over
the API. The command does not start a keeper.

A pipe gets one tab-separated line per session, without a header: name, id, host, directory, time of opening, and the
running command. Empty fields are "-".`,
		Example: `  fairlead sessions
  fairlead sessions --json | jq -r .host
  fairlead sessions reset build
  fairlead sessions close build`,
		Args: cmdutil.Group,
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o) },
	}
	all := &cobra.Command{
		Use: "list", Short: "List sessions, as fairlead sessions does",
		Args: cmdutil.Args(0, 0, "no arguments"), RunE: cmd.RunE,
	}
	for _, c := range []*cobra.Command{cmd, all} {
		c.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	}
	cmd.AddCommand(
		all,
		each(o, &cobra.Command{
			Use: "close NAME|ID…", Short: "Close sessions, and stop their commands",
			Args: cmdutil.Args(1, maxNames, "the names or ids of sessions"), ValidArgsFunction: completion.Sessions(f, maxNames),
			Long: `Close sessions, and stop their commands. What they have left running on the host with nohup or setsid is reported.`,
		}, o.close),
		each(o, &cobra.Command{
			Use: "reset NAME|ID", Short: "Stop a session's command, and give it a new shell in the same directory",
			Args: cmdutil.Args(1, 1, "the name or id of one session"), ValidArgsFunction: completion.Sessions(f, 1),
		}, func(c *client.Client, ctx context.Context, id string) error {
			_, err := c.Reset(ctx, id)
			return err
		}),
	)
	return cmd
}

// close ends a session, and says what it leaves.
func (o *Options) close(c *client.Client, ctx context.Context, id string) error {
	left, err := c.CloseAndTell(ctx, id)
	if len(left) > 0 {
		var names []string
		for _, p := range left {
			names = append(names, framing.Process(p).Text())
		}
		fmt.Fprintf(o.IO.Err, "fairlead: %s: still running on the host, started with nohup or setsid: %s\n", id, strings.Join(names, ", "))
	}
	return err
}

// maxNames bounds what one call closes.
const maxNames = 1000

// each makes cmd do something to every session that its arguments name.
func each(o *Options, cmd *cobra.Command, do func(c *client.Client, ctx context.Context, id string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Names = args; slices.Contains(args, "") {
			return cmdutil.Usagef("the name of a session is empty; fairlead sessions lists them")
		}
		return apply(cmd.Context(), o, do)
	}
	return cmd
}

// find returns the keeper that runs; nil where none does.
func find(ctx context.Context, o *Options) (*client.Client, error) {
	mode, err := o.KeeperMode()
	if err != nil || mode == config.Off {
		return nil, err
	}
	c, err := o.Keepers.Find(ctx)
	if errors.Is(err, cmdutil.ErrNoKeeper) {
		return nil, nil
	}
	return c, err
}

func list(ctx context.Context, o *Options) error {
	c, err := find(ctx, o)
	if err != nil || c == nil {
		return err
	}
	defer c.Close()
	all, err := c.Sessions(ctx)
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
	t := table.New("NAME", "ID", "HOST", "DIRECTORY", "OPENED", "RUNNING")
	t.Fit, t.Whole, t.Drop = true, []string{"ID", "OPENED"}, []string{"OPENED"}
	for _, s := range all {
		t.Add(cmp.Or(s.Name, "-"), s.ID, s.Host, cmp.Or(s.CWD, "-"), s.Opened.Local().Format(time.DateTime), cmp.Or(s.Exec, "-"))
	}
	return t.Print(o.IO)
}

// apply does it to all, and tells at the end what could not be done. A session that is not there is a mistake of the
// caller's.
func apply(ctx context.Context, o *Options, do func(c *client.Client, ctx context.Context, id string) error) error {
	c, err := find(ctx, o)
	if err != nil {
		return err
	}
	if c == nil {
		return cmdutil.Usagef("there is no session %s: no keeper runs", o.Names[0])
	}
	defer c.Close()
	refused, err := client.Each(o.Names, func(name string) error { return do(c, ctx, name) })
	if err != nil || refused == nil {
		return err
	}
	return &cmdutil.UsageError{Err: refused}
}
