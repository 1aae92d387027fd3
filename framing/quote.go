package framing

import (
	"fmt"
	"strings"
)

// QuoteError reports the first byte of a text that no shell word can carry. Its message never holds the text.
type QuoteError struct {
	Offset int // in bytes, from 0
}

func (e *QuoteError) Error() string {
	return fmt.Sprintf("it holds a NUL byte at offset %d, which no shell can carry", e.Offset)
}

// Quote returns s as one word for any POSIX shell, as plain as possible. The only texts that it refuses hold a NUL
// byte, reported as a *QuoteError.
func Quote(s string) (string, error) {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return "", &QuoteError{Offset: i}
	}
	if s == "" {
		return "''", nil
	}
	if isPlainWord(s) {
		return s, nil
	}
	return string(appendSingleQuoted(nil, s)), nil
}

// QuoteWords joins words so that a shell reads exactly them: the first is the command, builtins included. A bare first
// word gets a backslash, because it may be an alias or a reserved word. A path stands as it is: bash, mksh and ksh refuse
// aliases of paths, and dash, ash and zsh have only those that the shell's own user made.
func QuoteWords(words []string) (string, error) {
	var b strings.Builder
	for i, w := range words {
		q, err := Quote(w)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(' ')
		} else if q == w && !strings.Contains(w, "/") {
			q = `\` + w // a quoted word is neither an alias nor a reserved word
		}
		b.WriteString(q)
	}
	return b.String(), nil
}

// isPlainWord reports whether every shell takes s as it stands. A word with "=" or a leading "~" or "%" could mean
// something else.
func isPlainWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '-', c == '.', c == '/', c == ',', c == '+', c == '@', c == ':':
		default:
			return false
		}
	}
	return s[0] != '-' && s[0] != '+' || len(s) > 1
}

// appendSingleQuoted quotes s without ever writing an empty pair of quotes: zsh under RC_QUOTES reads ” inside quotes
// as one quote.
func appendSingleQuoted(dst []byte, s string) []byte {
	open := false
	for i := range len(s) {
		if s[i] == '\'' {
			if open {
				dst = append(dst, '\'')
				open = false
			}
			dst = append(dst, '\\', '\'')
			continue
		}
		if !open {
			dst = append(dst, '\'')
			open = true
		}
		dst = append(dst, s[i])
	}
	if open {
		dst = append(dst, '\'')
	}
	return dst
}
