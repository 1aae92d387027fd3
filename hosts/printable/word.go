package printable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Word makes any text one word of a command that a person types into a shell: as it is where no shell reads anything into
// it, else in single quotes. What holds anything hidden is written as $'…', which bash, zsh and ksh read.
func Word(text string) string {
	switch {
	case strings.ContainsFunc(text, Hidden):
		return ansiWord(text)
	case text == "", strings.ContainsFunc(text, special), strings.HasPrefix(text, "="):
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// Words joins texts as Word makes them.
func Words(texts []string) string {
	words := make([]string, len(texts))
	for i, t := range texts {
		words[i] = Word(t)
	}
	return strings.Join(words, " ")
}

// special reports whether some shell may read more into r than r. Letters of all alphabets are letters to shells.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r >= utf8.RuneSelf:
		return false
	}
	return !strings.ContainsRune("@%+=:,./_-", r)
}

func ansiWord(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case Hidden(r):
			for _, c := range []byte(text[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}
