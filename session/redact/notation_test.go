package redact_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var generated = regexp.MustCompile(`\{(?:(hex|upper|b64):)?(\d+)\}`)

// expand turns the notation of doc.go into text: {36} into letters and digits, \n into a newline, \e into an escape,
// \\ into a backslash.
// Secrets are made, not written, so that nobody's scanner takes this repository for a leak.
func expand(s string) string {
	s = generated.ReplaceAllStringFunc(s, func(g string) string {
		m := generated.FindStringSubmatch(g)
		n, _ := strconv.Atoi(m[2])
		alphabet := map[string]string{
			"": "Zk3Qw9bT5xLm2VaP7cHr", "hex": "3f9a0c7be1d4825", "upper": "QZ3KX7MBV5TR2", "b64": "aG9+Zk/3Qw9bT5xLm2Va",
		}[m[1]]
		return strings.Repeat(alphabet, n/len(alphabet)+1)[:n]
	})
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\e`, "\x1b", `\0`, "\x00", `\t`, "\t", `\r`, "\r").Replace(s)
}

// marked splits an example into the text and what of it is secret.
func marked(t testing.TB, example string) (text string, secrets []string) {
	t.Helper()
	rest := expand(example)
	for {
		before, after, found := strings.Cut(rest, "‹")
		text += before
		if !found {
			return text, secrets
		}
		secret, more, closed := strings.Cut(after, "›")
		require.True(t, closed, "no › in %q", example)
		text += secret
		secrets = append(secrets, secret)
		rest = more
	}
}
