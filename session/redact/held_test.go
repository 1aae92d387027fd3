package redact_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// shownSoFar writes a text and returns what came out, before and after a silence.
func shownSoFar(t *testing.T, text string) (at, after string) {
	t.Helper()
	var out bytes.Buffer
	w := redact.New(redact.Config{}).Writer(&out, redact.Guarded)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	at = out.String()
	require.NoError(t, w.Flush())
	after = out.String()
	require.NoError(t, w.Close())
	return at, after
}

func TestASilenceHoldsTheStartsOfTokensAndNothingElse(t *testing.T) {
	for text, want := range map[string]string{
		"found ghp_Zk3Q": "found ", "found ghp_": "found ", "ghp_Zk3Q and": "ghp_Zk3Q and", "xghp_Zk3Q": "xghp_Zk3Q", "my token": "my token",
		"found AKIAQZ": "found ", "AKIA!": "AKIA!", "x-sk-ant-": "x-",
	} {
		_, after := shownSoFar(t, text)
		assert.Equal(t, want, after, text)
	}
}

func TestWhatOnlyBeginsAsAMarkIsNotHeldForLong(t *testing.T) {
	const open = "«redacted:"
	dead := open + strings.Repeat(".", 60) + " "
	at, _ := shownSoFar(t, dead)
	assert.Equal(t, dead, at)
	at, _ = shownSoFar(t, "a "+open+"pass")
	assert.Equal(t, "a ", at, "it may become one")
	whole := open + "password:0123abcd»"
	at, _ = shownSoFar(t, "a "+whole+" b "+whole)
	assert.Equal(t, "a "+whole+" b "+whole, at)
}

func TestAKeyBlockTeachesNothing(t *testing.T) {
	s := redact.New(redact.Config{})
	n := s.LearnFromCommand("cat >k <<E\n-----BEGIN RSA PRIVATE KEY-----\n" + noise(1, 64) + "\n-----END RSA PRIVATE KEY-----\nE")
	assert.Zero(t, n)
	assert.Zero(t, s.Len())
}

// How far back a line is looked at does not depend on how the text is cut.
func TestALineIsLookedAtAsFarBackInPieces(t *testing.T) {
	for _, pad := range []int{0, 100, 126, 127, 128, 129, 130, 300} {
		for _, before := range []string{"", "first line\n"} {
			text := before + strings.Repeat(" ", pad) + "password: correcthorse\n"
			want := guarded(redact.New(redact.Config{}), text)
			if pad <= 100 {
				assert.Equal(t, strings.Replace(text, "correcthorse", "«password»", 1), want)
			}
			for _, cut := range []int{1, 64, 127, 128, 129} {
				var pieces []string
				for rest := text; rest != ""; {
					n := min(cut, len(rest))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				got, _ := inPieces(t, redact.New(redact.Config{}), redact.Guarded, pieces...)
				assert.Equal(t, want, mark.ReplaceAllString(got, "«$1»"), "%d blanks, in pieces of %d", pad, cut)
			}
		}
	}
}
