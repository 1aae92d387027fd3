package near_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

func TestFindPutsTheClosestFirst(t *testing.T) {
	words := []string{"web10", "web01", "WEB1", "db1", "web01.example.com", "webserver"}
	for name, tt := range map[string]struct {
		word string
		want []string
	}{
		"swapped letters count as one edit": {"wbe01", []string{"web01"}},
		"case comes before edits":           {"web1", []string{"WEB1", "web10", "web01"}},
		"a short name finds the long one":   {"web01.ex", []string{"web01.example.com"}},
		"one edit is too much for nothing":  {"zz", nil},
		"the empty word is near nothing":    {"", nil},
		"the word itself is not a miss":     {"db1", nil},
		"zeros before a number":             {"DB0001", []string{"db1"}},
		"far away is not near":              {"mailserver", nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, near.Find(tt.word, slices.Values(words)))
		})
	}
}

func TestFindReturnsAFewOfManyNearWords(t *testing.T) {
	var words []string
	for i := range 5000 {
		words = append(words, "node"+strconv.Itoa(i))
	}
	got := near.Find("noode4200", slices.Values(words))
	assert.Len(t, got, near.Max)
	assert.Equal(t, "node4200", got[0])
}

func TestHintReadsAsASentence(t *testing.T) {
	assert.Empty(t, near.Hint(nil))
	assert.Equal(t, " (did you mean a?)", near.Hint([]string{"a"}))
	assert.Equal(t, " (did you mean a, b or c?)", near.Hint([]string{"a", "b", "c"}))
}
