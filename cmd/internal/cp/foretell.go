package cp

import (
	"context"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// foretell judges the copy that a dry run shows: the dry run is judged as the read that it is.
func (o *Options) foretell(ctx context.Context, hs []hosts.Host, plan copies.Plan) (map[targets.Key]policy.Decision, error) {
	plan.DryRun, plan.Guarded = false, o.Caller().Mark != ""
	script, err := plan.Script()
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	engine, err := o.Policy("")
	if err != nil {
		return nil, err
	}
	reqs := make([]policy.Request, len(hs))
	for i, h := range hs {
		reqs[i] = policy.Request{Principal: o.Caller().Principal, Host: h, Shell: h.Shell, Command: script, Reason: o.Reason}
	}
	each, _, err := engine.JudgeMany(ctx, reqs)
	if err != nil {
		return nil, err
	}
	by := make(map[targets.Key]policy.Decision, len(hs))
	for i, h := range hs {
		by[targets.KeyOf(h)] = each[i]
	}
	return by, nil
}

// foretold is what the policy says of the copy on hosts of which a dry run told what would change.
type foretold struct {
	text  string
	names []string
	odd   bool // because of characters in names
}

// foresees keeps what is said of a host, and counts a copy that would be denied as one that was.
func (v *view) foresees(label string, d policy.Decision) {
	text := ""
	switch {
	case d.Verdict == policy.Deny:
		text = "the copy would be denied"
	case d.Verdict == policy.Allow:
		return
	case d.Needs == policy.NeedsConfirmation:
		text = "the copy would need confirmation, which --yes gives"
	case d.Needs == policy.NeedsBreakGlass:
		text = "the copy would be denied, unless it is overridden at a terminal"
	default:
		text = "the copy would need an approval"
	}
	text += fmt.Sprintf(": %s (%s)", cmdutil.OneLine(d.Reason), d.Rule)
	for i := range v.foretold {
		if f := &v.foretold[i]; f.text == text {
			f.names = append(f.names, label)
			return
		}
	}
	v.foretold = append(v.foretold, foretold{text, []string{label}, d.Rule == ruleBytes})
}

// tellForetold writes it, with the names that a policy denies.
func (v *view) tellForetold(to io.Writer) {
	odd := false
	for _, f := range v.foretold {
		fmt.Fprintf(to, "fairlead: %s: %s\n", hosts.Fold(f.names), f.text)
		odd = odd || f.odd
	}
	if odd {
		io.WriteString(to, v.details(v.odd))
	}
}
