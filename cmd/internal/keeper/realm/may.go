package realm

import (
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Consent is an operator's confirmation for the policy, of this command on this host alone. It takes a person, as an
// approval does.
func (b *Book) Consent(c *access.Caller, host, script string, run *wire.Run) (livepolicy.Consent, error) {
	if !run.Confirm && run.BreakGlass == "" {
		return livepolicy.Consent{}, nil
	}
	switch {
	case rules.RoleOf(c.Principal) != rules.Operator:
		return livepolicy.Consent{}, problem.New(http.StatusForbidden, "forbidden", "an agent's request confirms nothing: that is for a person")
	case run.BreakGlass != "" && run.BreakGlass != host:
		return livepolicy.Consent{}, problem.Invalid("break_glass is the name of the host, %s", host)
	case run.BreakGlass != "" && run.Reason == "":
		return livepolicy.Consent{}, problem.Invalid("break_glass takes a reason")
	}
	if err := b.cfg.Trees.Admit(c.Pid); err != nil {
		return livepolicy.Consent{}, err
	}
	return livepolicy.Consent{Script: script, Confirm: run.Confirm, Glass: run.BreakGlass != ""}, nil
}

// Admit counts a request that may run something, or refuses it; the engine holds for the rest of it.
func (b *Book) Admit(c *access.Caller) (*rules.Engine, error) {
	engine, err := b.cfg.Policy.Current()
	if err != nil {
		return nil, unusable(err)
	}
	return engine, engine.Admit(c.Principal, time.Now())
}

// Limits is what the policy says of how much a caller is shown of what it has run. A policy that cannot be used any more keeps
// no result from its caller: the one before it counts.
func (b *Book) Limits(c *access.Caller) (rules.Limits, error) {
	engine, err := b.cfg.Policy.Last()
	if err != nil {
		return rules.Limits{}, unusable(err)
	}
	return engine.Limits(c.Principal), nil
}

// unusable says that nothing may run because of the policy, which is no fault of the keeper's.
func unusable(err error) error {
	text := strings.ReplaceAll(strings.ReplaceAll(err.Error(), ": rules: ", ": "), "\nrules: ", "\n")
	return problem.New(http.StatusServiceUnavailable, "policy", "%s", text)
}
