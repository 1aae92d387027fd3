package held

import (
	"fmt"
	"regexp"
	"strings"
)

// Trial returns the texts for a shell in which a command is tried: it is held as [Program] holds, and may not read either what lies at the
// places that closed says, which [Closed] makes. Variables of the environment whose names are those of secrets are left out. Whether the
// host's kernel reports what it refuses is necessary: see framing.Hello.Unwatched.
//
// Nothing that opens for reading is left to the kernel: the supervisor opens the file, looks at what it has opened, and passes that on.
// So no thread can change a path between the look and the opening. Named pipes and devices are not read, but for a few.
func Trial(closed []string) Texts {
	return program(newest, listen, append([]string{always}, closed...))
}

// always is closed whatever a policy says: what shows all memory, or takes what it shows from others.
const always = `^/proc/(?:kmsg|kcore|keys|vmcore)` + end

// end is the end of a text, in perl and in python: \z is not python's, and $ may have a newline behind it.
const end = `(?![\s\S])`

// Closed returns the expression of [Trial] for patterns of absolute paths, in which "**" is any number of directories and "*" and "?" stay
// within a name; what does not begin with "/" begins with "**". Names that match one of except are left open.
func Closed(patterns, except []string) string {
	var b strings.Builder
	b.WriteString("^")
	if len(except) > 0 {
		b.WriteString(`(?![\s\S]*/(?:` + alternatives(except) + `)` + end + `)`)
	}
	b.WriteString("(?:" + alternatives(patterns) + `)` + end)
	return b.String()
}

func alternatives(patterns []string) string {
	var all []string
	for _, p := range patterns {
		all = append(all, expression(p))
	}
	return strings.Join(all, "|")
}

// expression makes a pattern one of perl and python: in ASCII, without blanks, quotes, and backslashes that perl would take for one.
func expression(pattern string) string {
	var b strings.Builder
	for rest := pattern; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "/**/"):
			b.WriteString("/(?:[^/]*/)*")
			rest = rest[4:]
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("/(?:[^/]*/)*")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`[\s\S]*`)
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		case rest[0] == '[' && strings.IndexByte(rest, ']') > 0:
			end := strings.IndexByte(rest, ']') + 1
			for _, c := range []byte(rest[:end]) {
				literal(&b, c, string(c))
			}
			rest = rest[end:]
		default:
			literal(&b, rest[0], regexp.QuoteMeta(rest[:1]))
			rest = rest[1:]
		}
	}
	return b.String()
}

// literal writes a byte of a pattern: plain, if nothing between single quotes of perl and python reads that in its own way.
func literal(b *strings.Builder, c byte, plain string) {
	if c <= ' ' || c >= 0x7f || c == '\'' || c == '\\' {
		fmt.Fprintf(b, `\x%02x`, c)
		return
	}
	b.WriteString(plain)
}
