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
