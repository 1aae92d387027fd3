// Package history implements "fairlead history": the commands that the caller ran, from the audit log, and running one again.
package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/run"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// options is everything that the commands need.
type options struct {
	io        *iostreams.IOStreams
	dir       func() (string, error)
	caller    func() cmdutil.Caller
	inventory func() (*hosts.Inventory, error)

	lines int
	text  string
	json  bool
}

const long = `List the commands that you ran, the newest last, and run one again.

The list is from the audit log of this machine: commands of run and exec, with their secrets redacted. Each has a number, which
"again" takes. A command that had a session, standard input or a secret is not run again; one that was held is held again.

In a pipe it is one line per command, separated by tabs: number, time, status, hosts, command.`

const example = `  fairlead history
  fairlead history --text systemctl
  fairlead history again 1234`

// NewCmd builds the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	o := &options{io: f.IO, dir: f.AuditDir, caller: f.Caller, inventory: f.Inventory}
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

// command is one that was run, on one host or more.
type command struct {
	Number  uint64    `json:"number"` // of its first entry
	Time    time.Time `json:"time"`
	Status  string    `json:"status,omitempty"` // how it ended, where that is the same on all hosts; else "mixed"
	Hosts   []string  `json:"hosts"`
	Command string    `json:"command"` // redacted; of the first host
	Run     string    `json:"run,omitempty"`

	differs bool // hosts got commands of their own
	user    []string
	become  string
	held    bool   // the kernel held it to reading, so it may have changed nothing
	unkept  string // what it had besides its text, and again would not have; "" is nothing
}

// opens is the command that opens a session, which nobody typed.
const opens = ":"

// commands are those of the caller, the oldest first.
func (o *options) commands() (all []*command, err error) {
	dir, err := o.dir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	who := o.caller().Principal
	by := map[string]*command{}
	// All is read: a run on many hosts of which only some were seen would run again on those.
	for event, err := range audit.All(dir) {
		if errors.Is(err, audit.ErrUnavailable) {
			return nil, err
		}
		e := &event
		if err != nil || e.Principal != who || e.Kind == audit.CommandRequest && (e.Command == "" || e.Command == opens) || strings.HasPrefix(e.Rule, "keeper/own") {
			continue
		}
		switch e.Kind {
		case audit.CommandRequest:
			c := by[cmp.Or(e.Group, e.ID)]
			if c == nil {
				c = &command{Number: e.Seq, Time: e.Time, Command: e.Command, Run: e.Group}
				c.become, _, _ = strings.Cut(e.Become, " ")
				by[cmp.Or(e.Group, e.ID)], all = c, append(all, c)
			}
			c.differs = c.differs || c.Command != e.Command
			c.Hosts, c.user = append(c.Hosts, e.Host), append(c.user, e.SSHUser)
			if e.CWD != "" {
				c.unkept = "the directory and the variables of its session"
			}
		case audit.CommandInput:
			if c := by[e.ID]; c != nil {
				c.unkept = "what was typed at it"
			}
		case audit.CommandResult:
			c := by[cmp.Or(e.Group, e.ID)]
			if c == nil {
				continue
			}
			if e.StdinBytes > 0 {
				c.unkept = "standard input"
			}
			c.held = c.held || strings.HasPrefix(e.Held, "kernel")
			if c.Status != e.Status {
				if c.Status != "" {
					e.Status = "mixed"
				}
				c.Status = e.Status
			}
		}
	}
	return all, nil
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

// again is what "run" takes to run a command again.
func (o *options) again(number string) ([]string, error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, cmdutil.Usagef("%q is not the number of a command: see fairlead history", number)
	}
	all, err := o.commands()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c *command) bool { return c.Number == n })
	if i < 0 {
		return nil, cmdutil.Usagef("no command of yours has the number %d: see fairlead history -n 0", n)
	}
	c := all[i]
	switch {
	case redact.ContainsMark([]byte(c.Command)):
		return nil, cmdutil.Usagef("%d cannot be run again: its command held a secret, which the audit log does not keep", n)
	case c.Status == "":
		return nil, cmdutil.Usagef("%d cannot be run again: its end is not in the audit log, so it may still run", n)
	case c.unkept != "":
		return nil, cmdutil.Usagef("%d cannot be run again: it had %s, which the audit log does not keep. Type it anew", n, c.unkept)
	case c.differs:
		return nil, cmdutil.Usagef("%d had a command of its own on each host: fairlead runs rerun --on all %s runs it again", n, c.Run)
	}
	inv, err := o.inventory()
	var targets []string
	for i, name := range c.Hosts {
		if err == nil {
			if _, lerr := inv.Lookup(name); lerr == nil {
				targets = append(targets, name)
				continue
			}
		}
		if c.user[i] != "" {
			name = c.user[i] + "@" + name
		}
		targets = append(targets, name)
	}
	fmt.Fprintf(o.io.Err, "fairlead: on %s: %s\n", hosts.Fold(slices.Clone(c.Hosts)), cmdutil.OneLine(c.Command))
	words := []string{"--no-template", "--become=" + cmp.Or(c.become, hosts.NoBecome), strings.Join(targets, ",")}
	if c.held { // a dry run stays one
		words = append(words, "--held")
	}
	return append(words, "--", c.Command), nil
}
