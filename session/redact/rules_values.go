package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// escapes are what a program that paints its output puts between a name and its value.
const escapes = `(?:\x1b\[[0-9;]*[mK])*`

// valueRules take out the values of names that say so, in the notations of files, environments, JSON, YAML and programs.
func valueRules() []*rule {
	return []*rule{
		{
			kind: "aws-secret-key", keys: []string{"secret"}, tail: base64Bytes,
			pre: secretAccess,
			re:  lazyregexp.New(`^(?i)secret[_-]?access[_-]?key["'\\]*[ \t]*[=:][ \t]*\\?["']?([A-Za-z0-9/+]{40})`),
		},
		{
			kind: "docker-auth", keys: []string{`"auth"`}, tail: base64Bytes,
			re: lazyregexp.New(`^"auth"[ \t]*:[ \t]*"([A-Za-z0-9+/]{6,}={0,2})"`),
		},
		{
			kind: "secret", keys: secretNames, name: true, scan: separator, look: nameLook, pre: assigns, ok: keyValue,
			re: lazyregexp.New(`^(["'\\]{0,2}[\])]?` + escapes + `[ \t]*)` +
				`(=>|:=|[=:])([ \t]*` + escapes + `)(\\?["']?)`),
		},
		{
			kind: "secret", keys: secretNames, name: true, pre: isFlag, ok: flagValue,
			re: lazyregexp.New(`^[ \t]+` + shellWord),
		},
	}
}

var (
	// notSecret are ends of names whose values are about a secret, and are none.
	notSecret = lazyregexp.New(`(?i)(?:type|ttl|count|file|path|dir|name|names|len|length|size|url|uri|endpoint|policy|min|max|` +
		`expir\w*|age|id|ids|field|prompt|version|hint|strength|rotation|enabled|required|ref|store|manager|provider|class|` +
		`authentication|auth|limit|usage|used|valid\w*|error|status|changed|updated|created|at|on|env|format|algorithm|alg|` +
		`bytes|chars|index|source|header|issuer|audience|scope|scopes|budget|window|rate)$`)
	// leading is what may stand on a line before a name, if the line is about that name.
	leading = lazyregexp.New(`^(?:[\w./~-]+:(?:\d+:)?)?[ \t"'{(>+-]*(?:(?:export|set|setx|setenv|env|declare -x|typeset -x|local|readonly|ENV|ARG|Environment=)[ \t"']*)?[\w.\[/-]*$`)
)

// nameLook bounds the rest of a name and what stands between it and its value.
const nameLook = 160

// assigns reports whether a name can be one that gets a value.
func assigns(_, win []byte, name int) bool {
	i := skip(win, name, "\"'\\])")
	if i < len(win) && win[i] == 0x1b {
		return true // a control sequence that is too long for one
	}
	i = skip(win, i, " \t")
	if i == len(win) || win[i] != ':' && win[i] != '=' {
		return false
	}
	return len(win) == nameLook || skip(win, i, ":=> \t\r") < len(win)
}

// separator matches as the expression of names and values does, where no control sequence stands.
func separator(b []byte) []int {
	i := skip(b[:min(len(b), 2)], 0, "\"'\\")
	if i < len(b) && (b[i] == ']' || b[i] == ')') {
		i++
	}
	i = skip(b, i, " \t")
	sep := i
	if i == len(b) || b[i] != ':' && b[i] != '=' {
		return nil
	}
	if i++; i < len(b) && (b[sep] == '=' && b[i] == '>' || b[sep] == ':' && b[i] == '=') {
		i++
	}
	blanks := i
	i = skip(b, i, " \t")
	open := i
	if i < len(b) && b[i] == '\\' {
		i++
	}
	if i < len(b) && quote(b[i]) {
		i++
	}
	return []int{0, i, 0, sep, sep, blanks, blanks, open, open, i}
}

// isFlag reports whether the name began with a dash, and a word follows it.
func isFlag(before, win []byte, name int) bool {
	if name == len(win) || !blank(win[name]) {
		return false
	}
	i := len(before)
	for i > 0 && wordBytes[before[i-1]] {
		i--
	}
	return i < len(before) && before[i] == '-' && wordOfShell(win[skip(win, name, " \t"):]) && (i == 0 || bytes.IndexByte([]byte(" \t\n\f\r\"'="), before[i-1]) >= 0)
}

// secretAccess reports whether more than the word secret is there of the name of an AWS key.
func secretAccess(_, win []byte, _ int) bool {
	i := skip(win, len("secret"), "_-")
	return foldedPrefix(win[i:], []byte("access"))
}

