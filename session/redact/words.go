package redact

// maxWord is how much of one word of a command is looked at. The bytes after it are counted.
const maxWord = 1 << 20

// wordOf is a word of a command without its quotes, and how many bytes of it were left out. It is good until the next one.
type wordOf struct {
	text []byte
	more int
}

func (w *wordOf) add(c byte) {
	if len(w.text) < maxWord {
		w.text = append(w.text, c)
	} else {
		w.more++
	}
}

// shellWords splits a command into words and takes the quotes off, roughly as a shell does: it knows quotes, backslashes
// and separators, expands nothing, and takes any input. A command may be long: it is not held twice.
func shellWords(text string, yield func(w wordOf)) {
	var word wordOf
	open := false // a word has begun, maybe an empty one
	end := func() {
		if open {
			yield(word)
		}
		word, open = wordOf{text: word.text[:0]}, false
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
				word.add(text[i])
			}
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				open = true
				word.add(text[i])
			}
		default:
			open = true
			word.add(c)
		}
	}
	end()
}

// quotable reports whether a backslash within double quotes counts before c.
func quotable(c byte) bool { return c == '"' || c == '\\' || c == '$' || c == '`' }
