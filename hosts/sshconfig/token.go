package sshconfig

import "strings"

const space = " \t\r\n"

// cutWord splits off the first word of a line the way OpenSSH finds keywords and Match criteria: words end at white
// space or one "=", and a double quote opens a part that ends at the next one. ok is false when that one is missing.
func cutWord(s string) (word, rest string, ok bool) {
	i := strings.IndexAny(s, space+`"=`)
	if i < 0 {
		return s, "", true
	}
	if s[i] == '"' {
		j := strings.IndexByte(s[i+1:], '"')
		if j < 0 {
			return "", "", false
		}
		return s[:i] + s[i+1:i+1+j], strings.TrimLeft(s[i+j+2:], space), true
	}
	rest = strings.TrimLeft(s[i+1:], space)
	if s[i] != '=' && strings.HasPrefix(rest, "=") {
		rest = strings.TrimLeft(rest[1:], space)
	}
	return s[:i], rest, true
}

// splitArgs splits the value of a directive into words as OpenSSH's argv_split does: blanks and tabs separate, single
// and double quotes group, a backslash escapes a quote, a backslash, or a blank outside quotes, and a word that starts
// with "#" begins a comment. ok is false for an unfinished quote.
func splitArgs(s string) (args []string, ok bool) { return splitWords(s, true) }

// splitWords is splitArgs where comments says whether there are any.
func splitWords(s string, comments bool) (args []string, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || comments && s[0] == '#' {
			return args, true
		}
		word, rest, ok := nextArg(s)
		if !ok {
			return nil, false
		}
		args, s = append(args, word), rest
	}
}

// nextArg splits off the word that s begins with. ok is false for an unfinished quote.
func nextArg(s string) (word, rest string, ok bool) {
	var b strings.Builder
	quote, i := byte(0), 0
	for ; i < len(s) && (quote != 0 || !isBlank(s[i])); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && escapable(s[i+1], quote):
			i++
			b.WriteByte(s[i])
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), s[i:], quote == 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func escapable(c, quote byte) bool {
	return c == '\'' || c == '"' || c == '\\' || (quote == 0 && c == ' ')
}
