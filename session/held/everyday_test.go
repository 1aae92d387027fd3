package held_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// What is read held is what is read plainly, to the byte: of the everyday reads that are judged to fit, all but what varies when it is
// run plainly twice.
func TestEverydayReadsPrintTheSameHeld(t *testing.T) {
	t.Parallel()
	file, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: role=agent, reads: held}\n"), "policy.yaml")
	require.NoError(t, err)
	engine := rules.New(rules.Config{User: file})
	text, err := os.ReadFile("../policy/judge/testdata/everyday.txt")
	require.NoError(t, err)
	inside := hold(t, "bash", newest)
	outside, err := start(t, framing.Shell{Name: "bash"}, nil)
	require.NoError(t, err)
	dir := t.TempDir()
	prepare := "cd " + dir
	if _, err := exec.LookPath("git"); err == nil {
		prepare += " && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first"
	}
	require.Zero(t, outside.run(prepare).code)
	require.Zero(t, inside.run("cd "+dir).code)
	fit, same := 0, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		d, err := engine.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Shell: "bash", Command: line})
		require.NoError(t, err)
		if d.Verdict != policy.Allow || d.Unheld == nil {
			continue
		}
		fit++
		script := "(" + line + "\n) </dev/null"
		plain, now := outside.run(script), inside.run(script)
		for try := 0; plain != now && try < 3; try++ { // what varies by itself is no difference
			if again := outside.run(script); again != plain {
				plain = now
			} else {
				now = inside.run(script)
			}
		}
		if assert.Equal(t, plain, now, "%s", line) {
			same++
		}
	}
	t.Logf("%d reads are run held", fit)
	assert.Greater(t, fit, 230)
	assert.Equal(t, fit, same)
}
