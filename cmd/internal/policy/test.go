package policy

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// TestOptions is everything that "policy test" needs.
type TestOptions struct {
	IO *iostreams.IOStreams
	Situation
	AtLeast bool

	File string
}

// NewCmdTest builds the command. runF replaces the real work in tests of flags.
func NewCmdTest(f *cmdutil.Factory, runF func(context.Context, *TestOptions) error) *cobra.Command {
	o := &TestOptions{IO: f.IO, Situation: newSituation(f)}
	if runF == nil {
		runF = testRun
	}
	cmd := &cobra.Command{
		Use:   "test [flags] FILE",
		Short: "Test the policy with a file of cases",
		Long: `Judge the commands of a file, print those with another verdict than the file says, and count.

Each line has a verdict (allow, ask or deny), a command and an optional reason, separated by tabs. The command may contain
\\ \n \t \r \xNN (a byte) \uNNNN and \UNNNNNNNN (characters). Lines that begin with # are comments.

With --at-least, deny also passes where a case says ask. Commands are judged for an agent on a prod host unless flags say
otherwise. Nothing runs.

Exit codes: 0 if all cases pass, 1 if some fail, 2 for usage, file or policy errors.`,
		Example: `  fairlead policy test cases.tsv
  fairlead policy test --at-least --policy new.yaml --tier dev cases.tsv`,
		Args: cmdutil.Args(1, 1, "the FILE of cases"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.File = args[0]
			return runF(cmd.Context(), o)
		},
	}
	o.flags(cmd, f)
	cmd.Flags().BoolVar(&o.AtLeast, "at-least", false, "accept deny where a case says ask")
	return cmd
}

func testRun(ctx context.Context, o *TestOptions) error {
	e, req, err := o.judge()
	if err != nil {
		return err
	}
	cases, err := readCases(o.File)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(o.IO.Out)
	var passed, total [3]int
	for _, c := range cases {
		req.Command = c.command
		d, err := e.Decide(ctx, req)
		if err != nil {
			return err
		}
		total[c.want]++
		if d.Verdict == c.want || o.AtLeast && c.want == policy.Ask && d.Verdict == policy.Deny {
			passed[c.want]++
			continue
		}
		fmt.Fprintf(w, "%s:%d: want %s, got %s (%s, %s: %s): %s\n",
			o.File, c.line, c.want, d.Verdict, d.Class, d.Rule, cmdutil.OneLine(d.Reason), cmdutil.OneLine(c.written))
	}
	ok, all := 0, len(cases)
	for _, v := range []policy.Verdict{policy.Allow, policy.Ask, policy.Deny} {
		fmt.Fprintf(w, "%-5s  %d of %d\n", v, passed[v], total[v])
		ok += passed[v]
	}
	fmt.Fprintf(w, "%d cases, %d passed, %d failed\n", all, ok, all-ok)
	if err := w.Flush(); err != nil {
		return err
	}
	if ok < all {
		return cmdutil.Exit(exitcode.Failed)
	}
	return nil
}
