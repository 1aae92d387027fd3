package programs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Whoever looks at a server should not be asked at every step.
func TestLookingAtAServerIsARead(t *testing.T) {
	raw, err := os.ReadFile("testdata/looking.tsv")
	require.NoError(t, err)
	total, reads := 0, 0
	seen := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		require.GreaterOrEqual(t, len(fields), 2, line)
		assert.False(t, seen[fields[1]], "twice: %s", fields[1])
		seen[fields[1]] = true
		total++
		got := judge(t, strings.ReplaceAll(fields[1], "< /dev/null", ""))
		if fields[0] == string(policy.ReadOnly) {
			reads++
		} else {
			assert.Len(t, fields, 3, "no reason: %s", line)
		}
		assert.Equal(t, policy.Class(fields[0]), got.class, "%s: %s", fields[1], got.reason)
	}
	t.Logf("%d of %d are reads", reads, total)
	assert.GreaterOrEqual(t, total, 490, "cases are missing")
	assert.GreaterOrEqual(t, float64(reads)/float64(total), 0.9)
}
