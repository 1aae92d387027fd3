package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// dryHost is a host of a run that sends nothing: a line of --dry-run --json.
type dryHost struct {
	Host    string `json:"host"`
	Batch   int    `json:"batch"`
	Verdict string `json:"verdict"`
	Needs   string `json:"needs,omitempty"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`
	Command string `json:"command,omitempty"` // where each host gets its own
}

// dryRun shows what would run where, and sends nothing.
func (o *Options) dryRun(ctx context.Context, hs []hosts.Host, steps *place.Steps) error {
	batches := []rollout.Batch{{Number: 1, Hosts: hs}}
	if steps != nil {
		var err error
		if batches, err = steps.Batches(hs); err != nil {
			return err
		}
	}
	engine, err := o.Policy(o.PolicyFile)
	if err != nil {
		return err
	}
	labels := map[targets.Key]string{}
	for i, label := range targets.Labels(hs) {
		labels[targets.KeyOf(hs[i])] = label
	}
	denied := false
	for _, b := range batches {
		each, _, err := engine.JudgeMany(ctx, o.requests(b.Hosts))
		if err != nil {
			return err
		}
		var lines []dryHost
		for i, h := range b.Hosts {
			d := each[i]
			denied = denied || d.Verdict == policy.Deny
			lines = append(lines, dryHost{labels[targets.KeyOf(h)], b.Number, d.Verdict.String(), string(d.Needs), d.Rule, d.Reason, o.each[targets.KeyOf(h)]})
		}
		if o.JSON {
			err = dryJSON(o.IO.Out, lines)
		} else {
			err = dryText(o.IO.Out, b, len(batches), lines)
		}
		if err != nil {
			return err
		}
	}
	if o.JSON {
		if err := json.NewEncoder(o.IO.Out).Encode(map[string]any{"summary": map[string]any{"hosts": len(hs), "batches": len(batches), "dry_run": true}}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(o.IO.Err, "fairlead: dry run: nothing was sent\n")
	}
	if denied {
		return cmdutil.Exit(exitcode.Denied)
	}
	return nil
}

func dryJSON(to io.Writer, lines []dryHost) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// dryText prints a batch, with the hosts of one verdict in one line.
func dryText(to io.Writer, b rollout.Batch, of int, lines []dryHost) error {
	type verdict struct{ verdict, needs, rule, reason, command string }
	var order []verdict
	by := map[verdict][]string{}
	for _, l := range lines {
		v := verdict{l.Verdict, l.Needs, l.Rule, l.Reason, l.Command}
		if by[v] == nil {
			order = append(order, v)
		}
		by[v] = append(by[v], l.Host)
	}
	what := ""
	if b.Canary {
		what = " (canary)"
	}
	for _, v := range order {
		needs := ""
		if v.needs != "" {
			needs = " (" + v.needs + ")"
		}
		if _, err := fmt.Fprintf(to, "batch %d of %d%s: %s: %s%s: %s (%s)\n", b.Number, of, what, hosts.Fold(by[v]), v.verdict, needs, cmdutil.OneLine(v.reason), v.rule); err != nil {
			return err
		}
		if v.command == "" {
			continue
		}
		text, _ := printable.Script(strings.TrimSuffix(v.command, "\n"), '\t')
		if _, err := fmt.Fprintf(to, "  %s\n", strings.Join(text, "\n  ")); err != nil {
			return err
		}
	}
	return nil
}
