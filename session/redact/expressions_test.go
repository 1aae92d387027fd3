package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// An expression is compiled when its keyword first turns up, so that a short run does not pay for those that it never needs.
func TestEveryExpressionCompiles(t *testing.T) {
	all := redact.Expressions()
	require.Greater(t, len(all), 100)
	for _, re := range all {
		assert.NotPanics(t, func() { re.Get() }, re.String())
	}
}
