// Package near finds the words a person may have meant when they wrote one that does not exist.
//
// It is for messages only: nothing may be decided on its answers.
package near

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Max is how many words Find returns at most.
const Max = 3

// longest bounds the words that are compared at all, in bytes: distance costs the product of both lengths.
const longest = 128

// Find returns up to [Max] of the words that are close to word, closest first and in their own order where equally
// close. Words that differ in case only come first; then small edits, and the same numbers with other zeros before them; then words that begin or end with the word.
func Find(word string, words iter.Seq[string]) []string {
	if word == "" || len(word) > longest {
		return nil
	}
	type hit struct {
		word string
		dist int
	}
	var (
		hits   []hit
		limit  = max(1, min(3, len(word)/3))
		folded = strings.ToLower(word)
		bare   = Unpadded(folded)
		d      distance
	)
	for w := range words {
		if len(w) > longest || w == word {
			continue
		}
		lower := strings.ToLower(w)
		dist := d.between(folded, lower, limit)
		switch {
		case dist <= limit:
		case bare == Unpadded(lower):
			dist = 1
		case len(word) >= 3 && (strings.HasPrefix(lower, folded) || strings.HasSuffix(lower, folded)):
			dist = limit + 1
		default:
			continue
		}
		if !slices.ContainsFunc(hits, func(h hit) bool { return h.word == w }) {
			hits = append(hits, hit{w, dist})
		}
		if len(hits) > 8*Max { // keep the best so far, so that a large inventory stays cheap
			slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.dist, b.dist) })
			hits = hits[:Max]
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.dist, b.dist) })
	var out []string
	for _, h := range hits[:min(Max, len(hits))] {
		out = append(out, h.word)
	}
	return out
}

// zeros are those that a number is filled up with.
var zeros = lazyregexp.New(`(^|[^0-9])0+([0-9])`)

// Unpadded writes the numbers in a word without zeros before them: web1 and web001 are near.
func Unpadded(word string) string { return zeros.ReplaceAllString(word, "$1$2") }

// Hint renders near misses for the end of a message: " (did you mean web01 or web02?)", or "" when there are none.
func Hint(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return " (did you mean " + words[0] + "?)"
	}
	last := len(words) - 1
	return " (did you mean " + strings.Join(words[:last], ", ") + " or " + words[last] + "?)"
}

// distance counts edits (insert, delete, replace, swap of neighbours) between two words, byte by byte. It keeps its rows
// between calls.
type distance struct{ rows [3][]int }

// between returns the number of edits, or something larger than limit as soon as that is certain.
func (d *distance) between(a, b string, limit int) int {
	if a == b {
		return 0
	}
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	for i := range d.rows {
		d.rows[i] = slices.Grow(d.rows[i][:0], len(b)+1)[:len(b)+1]
	}
	before, prev, row := d.rows[0], d.rows[1], d.rows[2]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
