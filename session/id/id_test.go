package id_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/id"
)

func TestIdentifiersAreOfOneForm(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		got := id.New("x_")
		assert.Regexp(t, `^x_[a-z2-7]{13}$`, got)
		assert.True(t, id.Valid("x_", got))
		assert.False(t, seen[got], "twice: %s", got)
		seen[got] = true
	}
	assert.Regexp(t, `^[a-z2-7]{26}$`, id.Secret())
	for _, bad := range []string{"", "x_", "y_aaaaaaaaaaaaa", "x_aaaaaaaaaaaa", "x_aaaaaaaaaaaaaa", "x_AAAAAAAAAAAAA", "x_aaaaaaaaaaaa1", "x_aaaaaaaaaaaa/"} {
		assert.False(t, id.Valid("x_", bad), bad)
	}
}