// keyValue judges name = value, name: value and the like, and finds the end of the value.
func keyValue(m *match) bool {
	word, suffix := string(bytes.ToLower(m.text(1))), m.text(2)
	m.kind = kindOfName(word)
	if !secretSuffix(m, word, suffix) {
		return false
	}
	sep, open := string(m.text(4)), m.text(6)
	m.from = m.group[13]
	if literal(m, len(open) > 0) {
		return true
	}
	if n := m.from; len(open) == 0 && n+1 < len(m.win) && quote(m.win[n+1]) && stringStart[m.win[n]] {
		m.from, open = n+2, m.win[n+1:n+2]
	}
	if sep == ":" && len(open) == 0 {
		if len(m.text(5)) > 0 {
			open = skipProperties(m)
		} else if ldifValue(m) {
			return true
		}
	}
	if len(open) == 1 && open[0] == '\\' { // of a shell, before the value
		m.from, open = m.from-1, nil
	}
	if len(open) > 0 {
		if len(m.text(3)) == 0 && (len(m.text(5)) > 0 || goesOn(m.win[m.from:])) && opened(m.before, open[len(open)-1]) {
			return false // it closes the string that the name stands in, as that of a prompt
		}
		return quotedValue(m, open)
	}
	if sep == ":=" || bytes.IndexByte(m.text(3), ')') >= 0 {
		return false
	}
	if n := m.from; n+3 > len(m.win) || !unquoted[m.win[n]] || !unquoted[m.win[n+1]] || !unquoted[m.win[n+2]] {
		return false // no class of values has more bytes
	}
	inside, skipped := variableDefault(m.before, m.win[m.from:])
	if skipped < 0 {
		return false
	}
	m.from += skipped
	lead := leads(m.before)
	tight := sep == "=" && len(m.text(3)) == 0 && len(m.text(5)) == 0
	class := listed
	switch {
	case inQuery(m.before):
		class = queried
	case inside:
		class = flowBytes
	case lead && sep == ":" && inFlow(m.before):
		class = flowBytes
	case lead:
		class = unquoted
	}
	m.to, m.tail = m.from, class
	for m.to < len(m.win) && class[m.win[m.to]] {
		m.to++
	}
	if m.to < len(m.win) || len(m.win) < Window {
		cut := ";" // which ends a command
		if lead && !tight {
			cut = ",;"
		}
		if v := bytes.TrimRight(m.win[m.from:m.to], cut); len(v) < m.to-m.from || lead && !tight {
			m.to = m.from + len(v)
			m.tail = nil
		}
	}
	value, rest := m.win[m.from:m.to], m.win[m.to:]
	if inside {
		return len(value) >= 3 && len(rest) > 0 && rest[0] == '}' && !placeholder(value) && !filePath.Match(value) && (m.kind == "password" || !number.Match(value))
	}
	if len(value) > 0 && value[0] == '(' && bytes.HasSuffix(bytes.ToLower(m.text(2)), []byte("s")) {
		return false // a list of a shell
	}
	return len(value) >= 3 && bareValue(m, word, value, rest, lead, tight)
}

// bareValue judges a value without quotes. What stands alone after a name is one; in running text and in programs it
// takes more.
func bareValue(m *match, word string, value, rest []byte, lead, tight bool) bool {
	flow := false
	if !tight && !endsLine(rest) {
		if flow = flowNext.Match(rest) && inFlow(m.before); !flow {
			return false
		}
	}
	switch {
	case placeholder(value), nodeAlone.Match(value), word == "pwd" && (value[0] == '/' || value[0] == '~'):
		return false
	case value[0] == '=' || value[0] == ':' || value[0] == '>' || value[0] == '/' && filePath.Match(value):
		return false
	case len(rest) > 0 && (rest[0] == '(' || rest[0] == '['), call.Match(value):
		return false
	case m.kind != "password" && (number.Match(value) || len(value) < 4):
		return false
	case bytes.EqualFold(value, m.text(1)):
		return false
	case tight && capitals(value) && bytes.HasPrefix(m.before[wordStart(m.before):], []byte("-")):
		return false // the help of a program
	case tight && loads.Match(m.before) && word == "credential":
		return false
	case tight:
		return lead || !dotted.Match(value)
	case word == "pass" && bytes.Equal(m.text(1), []byte("PASS")):
		return false
	case lead && !flow:
		return !dotted.Match(value)
	}
	return !letters.Match(value) && !dotted.Match(value)
}

