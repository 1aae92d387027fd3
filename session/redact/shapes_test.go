package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

func TestSecretsInTheShapesOfFilesAreTakenOut(t *testing.T) {
	for _, line := range caseLines(t, "shapes.txt") {
		kind, example, found := strings.Cut(line, " | ")
		require.True(t, found, line)
		t.Run(kind, func(t *testing.T) { checkTaken(t, kind, example) })
	}
}

func TestHarmlessLookAlikesAreLeftAlone(t *testing.T) {
	for _, line := range caseLines(t, "harmless.txt") {
		text := expand(line)
		for _, frame := range [][2]string{{"", ""}, {"before\n", "\nafter\n"}} {
			whole := frame[0] + text + frame[1]
			got, _ := redact.New(redact.Config{}).String(whole, redact.Guarded)
			assert.Equal(t, whole, got)
		}
	}
}

// Where a stream is cut does not matter: every cut of every shape gives what the whole gives, and so do single bytes.
func TestCutsInTheShapesChangeNothing(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for _, line := range append(caseLines(t, "shapes.txt"), caseLines(t, "harmless.txt")...) {
		if _, example, found := strings.Cut(line, " | "); found {
			line = example
		}
		text, _ := marked(t, line)
		text = "before\n" + text + "\nafter\n"
		want, counts := s.String(text, redact.Guarded)
		for i := range len(text) {
			got, n := inPieces(t, s, redact.Guarded, text[:i], text[i:])
			require.Equal(t, want, got, "split at %d", i)
			require.Equal(t, counts, n, "split at %d", i)
		}
		got, _ := inPieces(t, s, redact.Guarded, strings.Split(text, "")...)
		require.Equal(t, want, got, "single bytes")
		twice, again := s.String(want, redact.Guarded)
		require.Equal(t, want, twice, "a second pass")
		require.Zero(t, again.Total())
	}
}
