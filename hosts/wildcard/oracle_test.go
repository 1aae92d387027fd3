package wildcard_test

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

func TestAPatternMatchesNamesAsPathMatchDoes(t *testing.T) {
	var words func(n int, letters string) []string
	words = func(n int, letters string) []string {
		if n == 0 {
			return []string{""}
		}
		out := words(n-1, letters)
		for _, w := range out {
			if len(w) == n-1 {
				for _, c := range letters {
					out = append(out, w+string(c))
				}
			}
		}
		return out
	}
	names := words(4, "ab")
	for _, pattern := range words(4, "ab*?") {
		for _, name := range names {
			want, err := path.Match(pattern, name)
			require.NoError(t, err)
			if got := wildcard.Match(name, pattern); got != want {
				t.Fatalf("%q matches %q: %v, not %v", pattern, name, got, want)
			}
		}
	}
}
