// Package history implements "fairlead history": the commands that the caller ran, from the audit log, and running one again.
package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// options is everything that the commands need.
type options struct {
	io        *iostreams.IOStreams
	dir       func() (string, error)
	caller    func() cmdutil.Caller
	inventory func() (*hosts.Inventory, error)
	runs      func() (runstore.Store, error)
	resolve   func(hosts.Host) (endpoint, error) // as whom and where a host is reached now

	lines int
	text  string
	json  bool
}

const long = `List the commands that you ran, the newest last, and run one again.

The list is from the audit log of this machine: commands of run and exec, with their secrets redacted. Each has a number, which
"again" takes. A command that had a session, standard input or a secret is not run again; one that was held is held again.
A command runs again only where it ran before, as the same account.

In a pipe it is one line per command, separated by tabs: number, time, status, hosts, command.`

const example = `  fairlead history
  fairlead history --text systemctl
  fairlead history again 1234`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &options{io: f.IO, dir: f.AuditDir, caller: f.Caller, inventory: f.Inventory, runs: f.Runs,
		resolve: func(h hosts.Host) (endpoint, error) { return resolve(h, f.NoPrograms()) }}
	cmd := &cobra.Command{
		Use: "history", Short: "List the commands that you ran, and run one again", Long: long, Example: example,
		Args: cmdutil.Args(0, 0, "no arguments; fairlead history again NUMBER runs a command again"),
		RunE: func(*cobra.Command, []string) error { return o.list() },
	}
	fl := cmd.Flags()
	fl.IntVarP(&o.lines, "lines", "n", 20, "list at most `n` commands; 0 lists all")
	fl.StringVar(&o.text, "text", "", "only commands with this `text`")
	fl.BoolVar(&o.json, "json", false, "print one JSON object per line")
	cmd.AddCommand(o.againCmd(f))
	return cmd
}

func (o *options) againCmd(f *cmdutil.Factory) *cobra.Command {
	var yes bool
	var reason string
	cmd := &cobra.Command{
		Use: "again NUMBER", Short: "Run a command again, on the same hosts",
		Long: `Run a command again, as fairlead run does: in a new shell on the same hosts. The policy judges it anew.`,
		Args: cmdutil.Args(1, 1, "the number of one command"), ValidArgsFunction: completion.Words(1, o.numbers),
		RunE: func(cmd *cobra.Command, args []string) error {
			words, err := o.again(args[0])
			if err != nil {
				return err
			}
			if yes {
				words = append([]string{"--yes"}, words...)
			}
			if reason != "" {
				words = append([]string{"--reason", reason}, words...)
			}
			return f.RunInner(cmd.Context(), run.NewCmd(f, nil), words)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "confirm what the policy asks to confirm")
	cmd.Flags().StringVar(&reason, "reason", "", "`reason` to record in the audit log")
	return cmd
}

// numbers are those of the last commands, the newest first, each with its text.
func (o *options) numbers(context.Context) (all []string) {
	known, err := o.commands()
	if err != nil {
		return nil
	}
	for _, c := range slices.Backward(known) {
		if all = append(all, fmt.Sprintf("%d\t%s", c.Number, printable.Cell(c.Command))); len(all) == 50 {
			break
		}
	}
	return all
}

func (o *options) list() error {
	if o.lines < 0 {
		return cmdutil.Usagef("-n must not be negative")
	}
	all, err := o.commands()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c *command) bool { return !strings.Contains(c.Command, o.text) })
	if o.lines > 0 {
		all = all[max(0, len(all)-o.lines):]
	}
	t := table.New("NUMBER", "TIME", "STATUS", "HOSTS", "COMMAND")
	t.Fit, t.Keep, t.Whole, t.Drop = true, []string{"COMMAND"}, []string{"TIME"}, []string{"TIME"}
	for _, c := range all {
		if o.json {
			if err := json.NewEncoder(o.io.Out).Encode(c); err != nil {
				return err
			}
			continue
		}
		t.Add(strconv.FormatUint(c.Number, 10), c.Time.Local().Format(time.DateTime), cmp.Or(c.Status, "-"), hosts.Fold(slices.Clone(c.Hosts)), c.Command)
	}
	if o.json {
		return nil
	}
	return t.Print(o.io)
}
