package redact_test

import (
	"encoding/base64"
	"regexp"
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

// What base64 makes of a text with secrets shows none of them, on one line and on many, whatever stands around it.
func TestSecretsInBase64AreTakenOut(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for _, line := range append(caseLines(t, "shapes.txt"), caseLines(t, "taken.txt")...) {
		if bareInside.MatchString(line) {
			continue // has neither a name nor a prefix: see the package comment
		}
		_, example, _ := strings.Cut(line, " | ")
		text, secrets := marked(t, example)
		text = "# a comment that comes before\n" + text + "\nafter\n"
		if plain, _ := s.String(text, redact.Guarded); plain == text {
			continue
		}
		for name, coded := range map[string]string{
			"one line": base64.StdEncoding.EncodeToString([]byte(text)),
			"url":      base64.RawURLEncoding.EncodeToString([]byte(text)),
			"wrapped":  wrap(base64.StdEncoding.EncodeToString([]byte(text)), 76),
			"indented": "key: " + strings.ReplaceAll(wrap(base64.StdEncoding.EncodeToString([]byte(text)), 64), "\n", "\n  "),
		} {
			whole := "x: " + coded + "\n(after it)\n"
			got, counts := s.String(whole, redact.Guarded)
			assert.Positive(t, counts.Total(), "%s: %s", name, text)
			assert.NotEqual(t, whole, got)
			assert.True(t, strings.HasSuffix(got, "(after it)\n"), "%s: %s", name, got)
			rest := regexp.MustCompile(`«[^»]*»|\s`).ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(got, "x: "), "(after it)\n"), "=")
			for part := range strings.SplitSeq(rest, "=") {
				for _, secret := range secrets {
					for from := range 3 {
						if in := base64.RawStdEncoding.EncodeToString([]byte(secret[min(len(secret), from):])); len(in) > 12 {
							assert.NotContains(t, part, in[:len(in)-2], name)
						}
					}
				}
			}
			for i := 0; i < len(whole); i += 7 {
				cut, _ := inPieces(t, s, redact.Guarded, whole[:i], whole[i:])
				require.Equal(t, got, cut, "%s: split at %d", name, i)
			}
		}
	}
}

var bareInside = regexp.MustCompile(`^(?:private-key|aws-secret-key) \| .*[A-Za-z0-9]{3}‹`)

func wrap(s string, width int) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s
}
