package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Where find begins may be the secret file itself, and so may what a test names in other words than -name does.
func TestWhatFindBeginsWithIsReadToo(t *testing.T) {
	for _, script := range []string{
		"find /etc/shadow -exec cat {} +",
		"find -L /etc/shadow -size -1k -exec head {} \\;",
		"find /etc/shad* -exec cat {} +",
		"find .env -exec grep . {} +",
		"find src ./.env -type f -exec head -n 3 {} +",
		"find /proc/self/environ -exec cat {} \\;",
		"find ~/.pgpass -name '*pass' -exec cat {} +",
		"find . -samefile .env -exec cat {} +",
		"find . -samefile /etc/shadow | xargs cat",
		"find . -lname '*/.env' -exec cat {} +",
		"find . -lname /etc/shadow -exec cat {} +",
		`find . -regex '.*\.env' -exec cat {} +`,
		`find . -regex './x/\(id_rsa\|y\)' -exec cat {} +`,
		`fd -H '^\.env$' | xargs cat`,
		`ls -A | grep '^.env$' | xargs cat`,
		`ls -A | grep -E '^(\.env|x)$' | xargs cat`,
		`ls | grep '\.key$' | xargs head`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.SensitiveRead, r.Class, "%s: %s: %s", script, r.Rule, r.Reason)
	}
	for _, script := range []string{
		"find /etc/hosts -exec cat {} +",
		"find /etc/shadow -exec ls -l {} +",
		"find /etc/shadow -exec stat {} +",
		"find . -samefile go.mod -exec cat {} +",
		`find . -regex '.*\.go' -exec wc -l {} +`,
		`find . -type f | grep -E '\.(go|py)$' | xargs wc -l`,
		`ls | grep '\.log$' | xargs tail`,
		`ls | grep -v '^\.' | xargs head`,
		`git ls-files | grep '_test\.go$' | xargs grep -l Parallel`,
	} {
		r := judge.Judge(judge.Request{Script: script, Shell: "bash"})
		assert.Equal(t, policy.Allow, agent(r.Class), "%s: %s: %s", script, r.Rule, r.Reason)
	}
}
