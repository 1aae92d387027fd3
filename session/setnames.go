package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Names that a read sets (a loop's variable, what read fills) live in the lane where it ran, and the shell of the held lane ends with
// them. A later command that rests on one and runs in another lane would find nothing, or an older value: rm -rf /srv/$d with an empty d
// is not what anybody approved. Such a command is refused, and told how to be right wherever it runs.

// leaves notes what a command that is about to be sent may leave in its lane's shell.
func (s *Session) leaves(lane string, d policy.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lane != laneSession {
		for _, name := range d.Sets {
			if s.setIn == nil {
				s.setIn = map[string]string{}
			}
			if name != "*" && len(s.setIn) < maxSet {
				s.setIn[name] = lane
			}
		}
		return
	}
	if d.Class == policy.ReadOnly && !d.Taints {
		return
	}
	s.tainted = true
	for _, name := range d.Sets {
		s.sets = true
		delete(s.setIn, name)
		if name != "*" && len(s.set) < maxSet {
			s.set = append(s.set, name)
		}
	}
}

// forgets notes that a lane's shell ends, and with it what was set there; s.mu is held.
func (s *Session) forgets(lane string) {
	for name, where := range s.setIn {
		if where == lane {
			s.setIn[name] = laneHeld
		}
	}
}

// here is d, or a denial where x rests on a name that was set in another lane than its own, or in a shell that has ended.
func (s *Session) here(x *Exec, d policy.Decision) policy.Decision {
	if d.Verdict != policy.Allow && d.Verdict != policy.Ask || s.cfg.OneOff || x.cmd.inner.action != nil {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lane := s.laneBy(x, d)
	for name, where := range s.setIn {
		if where == lane && lane != laneHeld || slices.Contains(d.Sets, name) || !slices.ContainsFunc(d.Uses, func(u string) bool { return covers(u, name) }) {
			continue
		}
		d.Verdict, d.Rule, d.Rests, d.Needs, d.First, d.Hold, d.Unheld = policy.Deny, "builtin/session-name", name, "", nil, false, nil
		d.Reason = fmt.Sprintf("it rests on %s, which an earlier command set in another shell (lane %s), and which has no such value where this would run", name, where)
		d.Hint = fmt.Sprintf("set %s in the same command", name)
		break
	}
	return d
}

// covers reports whether a name of Decision.Uses is name, or a pattern for it.
func covers(use, name string) bool {
	prefix, wild := strings.CutSuffix(use, "*")
	return use == name || wild && strings.HasPrefix(name, prefix)
}
