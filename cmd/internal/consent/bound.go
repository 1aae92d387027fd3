package consent

import (
	"cmp"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Count counts the request, where this process runs it, for what the policy allows its caller; one too many is refused.
func (v *Verdict) Count() {
	if v.refused != nil {
		return
	}
	if err := v.engine.Admit(v.principal, time.Now()); err != nil {
		v.refused = beyond(err)
	}
}

// Bound gives a command no more time and kept output than the policy allows its caller, as the keeper does.
func (v *Verdict) Bound(cmd *session.Command) {
	l := v.engine.Limits(v.principal)
	if rules.RoleOf(v.principal) != rules.Operator {
		cmd.Timeout = cmp.Or(cmd.Timeout, rules.AgentTimeout)
	}
	cmd.Timeout = l.Timeout(cmd.Timeout)
	if cmd.Keep = cmp.Or(cmd.Keep, session.DefaultKeep); cmd.Keep > 0 {
		cmd.Keep = int(l.Output(int64(cmd.Keep)))
	}
}
