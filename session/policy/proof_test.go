package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestATouchIsMoreThanAPassphraseAndThatMoreThanNothing(t *testing.T) {
	order := []policy.Proof{"", policy.Unproven, policy.Passphrase, policy.Touch}
	for i, p := range order {
		for j, least := range order {
			assert.Equal(t, i >= j, p.AtLeast(least), "%q for %q", p, least)
			assert.Equal(t, order[max(i, j)], p.Stronger(least))
			assert.Equal(t, order[min(i, j)], p.Weaker(least))
		}
		assert.Equal(t, i > 0, p.Known())
		assert.False(t, p.AtLeast("oath"), "what nobody knows is not reached")
		assert.Equal(t, i == 0, policy.Proof("oath").AtLeast(p))
	}
	stricter := []policy.Proof{policy.Unproven, "", policy.Passphrase, policy.Touch, "oath"}
	for i, p := range stricter {
		for j, other := range stricter {
			assert.Equal(t, stricter[max(i, j)], policy.Strictest(p, other), "%q and %q", p, other)
		}
		assert.Equal(t, p, policy.Strictest(p))
	}
	assert.Empty(t, policy.Strictest())
	for _, unknown := range [][2]policy.Proof{{"", "oath"}, {"oath", ""}} {
		assert.Equal(t, unknown[0], unknown[0].Stronger(unknown[1]), "of equals the first")
		assert.Equal(t, unknown[0], unknown[0].Weaker(unknown[1]), "of equals the first")
	}
}
