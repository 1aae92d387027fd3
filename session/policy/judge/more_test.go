package judge_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// The files in testdata/more hold one command a line; after "E:" it is written as in a Go string.
func TestEverydayAndHostileCommandsGetTheirVerdict(t *testing.T) {
	atLeast := map[policy.Verdict]int{policy.Deny: 630, policy.Ask: 540, policy.Allow: 430}
	for _, want := range []policy.Verdict{policy.Deny, policy.Ask, policy.Allow} {
		f, err := os.Open(filepath.Join("testdata", "more", want.String()+".txt"))
		require.NoError(t, err)
		defer f.Close()
		n := 0
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			c := sc.Text()
			if e, escaped := strings.CutPrefix(c, "E:"); escaped {
				c, err = strconv.Unquote(`"` + strings.ReplaceAll(e, `"`, `\"`) + `"`)
				require.NoError(t, err, e)
			}
			n++
			r := judge.Judge(judge.Request{Script: c})
			assert.Equal(t, want, agent(r.Class), "%q: %s: %s", c, r.Rule, r.Reason)
		}
		require.NoError(t, sc.Err())
		assert.GreaterOrEqual(t, n, atLeast[want], "cases of %s are missing", want)
		fmt.Printf("more policy cases: %d %s\n", n, want)
	}
}
