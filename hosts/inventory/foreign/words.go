package foreign

import (
	"errors"
	"strings"
)

var (
	errQuote  = errors.New("a quote is not closed")
	errEscape = errors.New(`a \ is at the end`)
)

// splitWords splits a line as Python's shlex.split does, which Ansible uses: spaces separate, quotes and backslashes keep
// together. With comments, # ends the line where it begins a word, and inside one, too.
func splitWords(line string, comments bool) ([]string, error) {
	var (
		out   []string
		word  strings.Builder
		open  bool // inside a word, an empty one perhaps
		quote byte
	)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case quote == '"':
			switch {
			case c == '"':
				quote = 0
			case c == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
				i++
				word.WriteByte(line[i])
			default:
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '\\':
			if i++; i == len(line) {
				return nil, errEscape
			}
			word.WriteByte(line[i])
			open = true
		case c == '#' && comments:
			i = len(line)
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if open {
		out = append(out, word.String())
	}
	return out, nil
}
