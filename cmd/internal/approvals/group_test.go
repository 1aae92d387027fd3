package approvals

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Who approves many hosts at once sees their folded names, and where each of them is.
func TestEveryHostOfAGroupIsShown(t *testing.T) {
	p := approval.Pending{ID: "a_1", Question: policy.Question{
		Principal: "agent/x", Command: "touch x", Host: hosts.Host{Name: "web[1-2]", Tier: "prod"},
		Hosts: []hosts.Host{
			{Name: "web1", Addr: "10.0.0.1", Tier: "prod", Env: []string{"A=1"}},
			{Name: "web2", Addr: "10.0.0.2", User: "root", Via: []string{"gate"}},
		},
	}}
	got := text(p, time.Time{})
	for _, want := range []string{"2, all of them once: web[1-2]", "web1 (ssh 10.0.0.1", "env A=1", "web2 (ssh root@10.0.0.2 through gate; no tier, which counts as prod)"} {
		assert.Contains(t, got, want)
	}
}
