package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// ExportOptions is everything that "audit export" needs.
type ExportOptions struct {
	IO           *iostreams.IOStreams
	Dir          func() (string, error)
	HTML         bool
	Out          string // a file; "" is standard output
	Since, Until time.Time
	Now          func() time.Time
}

// NewCmdExport builds the command. runF replaces the real work in tests of flags.
func NewCmdExport(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *ExportOptions) error) *cobra.Command {
	o := &ExportOptions{IO: f.IO, Dir: dir, Now: time.Now}
	if runF == nil {
		runF = exportRun
	}
	var asJSON bool
	var since, until string
	cmd := &cobra.Command{
		Use:   "export --json|--html [flags]",
		Short: "Export the audit log as JSON or HTML",
		Long: `Export the audit log. --json prints each entry as it is in the log, one per line, so it can still be verified with the
key. --html prints one page that loads and runs nothing.

Fairlead verifies the log first. It exports a damaged log too, says so on the page, and exits with 1.`,
		Example: `  fairlead audit export --html --since 30d -o november.html
  fairlead audit export --json | jq -r .principal | sort | uniq -c`,
		Args: cmdutil.Args(0, 0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if asJSON == o.HTML {
				return cmdutil.Usagef("audit export takes one of --json and --html")
			}
			if o.Since, o.Until, err = parsePeriod(since, until, o.Now()); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&asJSON, "json", false, "one JSON object per line")
	fl.BoolVar(&o.HTML, "html", false, "one page")
	fl.StringVarP(&o.Out, "output", "o", "", "write to this new `file` (0600; - is standard output)")
	fl.StringVar(&since, "since", "", "entries of this `time` or later: "+whenHelp)
	fl.StringVar(&until, "until", "", "entries before this `time`")
	return cmd
}

func exportRun(ctx context.Context, o *ExportOptions) (err error) {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	report, err := audit.Verify(dir)
	if err != nil {
		return err
	}
	var out io.Writer = o.IO.Out
	if o.Out != "" && o.Out != "-" {
		f, err := os.OpenFile(o.Out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return &cmdutil.UsageError{Err: fmt.Errorf("cannot write the export: %w", reason.NewFile(o.Out, err))}
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	write := exportJSON
	if o.HTML {
		write = exportHTML
	}
	if err := write(ctx, out, o, dir, report); err != nil {
		return err
	}
	if report.Problem != nil {
		fmt.Fprintf(o.IO.Err, "fairlead: the audit log is damaged: %s\n", table.Clean(report.Problem.String()))
		return cmdutil.Exit(exitcode.Failed)
	}
	return nil
}

// wanted yields the records that are asked for. What is no record is told.
func (o *ExportOptions) wanted(ctx context.Context, dir string, f func(audit.Record) error) error {
	for r, err := range audit.Records(dir) {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, audit.ErrUnavailable):
			return err
		case err != nil:
			fmt.Fprintf(o.IO.Err, "fairlead: %s\n", cmdutil.Text(err))
			continue
		case r.Event.Time.Before(o.Since) || !o.Until.IsZero() && !r.Event.Time.Before(o.Until):
			continue
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

func exportJSON(ctx context.Context, w io.Writer, o *ExportOptions, dir string, _ audit.Report) error {
	return o.wanted(ctx, dir, func(r audit.Record) error {
		_, err := w.Write(r.Line)
		return err
	})
}
