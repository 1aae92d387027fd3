package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// ExplainOptions is everything that "policy explain" needs.
type ExplainOptions struct {
	IO *iostreams.IOStreams
	Situation
	JSON bool

	Command string
	Tables  string // the program whose table is shown
}

// NewCmdExplain builds the command. runF replaces the real work in tests of flags.
func NewCmdExplain(f *cmdutil.Factory, runF func(context.Context, *ExplainOptions) error) *cobra.Command {
	o := &ExplainOptions{IO: f.IO, Situation: newSituation(f)}
	if runF == nil {
		runF = explainRun
	}
	cmd := &cobra.Command{
		Use:   "explain {[flags] -- COMMAND… | --tables PROGRAM}",
		Short: "Show how a command is judged, part by part",
		Long: `Show how a command is judged: its parts with their class and rule, what would make it pass, and a rule to copy that allows
this and nothing wider, or why no rule should.

The command is judged for an agent on a prod host unless flags say otherwise. One argument after -- is shell source; several
are exact words. The exit code is 0 whatever the verdict: use "policy check" for an exit code.

Reads over the network have the class network-read. A rule allows them by target: to: [loopback, private, 10.1.0.0/16,
db.example.com, "*.internal.example.com"]. An address that Fairlead cannot determine matches no rule.

--tables PROGRAM shows what Fairlead knows of a program: options, operands, subcommands, and the manual that this comes
from. For the grammar: go doc github.com/fairlead-ssh/fairlead/session/policy/programs.`,
		Example: `  fairlead policy explain -- 'ps aux | grep nginx > /tmp/x'
  fairlead policy explain --principal operator -- 'sudo systemctl stop nginx'
  fairlead policy explain --tables tar`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if cmd.Flags().Changed("tables") {
				if len(args) > 0 || o.Tables == "" {
					return cmdutil.Usagef("--tables takes one program and no command: fairlead policy explain --tables PROGRAM")
				}
				for _, other := range [...]string{"program", "principal", "host", "tier", "shell", "cwd", "policy"} {
					if cmd.Flags().Changed(other) {
						return cmdutil.Usagef("--tables shows the same for all commands: leave --%s out", other)
					}
				}
				return runF(cmd.Context(), o)
			}
			if o.Command, err = o.command("explain", args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return runF(cmd.Context(), o)
		},
	}
	o.flags(cmd, f)
	o.program(cmd)
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	cmd.Flags().StringVar(&o.Tables, "tables", "", "show what is known of this `program`, and from which manual")
	_ = cmd.RegisterFlagCompletionFunc("tables", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return programs.Names(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// explainJSON is a stable format.
type explainJSON struct {
	checkJSON
	Needs  policy.Needs `json:"needs,omitempty"`
	Hint   string       `json:"hint,omitempty"`
	Parts  []partJSON   `json:"parts"`
	Writes []string     `json:"writes,omitempty"`
	Sets   []string     `json:"sets,omitempty"`
	Uses   []string     `json:"uses,omitempty"`
	Capped bool         `json:"capped,omitempty"`
	Held   string       `json:"held,omitempty"` // how far it runs held, by default or by what the policy says
	Policy string       `json:"policy"`
	Offer  string       `json:"offer,omitempty"`    // a policy file whose rule would allow it
	Refuse string       `json:"no_offer,omitempty"` // why there is none
}

type partJSON struct {
	Line   int          `json:"line,omitempty"`
	Column int          `json:"column,omitempty"`
	Text   string       `json:"text"`
	Class  policy.Class `json:"class"`
	Rule   string       `json:"rule"`
	Reason string       `json:"reason"`
	Parts  []partJSON   `json:"parts,omitempty"`
}

// showTable prints what is known of one program.
func showTable(o *ExplainOptions) error {
	t, ok := programs.Lookup(o.Tables)
	if !ok {
		return cmdutil.Usagef("no table lists the program %s: its commands need approval. Shells' own commands are not in the tables", cmdutil.OneLine(strconv.Quote(o.Tables)))
	}
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(t)
	}
	_, err := fmt.Fprintf(o.IO.Out, "%s is known from %s (%s:%d)\n\n%s", t.Program, t.From, t.File, t.Line, t.Text)
	return err
}

func explainRun(ctx context.Context, o *ExplainOptions) error {
	if o.Tables != "" {
		return showTable(o)
	}
	e, req, err := o.judge()
	if err != nil {
		return err
	}
	req.Command = o.Command
	d, err := e.Decide(ctx, req)
	if err != nil {
		return err
	}
	rep := e.Judge(req)
	offer, why := "", error(nil)
	if d.Verdict != policy.Allow {
		offer, why = e.Offer(req)
	}
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(explainJSON{
			checkJSON: toJSON(d), Needs: d.Needs, Hint: d.Hint, Parts: partsJSON(rep.Parts), Writes: writes(rep),
			Sets: rep.Sets, Uses: rep.Uses, Capped: rep.Capped, Held: heldText(d), Policy: e.Hash(), Offer: offer, Refuse: text(why),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s, %s)\n", asked(d), cmdutil.OneLine(d.Reason), d.Class, d.Rule)
	fmt.Fprintf(&b, "for %s on %s, in %s; policy %s\n\n", req.Principal, where(req), shellName(req.Shell), e.Hash())
	tree(&b, rep.Parts, "  ")
	if rep.Capped {
		b.WriteString("  … and more than is looked at\n")
	}
	b.WriteString("\n")
	line(&b, "writes", writes(rep))
	line(&b, "sets", rep.Sets)
	line(&b, "rests on", rep.Uses)
	if how := heldText(d); how != "" {
		key := "held"
		switch {
		case d.First != nil:
			key = "unknown: held-first"
		case e.Limits(req.Principal).HeldReads:
			key = "reads: held"
		}
		fmt.Fprintf(&b, "%s: %s\n", key, cmdutil.OneLine(how))
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "to make it pass: %s\n", d.Hint)
	}
	switch {
	case offer != "":
		_, rule, _ := strings.Cut(offer, "rules:\n")
		fmt.Fprintf(&b, "a rule that allows exactly this, for a policy file:\n%s", rule)
	case why != nil:
		fmt.Fprintf(&b, "no rule is offered: %s\n", cmdutil.OneLine(why.Error()))
	}
	_, err = o.IO.Out.Write([]byte(b.String()))
	return err
}

// heldText says how far a command runs held: by default, with reads: held, or with unknown: held-first; "" where it does not matter.
func heldText(d policy.Decision) string {
	switch {
	case d.First != nil:
		text := "it is tried held first: the host's kernel holds it to reading (seccomp, and Landlock where it is there), and secrets are closed to it. If the kernel refuses " +
			"nothing, it is done without approval. Else nothing of it counts, and the request for approval says what it tried"
		if d.First.Shapes {
			text += ". In a session it asks at once, since it may change the session's shell"
		}
		return text
	case d.Unheld != nil:
		to := "nothing"
		if len(d.Sockets) > 0 {
			to += " but the local sockets of the services that it asks"
		}
		return "the host's kernel holds it to reading (seccomp, and Landlock where it is there): it changes no file, connects to " + to + " and signals nothing outside. " +
			"Where the host cannot, it needs approval. What it reads, how long it takes and the load it causes are not held"
	case d.Hold:
		but := ""
		if len(d.Sockets) > 0 {
			but = ", but for the local sockets of the services that it asks"
		}
		return "the host's kernel holds it to reading where it can (seccomp, and Landlock where it is there)" + but + ". Where the host cannot, it runs as judged; " +
			"with reads: held in the policy it would need approval there. What it reads, how long it takes and the load it causes are not held"
	case d.Unfit != "" && len(d.Sockets) > 0:
		return "the host's kernel holds it to reading (seccomp, and Landlock where it is there), but for the local sockets that it asks its service through: " +
			"what that does for it is judged. Where the host cannot, it runs as judged"
	case d.Unfit != "":
		return "it runs as judged, not held: " + d.Unfit
	}
	return ""
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func tree(b *strings.Builder, parts []judge.Part, indent string) {
	for _, p := range parts {
		fmt.Fprintf(b, "%s%-14s %s\n", indent, p.Class, cmdutil.OneLine(strings.TrimRight(p.Text, "; \n")))
		fmt.Fprintf(b, "%s%-14s %s [%s]\n", indent, "", cmdutil.OneLine(p.Reason), p.Rule)
		tree(b, p.Parts, indent+"    ")
	}
}

func line(b *strings.Builder, what string, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(b, "%s: %s\n", what, cmdutil.OneLine(strings.Join(list, ", ")))
	}
}

func writes(rep judge.Report) (out []string) {
	for _, w := range rep.Writes {
		s := w.Source
		if w.Literal {
			s = w.Text
		}
		if w.Remote {
			s += " (elsewhere)"
		}
		out = append(out, s)
	}
	return out
}

func partsJSON(parts []judge.Part) []partJSON {
	out := make([]partJSON, 0, len(parts))
	for _, p := range parts {
		out = append(out, partJSON{p.Line, p.Col, p.Text, p.Class, p.Rule, p.Reason, partsJSON(p.Parts)})
	}
	return out
}

func where(req policy.Request) string {
	name := req.Host.Name
	if name == "" {
		name = "a host"
	}
	if req.Host.Tier == "" {
		return name + " without a tier, which counts as prod"
	}
	return name + " of tier " + req.Host.Tier
}

func shellName(s string) string {
	if s == "" {
		return "any shell"
	}
	return s
}
