package programs_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// GNU sed refuses, in its sandbox and before it runs anything, every script that runs commands or reads or writes
// files. Whatever it refuses must be no plain read here.
func TestSedItselfFindsNothingThatThisReaderMissed(t *testing.T) {
	sed, err := exec.LookPath("sed")
	if err != nil {
		needs.Part(t, "no sed")
	}
	if out, _ := exec.Command(sed, "--version").Output(); !strings.Contains(string(out), "GNU sed") {
		needs.Part(t, "not GNU sed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"s", "/", "/", "/", "a", "e", "w", "e", "w", "r", "W", "R", "x", "\\", "\n", ";", "}", "{", "[", "]", "^", ":", "$", "1", ",", "!", " ", "#", "i\\",
		"y/a/b/", "s/a/b/", "s|[|]|", "p", "q", "c", "b", "t", "\\,", "+1", "~2", "&", "g", "I", "M", "0", "n", "-", "z", "w x", "e id", "\\\n"}
	rounds := 150
	if testing.Short() {
		rounds = 50
	}
	refused := 0
	for range rounds {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		script := b.String()
		cmd := exec.Command(sed, "--sandbox", "-n", "--", script)
		out, err := cmd.CombinedOutput()
		got := programs.Judge(programs.Call{Name: "sed", Args: []programs.Arg{{Text: "-n", Literal: true}, {Text: "--", Literal: true}, {Text: script, Literal: true}}})
		if err != nil && strings.Contains(string(out), "sandbox") {
			refused++
			plain := got.Class == policy.ReadOnly && len(got.Paths) == 0
			require.False(t, plain, "sed refuses %q: %s", script, out)
		}
	}
	t.Logf("%d of %d scripts refused", refused, rounds)
}
