package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// VerifyOptions is everything that "audit verify" needs.
type VerifyOptions struct {
	IO   *iostreams.IOStreams
	Dir  func() (string, error)
	JSON bool
}

// NewCmdVerify builds the command. runF replaces the real work in tests of flags.
func NewCmdVerify(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *VerifyOptions) error) *cobra.Command {
	o := &VerifyOptions{IO: f.IO, Dir: dir}
	if runF == nil {
		runF = verifyRun
	}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that nothing on the record was changed",
		Long: `Check the whole record: every line, their order, and that the last one is the last one that was written.

Exits 0 when everything is as it was written, and 1 with the file and line where it is not. Requests without a result are
told, and are no damage: the program was killed, or the command is still running.

The head that is printed proves, together with the number of records and kept on another machine, that nobody replaced
the whole record.`,
		Example: `  fairlead audit verify
  fairlead audit verify --json | jq -r .head`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the report as a JSON object")
	return cmd
}

func verifyRun(_ context.Context, o *VerifyOptions) error {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	r, err := audit.Verify(dir)
	if err != nil {
		return err
	}
	code := exitcode.OK
	if !r.OK() {
		code = exitcode.Failed
	}
	if o.JSON {
		if err := json.NewEncoder(o.IO.Out).Encode(r); err != nil {
			return err
		}
		return cmdutil.Exit(code)
	}
	if r.Problem != nil {
		fmt.Fprintf(o.IO.Err, "fairlead: the record is damaged: %s\n", table.Clean(r.Problem.String()))
		if r.Records > 0 {
			fmt.Fprintf(o.IO.Err, "fairlead: the %s before that %s whole\n", count(r.Records, "record"), isAre(r.Records))
		}
		return cmdutil.Exit(code)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the record is whole: %s in %s\n", count(r.Records, "record"), count(uint64(r.Files), "file"))
	if r.Records > 0 {
		fmt.Fprintf(&b, "from %s to %s\n", stamp(r.First), stamp(r.Last))
	}
	fmt.Fprintf(&b, "head: %s\n", r.Head)
	if n := len(r.Pending); n > 0 {
		fmt.Fprintf(&b, "%s without a result (the program was killed, or the command is still running):\n", count(uint64(n), "request"))
		for _, p := range r.Pending {
			fmt.Fprintf(&b, "  %s  %s  %s\n", stamp(p.Time), p.ID, table.Clean(p.Host))
		}
	}
	for _, s := range r.Sealed {
		fmt.Fprintf(&b, "%s:%d: %d bytes torn by a crash, sealed since\n", s.File, s.Line, s.Bytes)
	}
	if r.Torn != nil {
		fmt.Fprintf(&b, "%s:%d: %d bytes torn by a crash; the next command seals them\n", r.Torn.File, r.Torn.Line, r.Torn.Bytes)
	}
	_, err = o.IO.Out.Write([]byte(b.String()))
	return err
}

// existing returns the directory, or says that there is no record yet.
func existing(dir func() (string, error)) (string, error) {
	d, err := dir()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(d); errors.Is(err, fs.ErrNotExist) {
		return "", cmdutil.Usagef("there is no record in %s: nothing was run yet, or it is kept elsewhere (--dir)", d)
	} else if err != nil {
		return "", fmt.Errorf("cannot read the record: %w", err)
	}
	return d, nil
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func isAre(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
