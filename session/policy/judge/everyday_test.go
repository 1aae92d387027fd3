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
		if r := judge.Judge(judge.Request{Script: line, Shell: "bash"}); agent(r.Class) == policy.Allow {
			allowed++
		} else {
			t.Logf("%s: %s (%s)", line, r.Reason, r.Rule)
		}
	}
	t.Logf("%d of %d are allowed (%.1f %%)", allowed, total, 100*float64(allowed)/float64(total))
	assert.GreaterOrEqual(t, total, 300)
	assert.GreaterOrEqual(t, float64(allowed)/float64(total), 0.92)
}

func TestAssignmentsThatMeanNothingToShellsAndPrograms(t *testing.T) {
	for script, want := range map[string]policy.Verdict{
		`n=$(wc -l <f); echo $n`: policy.Allow,
		`n=5`:                    policy.Allow,
		`file=/var/log/syslog; tail -n 5 "$file"`: policy.Allow,
		`diff <(ls a) <(ls b)`:                    policy.Allow,
		`timeout 10 tail -f /var/log/syslog`:      policy.Allow,
		`timeout 10 nice tail -f /var/log/syslog`: policy.Allow,
		`timeout 10 ls; tail -f /var/log/syslog`:  policy.Ask,
		`n=$(touch pwned)`:                        policy.Ask,
		`n=touch; $n pwned`:                       policy.Ask,
		`file=/etc/shadow`:                        policy.Ask,
		`n='a[$(touch pwned)]'; echo $((n))`:      policy.Ask,
		`n='a[$(touch pwned)]'; [[ $n -eq 0 ]]`:   policy.Ask,
		`n='a[$(touch pwned)]'; printf '%d' "$n"`: policy.Ask,
		`n='a[$(touch pwned)]'; test -v "$n"`:     policy.Ask,
		`n='a[$(touch pwned)]'; echo "${x:n}"`:    policy.Ask,
		`n='$(touch pwned)'; eval "$n"`:           policy.Ask,
		`n='-exec touch pwned ;'; find . $n`:      policy.Ask,
		`n=-opwned; sort $n f`:                    policy.Ask,
		`PATH=.; ls`:                              policy.Ask,
		`IFS=/`:                                   policy.Ask,
		`path=.; ls`:                              policy.Ask,
		`http_proxy=x`:                            policy.Ask,
		`n+=1`:                                    policy.Ask,
		`a[$(touch pwned)]=1`:                     policy.Ask,
		`diff <(touch pwned) b`:                   policy.Ask,
		`cat /dev/fd/$x`:                          policy.Ask,
	} {
		for _, shell := range shells {
			r := judge.Judge(judge.Request{Script: script, Shell: shell})
			if got := agent(r.Class); want == policy.Allow && shell == "bash" || want == policy.Ask {
				assert.Equal(t, want, got, "%s in %q: %s: %s", script, shell, r.Rule, r.Reason)
			}
		}
	}
}
