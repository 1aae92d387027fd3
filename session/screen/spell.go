package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Spell makes text in which everything can be seen, and nothing acts: control characters but tabs and newlines become
// their pictures (␀ to ␡), the other characters that Clean takes out become <U+200B> and the like. What is not UTF-8
// becomes U+FFFD.
func Spell(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unseen) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// unseen are the characters that a reader cannot see, and who are neither tab nor newline.
func unseen(r rune) bool {
	return r != '\t' && r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0) || r >= utf8.RuneSelf && unicode.Is(printable.Invisible, r)
}
