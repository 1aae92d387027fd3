package registry

import (
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// firstTried runs the command where nobody need be asked, held to reading where the policy wants it tried, and then, once it is approved,
// on the hosts where that was not enough.
func (f *Fleet) firstTried(req FleetRequest, forks int) {
	first := req
	first.Command.Unasked = true
	f.all(first, forks, nil)
	var left []int
	var hs []hosts.Host
	var reasons []string
	at := map[string][]string{} // the hosts that give a reason
	f.mu.Lock()
	for i, m := range f.members {
		if m.Exec == nil || f.ctx.Err() != nil {
			continue
		}
		r := m.Exec.sx.Result()
		if r.State != session.Done || r.Status != session.StatusDenied || r.Decision.Verdict != policy.Ask || r.Decision.First == nil {
			continue
		}
		left, hs = append(left, i), append(hs, m.Host)
		why := r.Decision.Reason
		if at[why] == nil {
			reasons = append(reasons, why)
		}
		at[why] = append(at[why], m.Host.Name)
	}
	f.waits, f.once = len(left) > 0, len(left) > 0
	f.mu.Unlock()
	if len(left) == 0 {
		return
	}
	for i, why := range reasons {
		if len(reasons) > 1 {
			reasons[i] = fmt.Sprintf("%s: %s", hosts.Fold(at[why]), why)
		}
	}
	req.Permit = req.Later(hs, strings.Join(reasons, "; "))
	req.Command.approver = req.Permit
	if f.permittedOn(req, left) {
		f.rollOut(req, forks, left)
	}
}
