package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// One redirect that does harm is enough, wherever it stands among others that do none.
func TestAnyRedirectOfManyCounts(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "programs: ['deploy *']"))})
	for _, one := range []string{"", "2>/dev/null", "2>&1", ">/dev/null", "</dev/null", ">>/dev/null", "1>&2", "> f", ">> f", "< f", "3>&1", "2>&3", ">| f", "<> f", "&> f", "2> f", ">&f", "<<< x"} {
		for _, other := range []string{"", "2>/dev/null", "2>&1", "> f"} {
			good := !strings.ContainsAny(one+other, "f3|x")
			for _, command := range []string{"deploy a " + one + " " + other, "deploy a " + other + " " + one, one + " deploy a " + other, "deploy " + one + " a " + other} {
				d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
				assert.Equal(t, good, d.Verdict == policy.Allow, "%s: %s", command, d.Reason)
			}
		}
	}
}

// Every command of a pipeline and of a list is one by itself: all must be what the rule allows.
func TestEachCommandOfAListMustBeAllowed(t *testing.T) {
	e := rules.New(rules.Config{User: file(t, rule("p", "allow", "programs: ['deploy *', 'roll *']"))})
	for command, want := range map[string]bool{
		"deploy a | roll b": true, "deploy a |& roll b": true, "deploy a && roll b | deploy c": true, "deploy a; roll b || deploy c": true, "deploy a | roll b | deploy c": true, "deploy a | grep x": true, "ls | roll b": true,
		"deploy a | other b": false, "other a | deploy b": false, "deploy a | other b | roll c": false, "deploy a && other b": false, "deploy a; other": false, "! deploy a | roll b": false, "deploy a | roll b &": false, "(deploy a) | roll b": false,
		"deploy a | roll b > f": false, "deploy a > f | roll b": false, "deploy a & roll b": false, "x=1 deploy a": false, "deploy a && (roll b)": false, "deploy a | { roll b; }": false,
	} {
		d := decide(t, e, policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h", Tier: "dev"}, Command: command, Shell: "bash"})
		assert.Equal(t, want, d.Verdict == policy.Allow, "%s: %s", command, d.Reason)
	}
}

// Where there are too many to count, half of them go, and those of days gone by before all others.
func TestHowManyPrincipalsAreCounted(t *testing.T) {
	e := rules.New(rules.Config{User: limits(t, "  - {name: role=agent, daily: 2}\n")})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 10_000 {
		require.NoError(t, e.Admit(fmt.Sprint("agent/", i), now))
	}
	assert.Equal(t, 10_000, e.Metered())
	require.NoError(t, e.Admit("agent/0", now), "one who is counted already takes no room")
	assert.Equal(t, 10_000, e.Metered())
	require.NoError(t, e.Admit("agent/new", now))
	assert.Equal(t, 5_001, e.Metered())
	for i := range 4_999 {
		require.NoError(t, e.Admit(fmt.Sprint("agent/next", i), now.AddDate(0, 0, 1)))
	}
	assert.Equal(t, 10_000, e.Metered())
	require.NoError(t, e.Admit("agent/last", now.AddDate(0, 0, 1)))
	assert.Equal(t, 5_000, e.Metered(), "those of the day before are gone, and nobody else")
}
