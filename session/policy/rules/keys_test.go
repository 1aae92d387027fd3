package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

func TestKeysAreFreeAndTextIsNot(t *testing.T) {
	e := rules.New(rules.Config{})
	for input, want := range map[string]policy.Verdict{
		"\x03": policy.Allow, "\x04": policy.Allow, "q": policy.Allow, "\r": policy.Allow, "\x1b[A\x1b[B\n": policy.Allow, "\x1b[6~": policy.Allow,
		"ls\n": policy.Ask, "!sh\n": policy.Ask, "qq": policy.Ask, "\x03ls": policy.Ask, ":": policy.Ask, "\x1b": policy.Ask, "\x1a": policy.Ask, "\x1b[200~": policy.Ask,
	} {
		d, err := e.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Command: "less /etc/hosts", Interactive: true, Input: input})
		require.NoError(t, err)
		assert.Equal(t, want, d.Verdict, "%q", input)
	}
}
