package judge

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescapeANSI gives the text of $'…' as a shell reads it. ok is false where shells may differ or a NUL would cut it; busybox ash keeps
// the backslash of an escape that it does not know.
func unescapeANSI(s, shell string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		if strings.IndexByte("eE?uU", s[i]) >= 0 && shell == "ash" {
			return "", false
		}
		if j := strings.IndexByte("abeEfnrtv\\'\"?", s[i]); j >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[j])
			continue
		}
		base, skip, most := 0, 0, 0
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			base, most = 8, 3
		case c == 'x':
			base, skip, most = 16, 1, 2
		case c == 'u':
			base, skip, most = 16, 1, 4
		case c == 'U':
			base, skip, most = 16, 1, 8
		default:
			return "", false
		}
		i += skip
		end := i
		for end < len(s) && end < i+most && digitOf(s[end], base) {
			end++
		}
		if most == 2 && end < len(s) && digitOf(s[end], 16) {
			return "", false // the shells of the Korn family read all digits
		}
		n, err := strconv.ParseUint(s[i:end], base, 32)
		if err != nil || n == 0 || most == 3 && n > 0xff && shell == "ash" { // which takes two digits then
			return "", false
		}
		switch {
		case most >= 4:
			if !utf8.ValidRune(rune(n)) || n > 0xffff { // mksh knows no more than these
				return "", false
			}
			b.WriteRune(rune(n))
		default:
			b.WriteByte(byte(n))
		}
		i = end - 1
	}
	return b.String(), true
}

func digitOf(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '7':
		return true
	case base != 16:
		return false
	default:
		return c == '8' || c == '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
}