var (
	filePath = lazyregexp.New(`^/[a-z0-9_.-]+(?:/[\w.-]*)+$`)
	number   = lazyregexp.New(`^[0-9.,_]{1,15}(?:[a-zA-Z%]{0,3})$`)
	dotted   = lazyregexp.New(`^[A-Za-z_]+(?:(?:\.|->|::)[A-Za-z_]+)+;?$`)
	letters  = lazyregexp.New(`^[A-Za-z_-]+[.!?:]?$`)
	call     = lazyregexp.New(`^[A-Za-z_][\w.:>-]*[(\[]`)
)

func quotedValue(m *match, open []byte) bool {
	quote := open[len(open)-1]
	escaped := len(open) == 2
	end := m.from
	for end < len(m.win) && m.win[end] != quote {
		if m.win[end] == '\\' && end+1 < len(m.win) {
			if escaped && m.win[end+1] == quote {
				break
			}
			end++
		}
		end++
	}
	m.to = min(end, len(m.win))
	m.tail = nil
	if m.to == len(m.win) {
		m.tail = quotedTail(quote)
	}
	value := m.win[m.from:m.to]
	return len(value) >= 3 && (m.kind == "password" || len(value) >= 4 && !number.Match(value)) && !placeholder(value)
}

// goesOn reports whether a program goes on with b, after the end of a string.
func goesOn(b []byte) bool {
	return len(b) > 0 && bytes.IndexByte([]byte(" \t.+,)&"), b[0]) >= 0
}

// opened reports whether a quote is open at the end of before.
func opened(before []byte, quote byte) bool {
	return bytes.Count(linePrefix(before), []byte{quote})%2 == 1
}

func quotedTail(quote byte) *class {
	c := &class{}
	for b := range c {
		c[b] = b != '\n' && b != int(quote)
	}
	return c
}

// flagValue judges --name value.
func flagValue(m *match) bool {
	m.kind = kindOfName(string(bytes.ToLower(m.text(1))))
	if len(m.text(2)) > 0 {
		return false
	}
	m.pick(3)
	value := m.win[m.from:m.to]
	if placeholder(value) || capitals(value) || value[0] == '(' {
		return false
	}
	return !bytes.EqualFold(value, m.text(1))
}

func kindOfName(word string) string {
	switch {
	case word[0] == 'p' && word[1] != 'r', word == "authtok", len(word) > 2 && word[len(word)-2:] == "pw":
		return "password"
	case word == "token":
		return "token"
	case word == "secret", len(word) >= 10 && word[:10] == "credential":
		return "secret"
	}
	return "api-key"
}

// secretSuffix judges the name around the word that made it interesting.
func secretSuffix(m *match, word string, suffix []byte) bool {
	if len(word) <= 4 && word[0] != '_' && word != "otpw" && !nameLeft.allows(m.before, m.win[0]) {
		return false
	}
	if len(suffix) == 0 {
		return true
	}
	switch c := suffix[0]; {
	case c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9':
	case len(suffix) == 1 && (c == 's' || c == 'S'):
		return word != "token" && word != "pass"
	case c >= 'A' && c <= 'Z':
		if p := m.win[m.group[4]-1]; p < 'a' {
			return false
		}
	default:
		return false
	}
	return !notSecret.Match(suffix)
}

// leads reports whether a name after before is what its line is about.
func leads(before []byte) bool {
	i := bytes.LastIndexAny(before, "\n\x00")
	if i < 0 && len(before) >= lookback {
		return false
	}
	line, colons := before[i+1:], 0
	for _, c := range line {
		if c == ':' {
			colons++
		}
		if !leadBytes[c] || colons > 2 {
			return false
		}
	}
	return leading.Match(line)
}

// loads are the starts of systemd's settings that name a file.
var loads = lazyregexp.New(`(?:Load|Import)$`)

// stringStart are the letters that may stand before a string: of SQL, Python, C#, and of shells.
var stringStart = classOf("NEUbruRBf@$")

// leadBytes are those of leading.
var leadBytes = classOf("A-Za-z0-9_./~: \t\"'{(>+[=-")

// endsLine reports whether a line ends with what may follow a value without quotes.
func endsLine(rest []byte) bool {
	i := skip(rest, quoteAt(rest, 0), " \t\r,;)}]")
	i = skip(rest, quoteAt(rest, i), " \t\r")
	rest = rest[i:]
	return len(rest) == 0 || rest[0] == '#' || bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("--"))
}

func inQuery(before []byte) bool {
	i := len(before)
	for i > 0 && (isAlnum(before[i-1]) || before[i-1] == '_' || before[i-1] == '-') {
		i--
	}
	return i > 0 && (before[i-1] == '?' || before[i-1] == '&')
}
