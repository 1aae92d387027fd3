package redact_test

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// withSilence is what comes out of text with a silence after its first n bytes, with marks cut down to their kind.
func withSilence(t *testing.T, s *redact.Set, text string, n int) (string, redact.Counts) {
	t.Helper()
	var out bytes.Buffer
	w := s.Writer(&out, redact.Guarded)
	_, err := w.Write([]byte(text[:n]))
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	_, err = w.Write([]byte(text[n:]))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return mark.ReplaceAllString(out.String(), "«$1»"), w.Counts()
}

// Wherever the source falls silent, what comes after it of a secret is taken out, and nothing else is; what came before it of the same
// secret may show.
func TestASilenceShowsNothingOfWhatComesAfterIt(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for k, line := range slices.Concat(caseLines(t, "taken.txt"), caseLines(t, "shapes.txt")) {
		kind, example, _ := strings.Cut(line, " | ")
		text, secrets := marked(t, example)
		text += "\nafter\n"
		if strings.Contains(text, "«redacted") {
			continue
		}
		var from, to []int
		for at := 0; len(from) < len(secrets); {
			secret := secrets[len(from)]
			i := at + strings.Index(text[at:], secret)
			from, to, at = append(from, i), append(to, i+len(secret)), i+len(secret)
		}
		for n := k % 2; n < len(text); n += 2 {
			got, counts := withSilence(t, s, text, n)
			// From the silence on, or from the end of the secret that it was in, all is as without it.
			tail, at := "", n
			for k := range from {
				switch {
				case from[k] >= n:
					tail += text[at:from[k]] + "«" + kind + "»"
					at = to[k]
				case to[k] > n:
					at = to[k]
				}
			}
			tail += text[at:]
			require.True(t, strings.HasSuffix(got, tail), "silent after %q of %q: %q", text[:n], text, got)
			// Before that, what is shown came before the silence.
			head := anyMark.ReplaceAllString(strings.TrimSuffix(got, tail), "")
			for i := range n {
				if head != "" && text[i] == head[0] {
					head = head[1:]
				}
			}
			require.Empty(t, head, "silent after %q of %q: %q", text[:n], text, got)
			require.Equal(t, len(text), len(anyMark.ReplaceAllString(got, ""))+int(counts.Bytes), "silent after %q of %q", text[:n], text)
		}
	}
}

var anyMark = regexp.MustCompile(`«[a-z0-9-]+»`)

// Of a text without a secret all is shown in the end, wherever the source falls silent.
func TestASilenceTakesNothingOut(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for _, line := range slices.Concat(caseLines(t, "kept.txt"), caseLines(t, "harmless.txt")) {
		text := "before\n" + expand(line) + "\n"
		for _, text := range []string{text, base64.StdEncoding.EncodeToString([]byte(text)) + "\n"} {
			for n := len(line) % 3; n < len(text); n += 3 {
				if _, sofar := s.String(text[:n], redact.Guarded); sofar.Total() > 0 {
					continue // the end of the text would take out as much
				}
				got, counts := withSilence(t, s, text, n)
				require.Equal(t, text, got, "silent after %q", text[:n])
				require.Zero(t, counts.Total())
			}
		}
	}
}
