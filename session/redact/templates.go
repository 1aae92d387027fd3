package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// literalText is a string in an expression: its three groups are the three ways to write it.
const literalText = `(?:\\?"([^"\\\n]{3,})\\?"|\\?'([^'\\\n]{3,})\\?'` + "|`([^`$\n]{3,})`)"

var (
	// wholeLiteral is an expression that is a string, maybe with filters after it.
	wholeLiteral = lazyregexp.New(`^(?:\$?\{\{-?|<%=|#\{)[ \t]*` + literalText + `[ \t]*(?:\||-?\}\}|%>|\})`)
	// lastLiteral is what an expression falls back to.
	lastLiteral = lazyregexp.New(`(?:(?:\|\||\?\?|\?:|\bor|\belse|\b(?:default|d)[ \t]*[(:]?)[ \t]*|\b(?:or|coalesce|ternary|quote|squote|b64enc)[ \t(]+(?:[.$][\w.]*[ \t]+)*|` +
		`\b(?:fetch|env|env_var|getenv|get|config|var)\([ \t]*\\?["'][\w.:/-]+\\?["'][ \t]*,[ \t]*)` + literalText)
	// namedSecret are strings that name a value, and are none.
	namedSecret = lazyregexp.New(`(?i)(?:password|passwd|secret|token|\bkey|_key|_pw)$|%s`)
	// fallback is the same in programs, where nothing opens the expression.
	fallback = lazyregexp.New(`^[\w.$>?-]+(?:[(\[][^()\[\]]*[)\]])?[ \t]*(?:\|\||\?\?|\?:|\bor\b)[ \t]*` + literalText +
		`|^[\w.:>-]+\([^()\n]*\b(?:fallback|default)[ \t]*=[ \t]*` + literalText + `|^ENV\.fetch\(["']\w+["']\)[ \t]*\{[ \t]*` + literalText + `|^[\w.:>-]*(?:fetch|env|getenv|environ\.get|config)\([ \t]*["'][\w.:/-]+["'][ \t]*,[ \t]*` + literalText)
	// shellDefault is what a variable stands for that is not set, in shells and in Spring.
	shellDefault = lazyregexp.New(`^\$\{[A-Za-z_][\w.]*(?::?[-=]|:)([^\s{}"'$:?+=-][^{}"'$\n]{2,})\}`)
	onlyDigits   = lazyregexp.New(`^[0-9:]+$`)
)

// expressionLook bounds how long an expression is looked at.
const expressionLook = 320

// operandBytes are those of a variable, a member of one or the name of a function.
var operandBytes = classOf("A-Za-z0-9_.$>:-")

// fallsBack reports whether an operand begins b, and what goes on with another one after it.
func fallsBack(b []byte) bool {
	i := 0
	for i < len(b) && operandBytes[b[i]] {
		i++
	}
	if i == 0 {
		return false
	}
	i = skip(b, i, " \t")
	return i+1 < len(b) && (b[i] == '(' || b[i] == '[' || b[i] == '|' && b[i+1] == '|' || b[i] == '?' || b[i] == 'o' && b[i+1] == 'r')
}

// offersFallback reports whether what [fallsBack] found may be what [fallback] looks for. It saves time.
func offersFallback(b []byte) bool {
	i := 0
	for i < len(b) && operandBytes[b[i]] {
		i++
	}
	switch next := skip(b, i, " \t"); {
	case next > i || i == len(b):
		return choice(b[next:])
	case b[i] == '?':
		return i+1 < len(b) && b[i+1] != '='
	case b[i] != '(' && b[i] != '[':
		return true
	}
	if n := bytes.IndexAny(b[i+1:], "()[]"); n >= 0 {
		end := i + 1 + n
		if (b[end] == ')' || b[end] == ']') && choice(b[skip(b, end+1, " \t"):]) {
			return true
		}
	}
	if b[i] == '[' {
		return false
	}
	for _, name := range []string{"fetch", "env", "environ.get", "config"} {
		if bytes.HasSuffix(b[:i], []byte(name)) {
			return true
		}
	}
	return bytes.Contains(b[i:], []byte("fallback")) || bytes.Contains(b[i:], []byte("default"))
}

// choice reports whether b begins with what stands between two operands.
func choice(b []byte) bool {
	return len(b) > 1 && (b[0] == '|' && b[1] == '|' || b[0] == '?' && (b[1] == '?' || b[1] == ':') || b[0] == 'o' && b[1] == 'r')
}

// fewQuotes returns where in b the twelfth quote ends: no expression that is looked for has more.
func fewQuotes(b []byte) int {
	for i, n := 0, 0; i < len(b); i++ {
		if quote(b[i]) || b[i] == '`' {
			if n++; n == 12 {
				return i + 1
			}
		}
	}
	return len(b)
}

// literal makes a string in the expression at the start of the value the secret: what stands where the variable is not set, or
// for all of it.
func literal(m *match, quoted bool) bool {
	rest := m.win[m.from:min(len(m.win), m.from+expressionLook)]
	if len(rest) < 6 {
		return false
	}
	end, re := len(rest), fallback
	switch {
	case bytes.HasPrefix(rest, []byte("{{")), bytes.HasPrefix(rest, []byte("${{")):
		end, re = bytes.Index(rest, []byte("}}")), nil
	case bytes.HasPrefix(rest, []byte("<%")):
		end, re = bytes.Index(rest, []byte("%>")), nil
	case bytes.HasPrefix(rest, []byte("#{")):
		end, re = bytes.IndexByte(rest, '}'), nil
	case bytes.HasPrefix(rest, []byte("${")):
		re = shellDefault
	case quoted || !fallsBack(rest) || !offersFallback(rest):
		return false
	}
	var g []int
	switch {
	case re != nil:
		rest = rest[:fewQuotes(rest)]
		if g = re.FindSubmatchIndex(rest); g == nil && re == shellDefault {
			if end = bytes.IndexByte(rest, '}'); end > 0 {
				g = lastLiteral.FindSubmatchIndex(rest[:end])
			}
		}
	case end > 0:
		end += 2
		if g = wholeLiteral.FindSubmatchIndex(rest[:min(end, len(rest))]); g == nil {
			g = lastLiteral.FindSubmatchIndex(rest[:end-2])
		}
	}
	if g == nil {
		return false
	}
	in := match{win: rest, group: g}
	in.pick(1)
	v := rest[in.from:in.to]
	if placeholder(v) || filePath.Match(v) || onlyDigits.Match(v) || namedSecret.Match(v) {
		return false
	}
	m.from, m.to, m.tail = m.from+in.from, m.from+in.to, nil
	return true
}

// variableDefault reports whether a name stands in ${NAME:…}, and where what follows the colon begins that NAME stands for if it is
// not set; or 0 if nothing does.
func variableDefault(before, rest []byte) (inside bool, from int) {
	b := before[:wordStart(before)]
	if !bytes.HasSuffix(b, []byte("${")) || len(rest) == 0 {
		return false, 0
	}
	switch c := rest[0]; {
	case c == '-' || c == '=':
		return true, 1
	case c == '?' || c == '+' || c >= '0' && c <= '9', blank(c):
		return true, -1
	}
	return true, 0
}
