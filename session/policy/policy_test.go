package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestAVerdictIsReadAsItIsWritten(t *testing.T) {
	for v, text := range map[policy.Verdict]string{policy.Deny: "deny", policy.Ask: "ask", policy.Allow: "allow"} {
		written, err := v.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, text, string(written))
		read := policy.Verdict(9)
		require.NoError(t, read.UnmarshalText(written))
		assert.Equal(t, v, read)
	}
	for _, text := range []string{"", "Allow", "yes", "allow "} {
		read := policy.Allow
		require.NoError(t, read.UnmarshalText([]byte(text)))
		assert.Equal(t, policy.Deny, read, "%q", text)
	}
	assert.Equal(t, "deny", policy.Verdict(9).String())
}

func TestAllowAllKnowsAFewReads(t *testing.T) {
	for class, commands := range map[policy.Class][]string{
		policy.ReadOnly: {"true", ":", "pwd", "id", "whoami", "hostname", "uname", "uname -a", "uptime", "date"},
		policy.Unknown:  {"", "date -s 1", "hostname x", "id; rm x", "true ", "TRUE", "uname -r"},
	} {
		for _, command := range commands {
			d, err := policy.AllowAll.Decide(t.Context(), policy.Request{Command: command})
			require.NoError(t, err)
			assert.Equal(t, policy.Decision{Verdict: policy.Allow, Class: class, Rule: "builtin/allow-all"}, d, "%q", command)
		}
	}
}

// Independent of the list itself: the package's comment says which class is worse than which.
func TestClassesAreOrderedFromTheMildest(t *testing.T) {
	order := []policy.Class{"read-only", "sensitive-read", "network-read", "write", "unknown", "dangerous", "privileged", "forbidden"}
	assert.Equal(t, order, policy.Classes[:])
	for i, a := range order {
		assert.Equal(t, i, a.Rank(), a)
		for j, b := range order {
			assert.Equal(t, i > j, a.Worse(b), "%s and %s", a, b)
			assert.Equal(t, order[max(i, j)], policy.Worst(a, b), "%s and %s", a, b)
		}
	}
	for _, none := range []policy.Class{"", "no-class"} {
		assert.Equal(t, policy.Unknown.Rank(), none.Rank(), "what is not a class counts as unknown")
		assert.True(t, none.Worse(policy.Write))
		assert.True(t, policy.Dangerous.Worse(none))
		assert.Equal(t, none, policy.Worst(none, policy.Unknown), "of equals it is the first")
		assert.Equal(t, policy.Unknown, policy.Worst(policy.Unknown, none))
	}
}
