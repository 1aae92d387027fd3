package session

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// guarded returns the shell with what an agent's gets: variables and a function that keep reads from running code. No variable
// that was given undoes them.
func (s *Session) guarded(sh framing.Shell) framing.Shell {
	if hosts.RoleOf(s.cfg.Principal) == hosts.RoleAgent {
		if !sh.Clean {
			sh.Env = slices.Concat(sh.Env, policy.AgentEnviron())
		}
		sh.Prelude = policy.AgentPrelude
	}
	return sh
}
