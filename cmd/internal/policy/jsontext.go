package policy

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unquoteJSON returns what stands between the quotes of a valid JSON string, byte for byte: encoding/json would put
// U+FFFD for bytes and escapes that are no text, and the command judged would not be the one asked about. A lone
// surrogate from U+DC80 to U+DCFF is a raw byte, as programs write file names that are not UTF-8; any other becomes the
// three bytes that are not UTF-8 either.
func unquoteJSON(s []byte) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(s[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && len(s) > i+6 && s[i+1] == '\\' && s[i+2] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(s[i+3:])); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			out = appendRune(out, r)
		default: // a quote, a backslash or a slash
			out = append(out, s[i])
		}
	}
	return string(out)
}

func appendRune(out []byte, r rune) []byte {
	switch {
	case r >= 0xdc80 && r <= 0xdcff:
		return append(out, byte(r))
	case utf16.IsSurrogate(r):
		return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(out, r)
}

// hex4 reads four hexadecimal digits.
func hex4(s []byte) rune {
	if len(s) < 4 {
		return utf8.RuneError
	}
	v, err := strconv.ParseUint(string(s[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(v)
}
