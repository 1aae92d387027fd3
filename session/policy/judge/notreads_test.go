package judge_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestWhatLooksLikeAReadAndIsNone(t *testing.T) {
	raw, err := os.ReadFile("testdata/notreads.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		for _, shell := range []string{"", "bash", "zsh", "dash", "ksh", "mksh", "ash"} {
			r := judge.Judge(judge.Request{Script: line, Shell: shell})
			if !assert.NotEqual(t, policy.ReadOnly, r.Class, "%s in %q: %s: %s", line, shell, r.Rule, r.Reason) {
				break
			}
		}
	}
}
