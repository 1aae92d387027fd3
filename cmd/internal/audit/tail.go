package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// DefaultTail is how many records "audit tail" prints.
const DefaultTail = 10

// TailOptions is everything that "audit tail" needs.
type TailOptions struct {
	IO     *iostreams.IOStreams
	Dir    func() (string, error)
	Lines  int
	Follow bool
	JSON   bool
}

// NewCmdTail builds the command. runF replaces the real work in tests of flags.
func NewCmdTail(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *TailOptions) error) *cobra.Command {
	o := &TailOptions{IO: f.IO, Dir: dir}
	if runF == nil {
		runF = tailRun
	}
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last entries of the audit log",
		Example: `  fairlead audit tail -n 50
  fairlead audit tail -f --json | jq 'select(.status == "exit")'`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Lines < 0 {
				return cmdutil.Usagef("-n must not be negative")
			}
			return runF(cmd.Context(), o)
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&o.Lines, "lines", "n", DefaultTail, "number of entries")
	fl.BoolVarP(&o.Follow, "follow", "f", false, "continue with new entries as they are written, until ^C")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	return cmd
}

// isDamage reports whether err is about lines that cannot be trusted in a log that can be read.
func isDamage(err error) bool {
	return errors.Is(err, audit.ErrDamaged) && !errors.Is(err, audit.ErrUnavailable)
}

// reportDamage prints what is wrong with the log, if anything is. The entries that are whole are printed all the same.
func reportDamage(ios *iostreams.IOStreams, err error) {
	if err != nil {
		fmt.Fprintf(ios.Err, "fairlead: %s\n", cmdutil.Text(err))
	}
}

func tailRun(ctx context.Context, o *TailOptions) error {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	if !o.Follow {
		events, err := audit.Tail(dir, o.Lines)
		if err != nil && !isDamage(err) {
			return err
		}
		for _, e := range events {
			if err := printEvent(o.IO, e, o.JSON); err != nil {
				return err
			}
		}
		reportDamage(o.IO, err)
		return nil
	}
	for e, err := range audit.Follow(ctx, dir, o.Lines) {
		if err != nil {
			reportDamage(o.IO, err)
			continue
		}
		if err := printEvent(o.IO, e, o.JSON); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
