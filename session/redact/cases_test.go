package redact_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// everyCase returns the lines of a file of cases, without comments.
func everyCase(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var out []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			out = append(out, line)
		}
	}
	require.GreaterOrEqual(t, len(out), map[string]int{"taken.txt": 140, "kept.txt": 110, "shapes.txt": 900, "harmless.txt": 680}[name], "cases are missing from %s", name)
	return out
}

// caseLines are all of them, but for the race detector some of many: there is one goroutine.
func caseLines(t testing.TB, name string) []string {
	t.Helper()
	all := everyCase(t, name)
	if !needs.Detector || len(all) < 400 {
		return all
	}
	var few []string
	for i := 0; i < len(all); i += 8 {
		few = append(few, all[i])
	}
	return few
}

func TestWhatLooksLikeASecretIsTakenOut(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range caseLines(t, "taken.txt") {
		kind, example, found := strings.Cut(line, " | ")
		require.True(t, found, line)
		checkTaken(t, kind, example)
		seen[kind] = true
	}
	for _, kind := range redact.Kinds() {
		assert.True(t, seen[kind], "no case of %s", kind)
	}
}

func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	for _, line := range caseLines(t, "kept.txt") {
		text := expand(line)
		for _, frame := range [][2]string{{"", ""}, {"before\n", "\nafter\n"}} {
			whole := frame[0] + text + frame[1]
			got, _ := redact.New(redact.Config{}).String(whole, redact.Guarded)
			assert.Equal(t, whole, got)
		}
	}
}

func TestNothingButOwnSecretsIsHiddenFromEverybody(t *testing.T) {
	s := knownSet(t)
	got, counts := s.String("password=hunter3 "+known+" "+own+" x", redact.Everybody)
	assert.Regexp(t, `^password=hunter3 hunter2\S+ «redacted:sudo:[0-9a-f]{8}» x$`, got)
	assert.Equal(t, redact.Counts{Kinds: map[string]int{"sudo": 1}, Bytes: int64(len(own))}, counts)
}
