package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/session"
)

func TestTheExampleInTheREADMEIsRight(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(text), "```yaml\nstore:")
	require.True(t, ok)
	example, _, _ := strings.Cut(after, "```")
	c, err := config.Parse("README.md", []byte("store:"+example))
	require.NoError(t, err)
	assert.Len(t, c.Notify, 2)
	assert.Equal(t, session.DefaultApprovalTimeout, c.Approvals.Expire, "the usual one")
	assert.True(t, c.Audit.Outputs)
}
