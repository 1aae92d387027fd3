package hostcode

import "strings"

// Fill replaces each @name@ in text by its value: pairs are names and values in turn. What a value holds is not looked at
// again.
func Fill(text string, pairs ...string) string {
	marked := make([]string, len(pairs))
	for i, s := range pairs {
		if marked[i] = s; i%2 == 0 {
			marked[i] = "@" + s + "@"
		}
	}
	return strings.NewReplacer(marked...).Replace(text)
}
