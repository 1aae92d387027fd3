package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestACommandAsAnotherAccountIsPrivileged(t *testing.T) {
	configured, called := hosts.Become{User: "root"}, hosts.Become{User: "root", Method: "doas", ByCall: true}
	for _, tt := range []struct {
		principal, tier, command string
		become                   hosts.Become
		want                     policy.Verdict
		class                    policy.Class
		needs                    policy.Needs
	}{
		{"agent/a", "dev", "ls", configured, policy.Ask, policy.Privileged, policy.NeedsApproval},
		{"agent/a", "prod", "systemctl restart nginx", configured, policy.Ask, policy.Privileged, policy.NeedsApproval},
		{"agent/a", "dev", "sudo ls", configured, policy.Ask, policy.Privileged, policy.NeedsApproval},
		{"agent/a", "dev", "rm -rf /", configured, policy.Deny, policy.Forbidden, ""},
		{"agent/a", "dev", "ls", called, policy.Deny, policy.Privileged, ""},
		{"agent/a", "dev", "sudo ls", hosts.Become{}, policy.Deny, policy.Privileged, ""},
		{"agent/a", "dev", "ls", hosts.Become{}, policy.Allow, policy.ReadOnly, ""},
		{"operator/a", "prod", "ls", called, policy.Allow, policy.Privileged, ""},
		{"operator/a", "prod", "systemctl stop nginx", configured, policy.Ask, policy.Privileged, policy.NeedsConfirmation},
		{"operator/a", "dev", "systemctl stop nginx", configured, policy.Allow, policy.Privileged, ""},
		{"operator/a", "dev", "rm -rf /", called, policy.Ask, policy.Forbidden, policy.NeedsBreakGlass},
	} {
		req := policy.Request{Principal: tt.principal, Host: hosts.Host{Name: "h", Tier: tt.tier, Become: tt.become}, Command: tt.command}
		d, err := rules.New(rules.Config{}).Decide(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, tt.want, d.Verdict, "%v", tt)
		assert.Equal(t, tt.class, d.Class, "%v", tt)
		assert.Equal(t, tt.needs, d.Needs, "%v", tt)
	}
}

// Rules about programs say what may run, not as whom.
func TestARuleLendsNoAccountUnlessItNamesTheClass(t *testing.T) {
	as := func(verdict, rule string, b hosts.Become, command string) policy.Verdict {
		file, err := rules.Parse([]byte("version: 1\nrules:\n  - {name: r, verdict: "+verdict+", principals: [role=agent], hosts: all, "+rule+"}\n"), "p.yaml")
		require.NoError(t, err)
		d, err := rules.New(rules.Config{User: file}).Decide(t.Context(), policy.Request{
			Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev", Become: b}, Command: command,
		})
		require.NoError(t, err)
		return d.Verdict
	}
	root, called := hosts.Become{User: "root"}, hosts.Become{User: "root", ByCall: true}
	assert.Equal(t, policy.Allow, as("allow", "programs: ['touch *']", hosts.Become{}, "touch x"))
	assert.Equal(t, policy.Ask, as("allow", "programs: ['touch *']", root, "touch x"))
	assert.Equal(t, policy.Deny, as("allow", "programs: ['touch *']", called, "touch x"))
	assert.Equal(t, policy.Ask, as("allow", "programs: ['touch *'], classes: [privileged, write]", root, "touch x"))
	assert.Equal(t, policy.Allow, as("allow", "classes: [privileged, read-only]", root, "ls"))
	assert.Equal(t, policy.Ask, as("ask", "classes: [privileged]", called, "ls"))
	assert.Equal(t, policy.Deny, as("deny", "classes: [privileged]", root, "ls"))
	assert.Equal(t, policy.Deny, as("deny", "programs: ['touch *']", root, "touch x"))
}

func TestTypingAtAProgramOfAnotherAccountIsPrivileged(t *testing.T) {
	d, err := rules.New(rules.Config{}).Decide(t.Context(), policy.Request{
		Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev", Become: hosts.Become{User: "root", ByCall: true}}, Command: "sh", Interactive: true, Input: "id\n",
	})
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, d.Verdict)
}
