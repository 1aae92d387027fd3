package wildcard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		s, pat string
		want   bool
	}{
		{"web", "web", true}, {"web", "web?", false}, {"web1", "web?", true}, {"web12", "web?", false},
		{"web1", "web*", true}, {"web", "web*", true}, {"web", "*", true}, {"", "*", true}, {"", "?", false},
		{"a.b.c", "*.c", true}, {"a.b.c", "a*b*c", true}, {"a.b.c", "a*d*c", false}, {"Web", "web", false},
		{"web", "[w]eb", false}, {"abcb", "*b", true}, {"ab", "a**b**", true},
	} {
		assert.Equal(t, c.want, wildcard.Match(c.s, c.pat), "%q against %q", c.s, c.pat)
	}
}

func TestAQuestionMarkIsAByteOrACharacter(t *testing.T) {
	for _, c := range []struct {
		s, pat      string
		bytes, text bool
	}{
		{"é", "?", false, true}, {"é", "??", true, false}, {"aéb", "a?b", false, true}, {"aéb", "*?b", true, true}, {"é", "*é", true, true},
		{"\xffa", "?a", true, true}, {"漢字", "?字", false, true}, {"", "?", false, false}, {"web12", "web*2", true, true},
	} {
		assert.Equal(t, c.bytes, wildcard.Match(c.s, c.pat), "bytes: %q against %q", c.s, c.pat)
		assert.Equal(t, c.text, wildcard.MatchText(c.s, c.pat), "text: %q against %q", c.s, c.pat)
	}
}

func TestPatternsOfManyStarsTakeNoExponentialTime(t *testing.T) {
	assert.False(t, wildcard.Match(strings.Repeat("a", 5000), strings.Repeat("a*", 200)+"b"))
}

func FuzzMatch(f *testing.F) {
	f.Add("web1", "web?")
	f.Add("a.b", "*.*")
	f.Fuzz(func(t *testing.T, s, pat string) {
		if len(s) > 200 || len(pat) > 200 {
			return
		}
		assert.True(t, wildcard.Match(s, "*"))
		if !strings.ContainsAny(s, "*?") {
			assert.True(t, wildcard.Match(s, s))
		}
		if wildcard.Match(s, pat) {
			assert.True(t, wildcard.Match(s, pat+"*"))
			assert.True(t, wildcard.Match(s+"x", pat+"?"))
		}
	})
}
