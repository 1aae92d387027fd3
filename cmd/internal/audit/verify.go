package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
)

// VerifyOptions is everything that "audit verify" needs.
type VerifyOptions struct {
	IO      *iostreams.IOStreams
	Dir     func() (string, error)
	JSON    bool
	Anchors []string // files
}

// maxPending is how many requests without a result are listed for people.
const maxPending = 100

// NewCmdVerify builds the command. runF replaces the real work in tests of flags.
func NewCmdVerify(f *cmdutil.Factory, dir func() (string, error), runF func(context.Context, *VerifyOptions) error) *cobra.Command {
	o := &VerifyOptions{IO: f.IO, Dir: dir}
	if runF == nil {
		runF = verifyRun
	}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that nothing in the audit log was changed",
		Long: `Check the whole audit log: every entry, their order, and that the last one is the last one that was written.

Exits 0 if everything is as it was written, and 1 with file and line if not. The torn beginning of one line is what a
crash leaves, and is reported as that; everything else behind the end was edited. Requests without a result are listed
and are no damage: the program was killed, or the command is still running.

Who has the key of the audit log can write it anew, and nothing in it would show that. Anchors that are kept elsewhere
do: an anchor proves every entry up to its own. --anchors compares with a file of them, one a line, as other places and
logs keep them (the anchor of today is in the output of --json), and reports which entries no anchor covers.`,
		Example: `  fairlead audit verify
  fairlead audit verify --json | jq -r .anchor | ssh vault 'cat >>heads'
  ssh vault cat heads | fairlead audit verify --anchors -`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print the report as a JSON object")
	cmd.Flags().StringArrayVar(&o.Anchors, "anchors", nil, "compare with the anchors in this `file` (- is standard input); repeatable")
	return cmd
}

func verifyRun(_ context.Context, o *VerifyOptions) error {
	dir, err := existing(o.Dir)
	if err != nil {
		return err
	}
	anchors, err := o.anchors()
	if err != nil {
		return err
	}
	r, err := audit.VerifyAnchored(dir, anchors)
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
		fmt.Fprintf(o.IO.Err, "fairlead: the audit log is damaged: %s\n", table.Clean(r.Problem.String()))
		if r.Records > 0 {
			fmt.Fprintf(o.IO.Err, "fairlead: the %s before that %s whole\n", cmdutil.Count(r.Records, "entry"), isAre(r.Records))
		}
		return cmdutil.Exit(code)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the audit log is whole: %s in %s\n", cmdutil.Count(r.Records, "entry"), cmdutil.Count(uint64(r.Files), "file"))
	if r.Records > 0 {
		fmt.Fprintf(&b, "from %s to %s\n", stamp(r.First), stamp(r.Last))
	}
	fmt.Fprintf(&b, "head: %s\n", r.Head)
	if a := r.Anchors; a != nil {
		b.WriteString(anchoredText(r.Records, *a))
	}
	if p := r.Purged; p != nil {
		if p.Files > 0 {
			fmt.Fprintf(&b, "%s in the oldest %s %s purged, as the log says\n", cmdutil.Count(p.Records, "entry"), cmdutil.Count(uint64(p.Files), "file"), wasWere(p.Records))
		}
		if p.Left > 0 {
			fmt.Fprintf(&b, "%s that a purge was to remove %s still there: it was interrupted; run it again\n",
				cmdutil.Count(uint64(p.Left), "file"), isAre(uint64(p.Left)))
		}
	}
	if n := len(r.Pending); n > 0 {
		fmt.Fprintf(&b, "%s without a result (the program was killed, or the command is still running):\n", cmdutil.Count(uint64(n), "request"))
		for _, p := range r.Pending[:min(n, maxPending)] {
			fmt.Fprintf(&b, "  %s  %s  %s\n", stamp(p.Time), p.ID, table.Clean(p.Host))
		}
		if n > maxPending {
			fmt.Fprintf(&b, "  and %d later ones: fairlead audit verify --json lists all\n", n-maxPending)
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

// anchors reads the files that are named; nil where none is.
func (o *VerifyOptions) anchors() ([]audit.Anchor, error) {
	var all []audit.Anchor
	for _, name := range o.Anchors {
		var in io.Reader = o.IO.In
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return nil, &cmdutil.UsageError{Err: fmt.Errorf("cannot read the anchors: %w", reason.File(name, err))}
			}
			defer f.Close()
			in = f
		}
		found, others, err := audit.ReadAnchors(in)
		if err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
		if len(found) == 0 {
			if name == "-" {
				name = "standard input"
			}
			return nil, cmdutil.Usagef("there is no anchor in %s", table.Clean(name))
		}
		if others > 0 {
			fmt.Fprintf(o.IO.Err, "fairlead: %s: %s no anchor\n", table.Clean(name), holds(others))
		}
		all = append(all, found...)
	}
	return all, nil
}

// anchoredText tells anchored records from others.
func anchoredText(records uint64, a audit.Anchored) string {
	var b strings.Builder
	if a.Through > 0 {
		fmt.Fprintf(&b, "anchored: entries 1 to %d, at %s (%s)\n", a.Through, stamp(a.Time), cmdutil.Count(uint64(a.Matched), "anchor"))
	}
	switch {
	case records > a.Through:
		fmt.Fprintf(&b, "not anchored: entries %d to %d\n", a.Through+1, records)
	case records == 0:
		b.WriteString("not anchored: the audit log is empty\n")
	}
	if a.Purged > 0 {
		fmt.Fprintf(&b, "%s could not be compared: the entries were purged\n", cmdutil.Count(uint64(a.Purged), "anchor"))
	}
	if a.Others > 0 {
		fmt.Fprintf(&b, "%s %s of other entries\n", cmdutil.Count(uint64(a.Others), "anchor"), isAre(uint64(a.Others)))
	}
	return b.String()
}

func holds(lines int) string {
	if lines == 1 {
		return "1 line holds"
	}
	return fmt.Sprintf("%d lines hold", lines)
}

// existing returns the directory, or says that there is no record yet.
func existing(dir func() (string, error)) (string, error) {
	d, err := dir()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(d); errors.Is(err, fs.ErrNotExist) {
		return "", cmdutil.Usagef("there is no audit log in %s: nothing was run yet, or it is kept elsewhere (--dir)", d)
	} else if err != nil {
		return "", fmt.Errorf("cannot read the audit log: %w", err)
	}
	return d, nil
}

func wasWere(n uint64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func isAre(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
