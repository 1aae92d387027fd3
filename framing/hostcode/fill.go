package hostcode

import "strings"

// Fill replaces each @name@ in text by its value: pairs are names and values in turn. What a value holds is not looked at
// again.
func Fill(text string, pairs ...string) string {
	var b strings.Builder
	size := len(text)
	for i := 1; i < len(pairs); i += 2 {
		size += len(pairs[i])
	}
	b.Grow(size) // a name is rarely in a text twice
	for {
		before, rest, found := strings.Cut(text, "@")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if value, after, ok := filled(rest, pairs); ok {
			b.WriteString(value)
			text = after
		} else {
			b.WriteByte('@')
			text = rest
		}
	}
}

// filled is the value of the name that text begins with, and what comes after the name's end.
func filled(text string, pairs []string) (value, after string, ok bool) {
	name, after, ok := strings.Cut(text, "@")
	for i := 0; ok && i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1], after, true
		}
	}
	return "", "", false
}
