package inventory

import "bytes"

// checkDepth refuses brackets in brackets and long dotted keys before the parser sees them: it calls itself for each level
// and has no limit of its own. Where the text is not valid TOML the two may see different things, but only after the place
// where the parser stops.
func (b *builder) checkDepth(data []byte) error {
	depth, dots := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"', '\'':
			i += stringEnd(data[i:]) - 1
		case '#':
			if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
				i += n - 1
			} else {
				return nil
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '\n', '=', ',':
			dots = 0
		}
		if depth > maxDepth || dots > maxDepth {
			return b.fail(b.line(i), "more than %d levels of lists and mappings", maxDepth)
		}
	}
	return nil
}

// stringEnd returns the length of the string at the start of s, up to the end of the line or of the text if it is not
// closed.
func stringEnd(s []byte) int {
	quote, escapes := s[:1], s[0] == '"'
	long := len(s) >= 3 && s[1] == s[0] && s[2] == s[0]
	if long {
		quote = s[:3]
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case !long && s[i] == '\n':
			return i
		case bytes.HasPrefix(s[i:], quote):
			return i + len(quote)
		}
	}
	return len(s)
}
