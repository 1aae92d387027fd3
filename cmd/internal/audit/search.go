package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// SearchOptions is everything that "audit search" needs.
type SearchOptions struct {
	IO    *iostreams.IOStreams
	Dir   func() (string, error)
	JSON  bool
	Query audit.Query
}

// statuses are those of session.Status.
var statuses = []string{"ok", "exit", "signal", "timeout", "canceled", "denied", "expired", "unreachable", "auth", "hostkey", "lost", "error"}

// queryFlags are the flags that say which records are meant.
type queryFlags struct {
	since, until, exit string
	q                  audit.Query
}

func (f *queryFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.q.Host, "host", "", "hosts with this `name`; * and ? are wildcards")
	fl.StringVar(&f.q.Principal, "principal", "", "requests of this `principal`; * and ? are wildcards")
	fl.StringVar(&f.since, "since", "", "requested at this `time` or later: "+whenHelp)
	fl.StringVar(&f.until, "until", "", "requested before this `time`")
	fl.StringVar(&f.q.Verdict, "verdict", "", "only this `verdict`: allow, ask or deny")
	fl.StringVar(&f.q.Status, "status", "", "with this `status`: ok, exit, timeout, lost, …")
	fl.StringVar(&f.exit, "exit", "", "with this exit `code`")
	fl.StringVar(&f.q.Text, "text", "", "with this `text` in the redacted command")
}

func (f *queryFlags) query(now time.Time) (q audit.Query, err error) {
	q = f.q
	if q.Since, q.Until, err = parsePeriod(f.since, f.until, now); err != nil {
		return q, err
	}
	switch q.Verdict {
	case "", "allow", "ask", "deny":
	default:
		return q, cmdutil.Usagef("--verdict %q: use allow, ask or deny", q.Verdict)
	}
	if q.Status != "" && !slices.Contains(statuses, q.Status) {
		return q, cmdutil.Usagef("--status %q: use %s", q.Status, strings.Join(statuses, ", "))
	}
	if f.exit != "" {
		code, err := strconv.Atoi(f.exit)
		if err != nil || code < 0 || code > 255 {
			return q, cmdutil.Usagef("--exit %q: it takes an exit code, from 0 to 255", f.exit)
		}
		q.ExitCode = &code
	}
	return q, nil
}

// NewCmdSearch builds the command. runF replaces the real work in tests of flags.
func NewCmdSearch(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *SearchOptions) error) *cobra.Command {
	o := &SearchOptions{IO: f.IO, Dir: dir}
	if runF == nil {
		runF = searchRun
	}
	var flags queryFlags
	cmd := &cobra.Command{
		Use:   "search",
		Short: "Find commands in the audit log",
		Long: `Find commands in the audit log, oldest first. All given flags must match; without flags, every command is printed.

Each command is one line: time of the request, id, principal, host, verdict, result, and the redacted command. Commands
without a result come last.`,
		Example: `  fairlead audit search --principal 'agent/*' --since 24h
  fairlead audit search --host 'db*' --text 'drop table' --json`,
		Args: cmdutil.Args(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.Query, err = flags.query(time.Now()); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
	}
	flags.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("verdict", cobra.FixedCompletions([]string{"allow", "ask", "deny"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(statuses, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line: all entries of each command")
	return cmd
}

func searchRun(ctx context.Context, o *SearchOptions) error {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	for events, err := range audit.Search(dir, o.Query) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case errors.Is(err, audit.ErrUnavailable): // not a line that is no entry
			return err
		case err != nil:
			fmt.Fprintf(o.IO.Err, "fairlead: %s\n", cmdutil.Text(err))
			continue
		}
		if o.JSON {
			for _, e := range events {
				if err := printEvent(o.IO, e, true); err != nil {
					return err
				}
			}
			continue
		}
		if _, err := fmt.Fprintln(o.IO.Out, commandLine(events)); err != nil {
			return err
		}
	}
	return nil
}

// commandLine is what is on record about one command, in one line.
func commandLine(events []audit.Event) string {
	first := events[0]
	var all audit.Event // what any of them says
	for _, e := range events {
		set := func(to *string, from string) {
			if from != "" {
				*to = from
			}
		}
		set(&all.Principal, e.Principal)
		set(&all.Host, e.Host)
		set(&all.Verdict, e.Verdict)
		set(&all.Status, e.Status)
		set(&all.Signal, e.Signal)
		if e.ExitCode != nil {
			all.ExitCode = e.ExitCode
		}
		if all.Command == "" {
			all.Command = e.Command
		}
	}
	what := all.Status
	_, request := strings.CutSuffix(string(events[len(events)-1].Kind), ".request")
	if what == "" && request {
		what = "no result"
	}
	parts := []string{stamp(first.Time)}
	if first.ID == "" {
		parts = append(parts, string(first.Kind))
	}
	for _, p := range []string{first.ID, all.Principal, all.Host, all.Verdict, what} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if all.ExitCode != nil {
		parts = append(parts, fmt.Sprintf("exit=%d", *all.ExitCode))
	}
	if all.Signal != "" {
		parts = append(parts, "SIG"+all.Signal)
	}
	if all.Command != "" {
		parts = append(parts, quoted(all.Command))
	}
	return table.Clean(strings.Join(parts, "  "))
}
