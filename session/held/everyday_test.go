package held_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// What is read held is what is read plainly, to the byte: of the everyday reads that are judged to fit, all but what varies when it is
// run plainly twice.
func TestEverydayReadsPrintTheSameHeld(t *testing.T) {
	t.Parallel()
	file, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: role=agent, reads: held}\n"), "policy.yaml")
	require.NoError(t, err)
	engine := rules.New(rules.Config{User: file})
	var lines []string
	for _, name := range []string{"../policy/judge/testdata/everyday.txt", "testdata/reads.txt"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	inside := map[int]*shell{newest: hold(t, "bash", newest), 0: hold(t, "bash", 0)}
	outside, err := start(t, framing.Shell{Name: "bash"}, nil)
	require.NoError(t, err)
	dir := t.TempDir()
	prepare := "cd " + dir
	if _, err := exec.LookPath("git"); err == nil {
		prepare += " && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first"
	}
	prepare += ` && printf '%s\n' 'start 3 foo' 'a 1 x' 'end 2 y' >f && cp f a && cp f g && gzip -k f && mkdir -p d/e && printf 'k,v\n1,2\n' | tee a.csv b.csv >data.csv &&
printf '%s' '{"a": "aGk=", "items": [{"id": 7, "status": "failed"}]}' | tee f.json >out.json`
	require.Zero(t, outside.run("("+prepare+")").code)
	for _, s := range []*shell{outside, inside[0], inside[newest]} {
		require.Zero(t, s.run("cd "+dir).code)
	}
	fit, same := 0, 0
	for i, line := range lines {
		if needs.Sample && i%5 > 0 { // what differs is no code of Go
			continue
		}
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "pstree") { // which shows itself, below the shell that runs it
			continue
		}
		d, err := engine.Decide(t.Context(), policy.Request{Principal: "agent/a", Host: hosts.Host{Name: "h"}, Shell: "bash", Command: line})
		require.NoError(t, err)
		if d.Verdict != policy.Allow || d.Unheld == nil {
			continue
		}
		fit++
		script := "(" + line + "\n) </dev/null"
		version := newest
		if fit%2 == 0 {
			version = 0 // the two differ in how they hold what is below, and not by program
		}
		s := inside[version]
		plain, now := inOrder(outside.run(script)), inOrder(s.run(script))
		for try := 0; plain != now && try < 3; try++ { // what varies by itself is no difference
			if again := inOrder(outside.run(script)); again != plain {
				plain = now
			} else {
				now = inOrder(s.run(script))
			}
		}
		if assert.Equal(t, plain, now, "%d: %s", version, line) {
			same++
		}
	}
	t.Logf("%d reads are run held", fit)
	if !needs.Sample {
		assert.Greater(t, fit, 300)
	}
	assert.Equal(t, fit, same)
}

// inOrder is an outcome whose errors are sorted: programs beside each other speak in any order.
func inOrder(o outcome) outcome {
	lines := strings.SplitAfter(o.stderr, "\n")
	slices.Sort(lines)
	o.stderr = strings.Join(lines, "")
	return o
}
