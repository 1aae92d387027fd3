package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func TestOnlyWhatChangesHowOutputLooksIsInert(t *testing.T) {
	for _, name := range []string{"TZ", "LANG", "LC_ALL", "LC_TIME", "NO_COLOR", "COLUMNS", "LINES"} {
		assert.True(t, policy.Inert(name), name)
	}
	for _, name := range []string{"", "PATH", "LD_PRELOAD", "TZDIR", "LANGUAGE", "lc_all", "XLC_ALL", "BASH_ENV", "GIT_PAGER", "HOME", "IFS", "TERM"} {
		assert.False(t, policy.Inert(name), name)
	}
}
