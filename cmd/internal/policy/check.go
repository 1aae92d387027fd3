package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// CheckOptions is everything that "policy check" needs.
type CheckOptions struct {
	IO *iostreams.IOStreams
	Situation
	Stdin bool
	JSON  bool

	Command string
}

// NewCmdCheck builds the command. runF replaces the real work in tests of flags.
func NewCmdCheck(f *cmdutil.Factory, runF func(context.Context, *CheckOptions) error) *cobra.Command {
	o := &CheckOptions{IO: f.IO, Situation: newSituation(f)}
	if runF == nil {
		runF = checkRun
	}
	cmd := &cobra.Command{
		Use:   "check [flags] -- COMMAND…",
		Short: "Check whether a command may run, and why",
		Long: `Check whether a command may run, and why, without running it.

The command is judged for an agent on a prod host unless flags say otherwise. One argument after -- is shell source; several
are exact words.

--stdin judges many: it reads lines of JSON, {"command":"…"}, and prints for each, in order, a line
{"verdict":"allow|ask|deny","class":"…","rule":"…","reason":"…"}, or {"error":"…"} for an invalid line.

Exit codes:
  0  allow; with --stdin: all lines were judged
  2  usage or policy error; with --stdin: also for an invalid line
  5  ask or deny: the command needs approval or is denied`,
		Example: `  fairlead policy check -- 'systemctl restart nginx'
  fairlead policy check --principal operator --tier dev -- rm -rf build
  jq -c '{command: .}' commands.json | fairlead policy check --stdin | jq -r .verdict`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Stdin {
				if len(args) > 0 {
					return cmdutil.Usagef("--stdin reads the commands from standard input: leave the one after -- out")
				}
				return runF(cmd.Context(), o)
			}
			var err error
			if o.Command, err = o.command("check", args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
	}
	o.flags(cmd, f)
	o.program(cmd)
	cmd.Flags().BoolVar(&o.Stdin, "stdin", false, "judge the commands on standard input, one JSON object per line")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	return cmd
}

// checkJSON is a stable format.
type checkJSON struct {
	Verdict policy.Verdict `json:"verdict"`
	Class   policy.Class   `json:"class"`
	Rule    string         `json:"rule"`
	Reason  string         `json:"reason"`
	First   string         `json:"first,omitempty"` // how it is tried before it asks
}

func toJSON(d policy.Decision) checkJSON {
	return checkJSON{Verdict: d.Verdict, Class: d.Class, Rule: d.Rule, Reason: d.Reason, First: strings.TrimPrefix(first(d), "; ")}
}

func checkRun(ctx context.Context, o *CheckOptions) error {
	e, req, err := o.judge()
	if err != nil {
		return err
	}
	if o.Stdin {
		return batch(ctx, o.IO.In, o.IO.Out, e, req)
	}
	req.Command = o.Command
	d, err := e.Decide(ctx, req)
	if err != nil {
		return err
	}
	if o.JSON {
		err = json.NewEncoder(o.IO.Out).Encode(toJSON(d))
	} else {
		_, err = fmt.Fprintf(o.IO.Out, "%s: %s (%s, %s)%s\n", asked(d), cmdutil.OneLine(d.Reason), d.Class, d.Rule, first(d))
	}
	if err != nil {
		return err
	}
	return cmdutil.Exit(codeOf(d))
}

// first says that a command is tried before it asks.
func first(d policy.Decision) string {
	if d.First == nil {
		return ""
	}
	return "; tried held first"
}

// asked is the verdict in words, for operators with what it asks for.
func asked(d policy.Decision) string {
	if d.Needs == policy.NeedsConfirmation || d.Needs == policy.NeedsBreakGlass {
		return d.Verdict.String() + " for " + string(d.Needs)
	}
	return d.Verdict.String()
}

func codeOf(d policy.Decision) int {
	if d.Verdict == policy.Allow {
		return exitcode.OK
	}
	return exitcode.Denied
}

func quote(args []string) (string, error) {
	s, err := session.Words(args...)
	if err != nil {
		return "", &cmdutil.UsageError{Err: err}
	}
	return s, nil
}
