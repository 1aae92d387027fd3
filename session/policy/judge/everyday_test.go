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

func TestEverydayReadsNeedNoApproval(t *testing.T) {
	raw, err := os.ReadFile("testdata/everyday.txt")
	require.NoError(t, err)
	total, allowed := 0, 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		total++
		if r := judge.Judge(judge.Request{Script: line}); judge.Agent(r.Class) == policy.Allow {
			allowed++
		} else {
			t.Logf("%s: %s (%s)", line, r.Reason, r.Rule)
		}
	}
	t.Logf("%d of %d are allowed (%.1f %%)", allowed, total, 100*float64(allowed)/float64(total))
	assert.GreaterOrEqual(t, total, 300)
	assert.GreaterOrEqual(t, float64(allowed)/float64(total), 0.92)
}
