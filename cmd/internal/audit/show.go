package audit

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// ShowOptions is everything that "audit show" needs.
type ShowOptions struct {
	IO     *iostreams.IOStreams
	Dir    func() (string, error)
	JSON   bool
	Output bool
	ID     string
}

// NewCmdShow builds the command. runF replaces the real work in tests of flags.
func NewCmdShow(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{IO: f.IO, Dir: dir}
	if runF == nil {
		runF = showRun
	}
	cmd := &cobra.Command{
		Use:   "show EXEC",
		Short: "Print every entry about one command",
		Long: `Print every entry about one run of a command. EXEC is its id, e_…, as results, "audit tail" and "audit verify" print
it; a unique beginning of it is enough.

If outputs are kept, it says whether this one is still there or was purged; --output prints it instead.`,
		Example: `  fairlead audit show e_3kq7
  fairlead audit show e_3kq7 --output`,
		Args: cmdutil.Args(1, 1, "the id of one EXEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.ID = args[0]; o.JSON && o.Output {
				return cmdutil.Usagef("audit show takes one of --json and --output")
			}
			return runF(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVar(&o.Output, "output", false, "print the kept output: stdout to stdout, stderr to stderr")
	return cmd
}

func showRun(ctx context.Context, o *ShowOptions) error {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	events, err := audit.Show(dir, o.ID)
	if errors.Is(err, audit.ErrNotFound) || errors.Is(err, audit.ErrAmbiguous) {
		return &cmdutil.UsageError{Err: err}
	} else if err != nil && !isDamage(err) {
		return err
	}
	reportDamage(o.IO, err)
	kept := &keptOutputs{dir: dir, store: audit.NewOutputDir(cmdutil.OutputsOf(dir), nil)}
	if o.Output {
		return kept.print(ctx, o.IO, events)
	}
	for i, e := range events {
		if o.JSON {
			if err := printEvent(o.IO, e, true); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			if _, err := o.IO.Out.Write([]byte("\n")); err != nil {
				return err
			}
		}
		t := table.New("FIELD", "VALUE")
		for _, f := range fields(e) {
			t.Add(f[0], f[1])
		}
		for _, s := range streamsOf(e) {
			t.Add(s.name, kept.state(ctx, s.sum, e.Seq))
		}
		if err := t.Print(o.IO); err != nil {
			return err
		}
	}
	return nil
}
