package redact_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// codedWithout is base64 of a text as it should come out: without the digits that hold a bit of a secret, but for the first three.
func codedWithout(text string, secret []bool, kind, newline string, width int) (coded, want string) {
	hidden := false
	for i, c := range base64.StdEncoding.EncodeToString([]byte(text)) {
		if i > 0 && width > 0 && i%width == 0 {
			coded += newline
			if !hidden {
				want += newline
			}
		}
		coded += string(c)
		now := c != '=' && i >= 3 && (secret[i*6/8] || secret[min((i*6+5)/8, len(text)-1)])
		if hidden && !now {
			want += "«" + kind + "»"
		}
		if hidden = now; !hidden {
			want += string(c)
		}
	}
	if hidden {
		want += "«" + kind + "»"
	}
	return coded, want
}

// What is taken out of base64 are the digits of what would be taken out of the text, however it is broken into lines and cut.
func TestOfBase64TheDigitsOfTheSecretAreTakenOut(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for k, example := range []string{
		"user=kim port=5432\npassword=‹hunter2 and›\nhost = db\n", "user=kim port=5432\npassword=‹hunter2›\nhost = db and more", "host = database1\npassword=‹hunter29›",
		"DB_PASSWORD=‹hunter2›\nuser=kim\nPGPASSWORD=‹correcthorse›\nhost = db.internal\n",
		"pass=‹hunter2›\nhost = database1 and more", // of which a silence may have shown all digits but one
		"pwd=‹hunter›\nhost = database1 and more",   // or all
	} {
		for pad := range 3 {
			example := strings.Repeat(" ", pad) + strings.Replace(example, " and›", "›", 1)
			text, secrets := marked(t, example)
			secret, at := make([]bool, len(text)), 0
			for _, one := range secrets {
				at += strings.Index(text[at:], one)
				for range one {
					secret[at] = true
					at++
				}
			}
			for _, newline := range []string{"\n", "\r\n", "\n \t"} {
				for _, width := range []int{0, 32, 33} {
					coded, want := codedWithout(text, secret, "password", newline, width)
					coded, want = "x: "+coded+"\n(after)\n", "x: "+want+"\n(after)\n"
					got, counts := s.String(coded, redact.Guarded)
					require.Equal(t, want, mark.ReplaceAllString(got, "«$1»"), "%q in lines of %d, ended by %q", text, width, newline)
					require.Equal(t, len(secrets), counts.Total())
					for i := k; i < len(coded); i += 11 {
						cut, n := inPieces(t, s, redact.Guarded, coded[:i], coded[i:])
						require.Equal(t, got, cut, "split at %d", i)
						require.Equal(t, counts, n)
					}
					for i := range len(coded) {
						quiet, n := withSilence(t, s, coded, i)
						require.Equal(t, len(coded), len(anyMark.ReplaceAllString(quiet, ""))+int(n.Bytes)-newlinesIn(coded, want), "silent at %d", i)
						require.True(t, strings.HasSuffix(quiet, "\n(after)\n"))
						if n.Bytes == 0 {
							require.Equal(t, coded, quiet, "a mark stands for nothing: silent at %d", i)
						}
					}
					single, _ := inPieces(t, s, redact.Guarded, strings.Split(coded, "")...)
					require.Equal(t, got, single)
				}
			}
		}
	}
}

// newlinesIn is how many bytes of newlines inside of secrets were left out; they do not count.
func newlinesIn(coded, want string) int {
	count := func(s string) int {
		return strings.Count(s, "\n") + strings.Count(s, "\r") + strings.Count(s, " ") + strings.Count(s, "\t")
	}
	return count(want) - count(coded)
}

// Lines of a key without its head are taken out to the last one, however many there are.
func TestTheInsideOfAKeyIsTakenOutHoweverLongItIs(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	line := expand("{b64:64}")
	counts := []int{1, 2, 61, 62, 63, 64, 65, 130}
	if needs.Detector { // there is one goroutine
		counts = []int{1, 63}
	}
	for _, lines := range counts {
		for _, newline := range []string{"\n", "\r\n", "\n  "} {
			for _, end := range []string{"", newline + "q7==", newline + "-----END RSA PRIVATE KEY-----"} {
				body := strings.Repeat(line+newline, lines-1) + line
				text := "x" + newline + body + end + "\n(after it)\n"
				hidden := len(body) - 3
				want := "x" + newline + line[:3] + "«private-key»" + end + "\n(after it)\n"
				if strings.HasSuffix(end, "=") {
					hidden += len(end)
					want = strings.Replace(want, end, "", 1)
				}
				got, counts := s.String(text, redact.Guarded)
				require.Equal(t, want, mark.ReplaceAllString(got, "«$1»"), "%d lines", lines)
				require.Equal(t, int64(hidden), counts.Bytes, "%d lines", lines)
				for _, size := range []int{1, 65, 1000} {
					var pieces []string
					for rest := text; rest != ""; {
						n := min(size, len(rest))
						pieces, rest = append(pieces, rest[:n]), rest[n:]
					}
					cut, n := inPieces(t, s, redact.Guarded, pieces...)
					require.Equal(t, got, cut, "%d lines in pieces of %d", lines, size)
					require.Equal(t, counts, n)
				}
			}
		}
	}
}

// What has another length, or another place, than a key has is left alone.
func TestRunsThatAreNoKeys(t *testing.T) {
	for n := 30; n < 80; n++ {
		word := expand(fmt.Sprintf("{%d}", n))
		for text, taken := range map[string]bool{
			"see " + word + "!":         n == 40,
			"see " + word + "=":         false,
			"see x." + word:             false,
			"see " + word + ".x":        false,
			word + "\n":                 n == 40 || n == 64 || n == 70,
			"  12: " + word + "\n":      n == 40 || n == 64 || n == 70,
			word + ";\n":                n == 40,
			word[:20] + "-" + word[21:]: n == 64 || n == 70,
		} {
			got := guarded(redact.New(redact.Config{}), text)
			assert.Equal(t, taken, got != text, "%d: %q", n, got)
		}
	}
}
