package hostcode

import (
	"slices"
	"strings"
)

// Shell returns a file of shell as it is sent.
func Shell(source string) string {
	code, names := split(source)
	return rename(strings.Join(code, "\n"), names)
}

// Line returns a file of shell as it is sent in one line, for texts that every login shell reads, tcsh and fish included.
func Line(source string) string {
	code, names := split(source)
	var b strings.Builder
	for i, line := range code {
		if i > 0 {
			b.WriteString(between(code[i-1], line))
		}
		b.WriteString(line)
	}
	return rename(b.String(), names)
}

// Perl returns a file of perl as it is sent.
func Perl(source string) string {
	code, names := split(source)
	return rename(squeeze(strings.Join(code, "\n")), names)
}

// Python returns a file of python as it is sent. Its lines begin with tabs, and blanks within them go where they separate nothing.
func Python(source string) string {
	var b strings.Builder
	for i, line := range slices.DeleteFunc(strings.Split(Uncommented(source), "\n"), func(line string) bool { return strings.Trim(line, blanks) == "" }) {
		if i > 0 {
			b.WriteByte('\n')
		}
		text := strings.TrimLeft(line, blanks)
		b.WriteString(line[:len(line)-len(text)])
		b.WriteString(squeezeLine(text))
	}
	return rename(b.String(), Names(source))
}

// squeezeLine drops the blanks of a line of python that do not separate two words.
func squeezeLine(line string) string {
	out := make([]byte, 0, len(line))
	var quote byte // that ends what is copied as it stands
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			out = append(out, c)
			if c == '\\' && i+1 < len(line) {
				i++
				out = append(out, line[i])
			} else if c == quote {
				quote = 0
			}
		case c == ' ' && len(out) > 0 && i+1 < len(line) && !(isWord(out[len(out)-1]) && isWord(line[i+1])):
		default:
			if c == '"' || c == '\'' {
				quote = c
			}
			out = append(out, c)
		}
	}
	return string(out)
}

// Readable returns a file without its comments and with its names as they are sent: tests compare what a shell makes of it
// with what the shell makes of the stripped text.
func Readable(source string) string { return rename(Uncommented(source), Names(source)) }

// Uncommented returns a file without its comments.
func Uncommented(source string) string {
	var kept []string
	for line := range strings.SplitSeq(strings.TrimSuffix(source, "\n"), "\n") {
		if !isComment(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// Names returns the short form of each long name in source.
func Names(source string) map[string]string {
	_, names := split(source)
	return names
}

const blanks = " \t"

func isComment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, blanks), "#") }

// split returns the lines of code, and the names.
func split(source string) (code []string, names map[string]string) {
	names = map[string]string{}
	joined := false
	for line := range strings.SplitSeq(source, "\n") {
		line = strings.TrimLeft(line, blanks)
		if about, ok := strings.CutPrefix(line, "#= "); ok {
			if f := strings.Fields(about); len(f) > 1 {
				names[f[1]] = f[0]
			}
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if joined {
			last := len(code) - 1
			code[last] = strings.TrimSuffix(code[last], `\`) + line
		} else {
			code = append(code, line)
		}
		joined = strings.HasSuffix(line, ` \`)
	}
	return code, names
}

// rename replaces whole words.
func rename(text string, names map[string]string) string {
	if len(names) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		n := 0
		for i+n < len(text) && isWord(text[i+n]) {
			n++
		}
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		word := text[i : i+n]
		if short, ok := names[word]; ok {
			word = short
		} else if i > 0 && (text[i-1] == '$' || text[i-1] == '@') {
			if short, ok := names[text[i-1:i+n]]; ok {
				word = short[1:]
			}
		}
		b.WriteString(word)
		i += n
	}
	return b.String()
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// openers are words behind which a command begins, so that a line may end there.
var openers = []string{"do", "then", "else", "{", "in", "(", "|", "&&", "||"}

// between returns what takes the place of a newline in shell.
func between(line, next string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t;", r) })
	switch {
	case len(words) > 0 && slices.Contains(openers, words[len(words)-1]) && !strings.HasSuffix(line, ";"):
		return " "
	case strings.HasSuffix(line, ";;"), strings.HasSuffix(line, "&"):
		return ""
	case strings.HasPrefix(next, "(") && strings.HasSuffix(line, ";;"):
		return ""
	}
	return ";"
}

// longLine is where lines of perl end: terminals in canonical mode bound lines (termios(3)).
const longLine = 400

// squeeze drops the blanks of perl that separate nothing.
func squeeze(code string) string {
	var b strings.Builder
	line := 0      // where the line of b begins
	var quote byte // the quote or slash that ends what is copied as it stands
	last := func() byte {
		if s := b.String(); s != "" {
			return s[len(s)-1]
		}
		return 0
	}
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case quote != 0:
			b.WriteByte(c)
			if c == '\\' && i+1 < len(code) {
				i++
				b.WriteByte(code[i])
			} else if c == quote {
				quote = 0
			}
		case c == ' ' || c == '\t' || c == '\n':
			next := i
			for next < len(code) && strings.IndexByte(" \t\n", code[next]) >= 0 {
				next++
			}
			switch {
			case c == '\n' && b.Len()-line > longLine:
				b.WriteByte('\n')
				line = b.Len()
			case next < len(code) && separates(last(), code[next]):
				b.WriteByte(' ')
			}
			i = next - 1
		default:
			if c == '"' || c == '\'' || c == '/' && strings.HasSuffix(b.String(), "=~") {
				quote = c
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// separates reports whether perl needs a blank between a and b.
func separates(a, b byte) bool {
	if isWord(a) && isWord(b) || a == '/' && isWord(b) { // letters behind an expression are its options
		return true
	}
	const signs = "+-*/.<>=&|!~%$@?:"
	return strings.IndexByte(signs, a) >= 0 && strings.IndexByte(signs, b) >= 0 && a != '=' && a != '~' && b != '$'
}
