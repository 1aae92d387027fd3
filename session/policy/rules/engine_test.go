package rules_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// said is what a decision comes to: "ask/confirmation".
func said(d policy.Decision) string {
	if d.Needs == "" {
		return d.Verdict.String()
	}
	return d.Verdict.String() + "/" + string(d.Needs)
}

func decide(t *testing.T, e *rules.Engine, req policy.Request) policy.Decision {
	t.Helper()
	d, err := e.Decide(t.Context(), req)
	require.NoError(t, err)
	assert.NotEmpty(t, d.Rule)
	assert.NotEmpty(t, d.Reason)
	assert.Equal(t, d.Verdict == policy.Ask, d.Needs != "", "an ask says what it needs: %+v", d)
	return d
}

// one command of each class.
var samples = map[policy.Class]string{
	policy.ReadOnly:      "ls -l /tmp",
	policy.SensitiveRead: "cat /etc/shadow",
	policy.NetworkRead:   "curl -s example.com",
	policy.Write:         "touch /srv/x",
	policy.Unknown:       "some-program-nobody-knows",
	policy.Dangerous:     "systemctl stop nginx",
	policy.Privileged:    "sudo ls",
	policy.Forbidden:     "rm -rf /",
}

func TestTheBuiltInTable(t *testing.T) {
	for name, tt := range map[string]struct {
		principal string
		host      hosts.Host
		want      map[policy.Class]string
	}{
		"an agent on production":                           {"agent/mcp", hosts.Host{Name: "h", Tier: "prod"}, agentTable},
		"an agent on a throw-away machine is not freer":    {"agent/mcp", hosts.Host{Name: "h", Tier: "dev"}, agentTable},
		"nobody counts as an agent":                        {"", hosts.Host{Name: "h"}, agentTable},
		"an unknown role counts as an agent":               {"root/ada", hosts.Host{Name: "h"}, agentTable},
		"a role without a name counts as an agent":         {"operator", hosts.Host{Name: "h"}, agentTable},
		"a role in other letters counts as an agent":       {"Operator/ada", hosts.Host{Name: "h"}, agentTable},
		"an operator on production":                        {"operator/ada", hosts.Host{Name: "h", Tier: "prod"}, operatorTable("ask/confirmation")},
		"an operator where nobody knows the tier":          {"operator/ada", hosts.Host{Name: "h"}, operatorTable("ask/confirmation")},
		"an operator on a throw-away machine":              {"operator/ada", hosts.Host{Name: "h", Tier: "dev"}, operatorTable("allow")},
		"an operator on a tier of their own":               {"operator/ada", hosts.Host{Name: "h", Tier: "lab"}, operatorTable("allow")},
		"a program has no default, so that all is refused": {"program/ci", hosts.Host{Name: "h", Tier: "dev"}, all("deny")},
	} {
		t.Run(name, func(t *testing.T) {
			e := rules.New(rules.Config{})
			for class, command := range samples {
				d := decide(t, e, policy.Request{Principal: tt.principal, Host: tt.host, Command: command})
				assert.Equal(t, class, d.Class, command)
				assert.Equal(t, tt.want[class], said(d), command)
				if rules.RoleOf(tt.principal) == rules.Program {
					assert.Equal(t, "builtin/program", d.Rule)
				} else {
					assert.Equal(t, "builtin/"+string(class), d.Rule)
				}
			}
		})
	}
}

var agentTable = map[policy.Class]string{
	policy.ReadOnly: "allow", policy.SensitiveRead: "ask/approval", policy.NetworkRead: "ask/approval", policy.Write: "ask/approval",
	policy.Unknown: "ask/approval", policy.Dangerous: "ask/approval", policy.Privileged: "deny", policy.Forbidden: "deny",
}

func operatorTable(dangerous string) map[policy.Class]string {
	m := all("allow")
	m[policy.Dangerous], m[policy.Forbidden] = dangerous, "ask/break-glass"
	return m
}

func all(v string) map[policy.Class]string {
	m := map[policy.Class]string{}
	for c := range samples {
		m[c] = v
	}
	return m
}

func TestAProgramMayDoWhatItsConfigurationSays(t *testing.T) {
	for _, v := range []policy.Verdict{policy.Deny, policy.Ask, policy.Allow} {
		e := rules.New(rules.Config{Program: v})
		d := decide(t, e, policy.Request{Principal: "program/ci", Command: "touch /srv/x"})
		assert.Equal(t, v, d.Verdict)
	}
}

func TestTheHintNamesTheTierWhereNobodySetOne(t *testing.T) {
	e := rules.New(rules.Config{})
	d := decide(t, e, policy.Request{Principal: "operator/ada", Command: "systemctl stop nginx"})
	assert.Contains(t, d.Hint, "tier:")
	assert.Contains(t, d.Hint, "--yes")
	d = decide(t, e, policy.Request{Principal: "operator/ada", Host: hosts.Host{Tier: "prod"}, Command: "systemctl stop nginx"})
	assert.NotContains(t, d.Hint, "tier")
}

func TestNoDecisionAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rules.New(rules.Config{}).Decide(ctx, policy.Request{Command: "ls"})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestTheWorstPartDecides(t *testing.T) {
	e := rules.New(rules.Config{})
	d := decide(t, e, policy.Request{Principal: "agent/a", Command: "ls; touch /srv/x; cat /etc/hosts"})
	assert.Equal(t, policy.Ask, d.Verdict)
	assert.Equal(t, "builtin/write", d.Rule)
}

func TestAllowsTellsWhetherTheShellsStateMatters(t *testing.T) {
	e := rules.New(rules.Config{})
	assert.True(t, e.Allows("operator/ada", hosts.Host{}, policy.Unknown))
	assert.False(t, e.Allows("agent/mcp", hosts.Host{}, policy.Unknown))
	assert.True(t, e.Allows("agent/mcp", hosts.Host{}, policy.ReadOnly))
}

// Judging takes time, so what was judged is shared.
func TestACommandIsJudgedOnce(t *testing.T) {
	e := rules.New(rules.Config{})
	req := policy.Request{Principal: "operator/ada", Command: "touch a; touch b"}
	first, again := e.Judge(req), e.Judge(req)
	require.Len(t, first.Parts, 2)
	assert.Same(t, &first.Parts[0], &again.Parts[0])
	req.Dir = "/srv"
	elsewhere := e.Judge(req)
	assert.NotSame(t, &first.Parts[0], &elsewhere.Parts[0])
}
