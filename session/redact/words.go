package redact

// shellWords splits a command into words and takes the quotes off, roughly as a shell does: it knows quotes, backslashes
// and separators, expands nothing, and takes any input.
func shellWords(text string) [][]byte {
	var words [][]byte
	var word []byte
	open := false // a word has begun, maybe an empty one
	end := func() {
		if open {
			words = append(words, word)
		}
		word, open = nil, false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r', ';', '|', '&', '<', '>', '(', ')':
			end()
		case '\'', '"':
			open = true
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' && i+1 < len(text) && quotable(text[i+1]) {
					i++
				}
				word = append(word, text[i])
			}
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				open = true
				word = append(word, text[i])
			}
		default:
			open = true
			word = append(word, c)
		}
	}
	end()
	return words
}

// quotable reports whether a backslash within double quotes counts before c.
func quotable(c byte) bool { return c == '"' || c == '\\' || c == '$' || c == '`' }
