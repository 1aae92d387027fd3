package hostcode

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Fill is a strings.Replacer that is not built anew for each text.
func TestFillReplacesNamesAndNothingElse(t *testing.T) {
	pairs := []string{"a", "@b@", "b", "", "long name", "x", "a", "never", "", "empty"}
	marked := []string{}
	for i := 0; i < len(pairs); i += 2 {
		marked = append(marked, "@"+pairs[i]+"@", pairs[i+1])
	}
	same := strings.NewReplacer(marked...)
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"@", "a", "b", "@a@", "@b@", "@long name@", "@@", "é", " ", "@c@"}
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		assert.Equal(t, same.Replace(b.String()), Fill(b.String(), pairs...), "%q", b.String())
	}
}
