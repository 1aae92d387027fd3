package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What is used again needs no room in a report.
func TestANameThatIsUsedOftenCountsOnce(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "echo \"$a\" \"$b\" \"$c\" %d\n", i)
	}
	r := judge.Judge(judge.Request{Script: b.String(), Shell: "bash"})
	assert.Equal(t, policy.ReadOnly, r.Class, r.Reason)
	assert.False(t, r.Capped)
	b.Reset()
	b.WriteString("ls")
	for i := range 600 {
		fmt.Fprintf(&b, " \"$a%d\"", i)
	}
	r = judge.Judge(judge.Request{Script: b.String(), Shell: "bash"})
	assert.True(t, r.Capped)
	assert.Equal(t, policy.Unknown, r.Class)
}
