package rules_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// An unknown command of an agent is tried first outside prod, and where the policy says so; nothing else that asks is.
func TestUnknownCommandsOfAgentsAreTriedFirst(t *testing.T) {
	plain := rules.New(rules.Config{})
	said := rules.New(rules.Config{User: parse(t, `
version: 1
rules:
  - {name: queue, hosts: all, principals: ["role=agent"], programs: ["take *"], verdict: ask}
  - {name: reads, hosts: all, principals: ["role=agent"], programs: ["cat *"], verdict: ask}
  - {name: fetch, hosts: all, principals: ["role=agent"], classes: [network-read], verdict: allow}
principals:
  - {name: role=agent, unknown: held-first}
  - {name: agent/asks, unknown: ask}
  - {name: role=operator, unknown: held-first}
`)})
	for _, c := range []struct {
		e            *rules.Engine
		who, tier    string
		command      string
		want, shapes bool
	}{
		{plain, "agent/a", "dev", "frobnicate", true, false},
		{plain, "agent/a", "staging", "frobnicate --all /etc | head", true, false},
		{plain, "agent/a", "dev", "./script.sh", true, false},
		{plain, "agent/a", "dev", "perl -e 'print 1'", true, false},
		{plain, "agent/a", "dev", "cd /srv && frobnicate", true, false},
		{plain, "agent/a", "dev", "x=1; frobnicate", true, true},
		{plain, "agent/a", "dev", `eval "$x"`, true, true},
		{plain, "agent/a", "dev", ". ./file", true, true},
		{plain, "agent/a", "dev", "$cmd", true, true},
		{plain, "agent/a", "prod", "frobnicate", false, false},
		{plain, "agent/a", "", "frobnicate", false, false},
		{plain, "agent/a", "dev", "uptime", false, false},
		{plain, "agent/a", "dev", "touch x", false, false},
		{plain, "agent/a", "dev", "frobnicate; touch x", false, false},
		{plain, "agent/a", "dev", "frobnicate; cat /etc/shadow", false, false},
		{plain, "agent/a", "dev", "frobnicate; curl http://example.com/", false, false},
		{plain, "agent/a", "dev", "sudo frobnicate", false, false},
		{plain, "agent/a", "dev", "frobnicate; lsof -ni", false, false},
		{plain, "operator/a", "dev", "frobnicate", false, false},
		{plain, "program/a", "dev", "frobnicate", false, false},
		{said, "agent/a", "prod", "frobnicate", true, false},
		{said, "agent/asks", "dev", "frobnicate", false, false},
		{said, "agent/a", "dev", "take one", false, false},
		{said, "agent/a", "dev", "frobnicate; take one", false, false},
		{said, "agent/a", "dev", "cat /etc/hosts; frobnicate", false, false},
		{said, "operator/a", "prod", "frobnicate", false, false},
	} {
		d, err := c.e.Decide(t.Context(), policy.Request{Principal: c.who, Host: hosts.Host{Name: "web1", Tier: c.tier}, Command: c.command})
		require.NoError(t, err)
		assert.Equal(t, c.want, d.First != nil, "%s on %q: %s: %+v", c.who, c.tier, c.command, d)
		if d.First != nil {
			assert.Equal(t, policy.Ask, d.Verdict)
			assert.Equal(t, c.shapes, d.First.Shapes, c.command)
			assert.NotEmpty(t, d.First.Closed)
		}
	}
	d, err := plain.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "web1", Tier: "dev"}, Command: "frobnicate $x", Set: []string{"x"}})
	require.NoError(t, err)
	assert.Nil(t, d.First, "it rests on what the session has set")
}

// The user's file may not have tried what the system's wants asked.
func TestTheUsersFileCannotHaveTriedWhatTheSystemWantsAsked(t *testing.T) {
	ask, first := limits(t, "  - {name: role=agent, unknown: ask}\n"), limits(t, "  - {name: role=agent, unknown: held-first}\n")
	assert.Equal(t, rules.UnknownAsks, rules.New(rules.Config{System: ask, User: first}).Limits("agent/a").Unknown)
	assert.Equal(t, rules.UnknownAsks, rules.New(rules.Config{System: first, User: ask}).Limits("agent/a").Unknown)
	assert.Equal(t, "", rules.New(rules.Config{System: limits(t, "  - {name: role=agent, daily: 7}\n"), User: first}).Limits("agent/a").Unknown)
	_, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: role=agent, unknown: never}\n"), "policy.yaml")
	assert.ErrorContains(t, err, `unknown: "never" is not one of held-first, ask`)
}

func TestOnTooManyHostsNothingIsTriedFirst(t *testing.T) {
	e := rules.New(rules.Config{})
	for n, tried := range map[int]bool{rules.DefaultMaxHosts: true, rules.DefaultMaxHosts + 1: false} {
		reqs := make([]policy.Request, n)
		for i := range reqs {
			reqs[i] = policy.Request{Principal: "agent/a", Host: hosts.Host{Name: fmt.Sprint("h", i), Tier: "dev"}, Command: "frobnicate"}
		}
		_, d, err := e.JudgeMany(t.Context(), reqs)
		require.NoError(t, err)
		assert.Equal(t, policy.Ask, d.Verdict)
		assert.Equal(t, tried, d.First != nil, "%d hosts", n)
	}
}
