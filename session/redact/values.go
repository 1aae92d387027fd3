package redact

import (
	"bytes"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// keyValue judges name = value, name: value and the like, and finds the end of the value.
func keyValue(m *match) bool {
	word, suffix := string(bytes.ToLower(m.text(1))), m.text(2)
	m.kind = kindOfName(word)
	if m.kind == "password" && len(suffix) == 0 && (bytes.HasSuffix(m.before, []byte("NO")) || bytes.HasSuffix(m.before, []byte("no"))) && wordStart(m.before) == len(m.before)-2 {
		return false // NOPASSWD: of sudo
	}
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
		text, _, _ := bytes.Cut(m.win[m.from:], open)
		switch c := m.win[n]; {
		case (c == 'f' || c == '$' && open[0] == '"') && bytes.IndexByte(text, '{') >= 0:
			return false // a format
		case c == 'r' && bytes.ContainsAny(text, "()[]|"):
			return false // an expression
		}
	}
	if sep == ":" && len(open) == 0 {
		if len(m.text(5)) > 0 {
			open = skipProperties(m)
		} else if ldifValue(m) {
			return true
		}
	}
	if len(open) == 1 && open[0] == '\\' { // of a shell, before the value
		if m.from < len(m.win) && bytes.IndexByte([]byte("nrtuxe0"), m.win[m.from]) >= 0 {
			return false // of a string in a program, after a prompt
		}
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
	if m.to < len(m.win) && m.win[m.to] == '"' { // of a string with lines in it
		if i := bytes.Index(m.win[m.from:m.to], []byte(`\n`)); i > 0 {
			m.to, m.tail = m.from+i, nil
		}
	}
	if word := wordStart(m.before); tight && word > 0 && quote(m.before[word-1]) && wholeString.Match(m.before) && !placeholder(m.win[m.from:m.to]) {
		q := m.before[word-1]
		if i := bytes.IndexByte(m.win[m.to:], q); i > 0 && bytes.IndexByte(m.win[m.to:m.to+i], '=') < 0 {
			m.to, m.tail = m.to+i, nil // with blanks
		}
	}
	value, rest := m.win[m.from:m.to], m.win[m.to:]
	if namesResource(m, value) {
		return false
	}
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
	if !tight && !endsLine(rest) && (!besideAnother(rest) || letters.Match(value) || dotted.Match(value)) {
		if flow = flowNext.Match(rest) && inFlow(m.before); !flow {
			return wholeHeader(m, value, rest)
		}
	}
	switch {
	case placeholder(value), isNode(value), word == "pwd" && (value[0] == '/' || value[0] == '~'):
		return false
	case value[0] == '=' || value[0] == ':' || value[0] == '>' || value[0] == '/' && filePath.Match(value):
		return false
	case len(rest) > 0 && (rest[0] == '(' || rest[0] == '['), call.Match(value):
		return false
	case m.kind != "password" && (number.Match(value) || len(value) < 4):
		return false
	case bytes.EqualFold(value, m.text(1)):
		return false
	case tight && bytes.HasPrefix(m.before[wordStart(m.before):], []byte("-")) && capitals(value):
		return false // the help of a program
	case tight && word == "credential" && loads.Match(m.before):
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

// besideAnother reports whether b is what diff -y writes between two lines, and the second one.
func besideAnother(b []byte) bool {
	i := skip(b, 0, " \t\r")
	return i < len(b) && (i > 2 || b[0] == '\t') && (b[i] == '|' || b[i] == '<') && (i+1 == len(b) || b[i+1] == '\t')
}

// wholeHeader reports whether a name and its value are one word of a command in quotes, as a header of HTTP is.
func wholeHeader(m *match, value, rest []byte) bool {
	at := wordStart(m.before)
	return at > 0 && len(rest) > 0 && quote(rest[0]) && rest[0] == m.before[at-1] && len(value) >= 8 && bytes.ContainsAny(value, "0123456789") &&
		!placeholder(value) && !number.Match(value) && headerFlag.Match(m.before[:at-1])
}

var headerFlag = lazyregexp.New(`(?:^|\s)(?:-H|--header)[ \t=]?$`)

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
	if three := bytes.Repeat(open, 3); len(open) == 1 && bytes.HasPrefix(m.win[m.from:], three[1:]) && len(m.win) > m.from+2 { // of TOML and Python
		m.from += 2
		if i := bytes.Index(m.win[m.from:], three); i >= 3 {
			m.to, m.tail = m.from+i, nil
			return !placeholder(m.win[m.from:m.to])
		}
	}
	end := m.from
	for end < len(m.win) && (m.win[end] != quote || doubled(m.win[end:], escaped)) {
		if m.win[end] == quote {
			end++
		}
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
	return len(value) >= 3 && !namesResource(m, value) && (m.kind == "password" || len(value) >= 4 && !number.Match(value)) && !placeholder(value)
}

// namesResource reports whether a value is the name of a secret of Kubernetes and the like, as that of a volume.
func namesResource(m *match, value []byte) bool {
	return m.kind == "secret" && string(m.text(1)) == "secret" && len(m.text(2)) == 0 && string(m.text(4)) == ":" &&
		wordStart(m.before) == len(m.before) && resourceName.Match(value)
}

var resourceName = lazyregexp.New(`^[a-z][a-z0-9.]*(?:-[a-z0-9.]+)*-(?:credentials?|creds?|secrets?|tls|certs?|tokens?|auth|config|keys?|pull|registry|password);?$`)

// doubled reports whether b begins with two single quotes, which stand for one within quotes of YAML and SQL.
func doubled(b []byte, escaped bool) bool {
	return !escaped && len(b) > 1 && b[0] == '\'' && b[1] == '\''
}

// wholeString is how a string begins that is one setting of a variable.
var wholeString = lazyregexp.New(`(?:(?:putenv|setenv)\([ \t]*|(?:-e|--env)[ =]|Environment=|\b(?:export|ENV|ARG)[ \t]+)["'][\w.-]*$`)

// goesOn reports whether a program goes on with b, after the end of a string.
func goesOn(b []byte) bool {
	return len(b) > 0 && bytes.IndexByte([]byte(" \t.+,)&;"), b[0]) >= 0
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
	if literal(m, true) {
		return true
	}
	value := m.win[m.from:m.to]
	switch before := m.before; {
	case placeholder(value), capitals(value), value[0] == '(', shortFlag.Match(before), filePath.Match(value):
		return false
	case m.kind == "password" && (bytes.HasSuffix(before, []byte("auth-user-")) || bytes.HasPrefix(before[wordStart(before):], []byte("--ask"))): // of OpenVPN: it is that of a file; of Ansible: it is asked for
		return false
	case m.kind == "secret" && (bytes.HasPrefix(value, []byte("id=")) || bytes.HasPrefix(value, []byte("type="))): // of docker build
		return false
	}
	return !bytes.EqualFold(value, m.text(1))
}

// shortFlag is what comes before a long flag in the help of a program.
var shortFlag = lazyregexp.New(`-\w, --[\w-]*$`)

// loads are the starts of systemd's settings that name a file.
var loads = lazyregexp.New(`(?:Load|Import)$`)

// stringStart are the letters that may stand before a string: of SQL, Python, C#, and of shells.
var stringStart = classOf("NEUbruRBf@$")

// standIns are words that stand where a value would be.
var standIns = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`true false null nil none undefined yes no on off required optional string str int integer bool
		boolean bytes byte any object text ok empty set unset missing invalid expired valid wrong incorrect failed failure
		success prompt ask never always default disabled enabled redacted filtered hidden masked encrypted protected files
		changed unchanged unknown error denied rejected accepted mismatch yescrypt sha512 md5 char varchar number
		data stdin file env bearer basic digest negotiate same-origin include omit`) {
		words[w] = true
	}
	return words
}()

var (
	masked = lazyregexp.New(`^(?:[*•.x#_-]{3,}|X{3,}|…|[A-Za-z]{2,6}[_-](?:x{6,}|X{6,}|[*.]{3,}|…)|VALUE_SPECIFIED_IN_NO_LOG_PARAMETER|(?i:your[_-](?:[a-z]+[_-])*(?:key|token|password|pass|secret|value|here)))$`)
	// reference is where a value is kept, or how it comes to be known.
	reference = lazyregexp.New(`^(?:arn:aws[a-z-]*:[\w-]+:\S+|(?:vault|op|secretref|awssm|gcpsm|akv|sops|ref\+[a-z0-9+]+):(?://)?[\w.-]+/\S+|(?:file|ssm|hash|texthash|lmdb|cdb|btree):/\S*|env:[A-Z_][A-Z0-9_]*|projects/[\w-]+/secrets/\S+)$`)
	// hashName is how the hash of a password is made.
	hashName  = lazyregexp.New(`^(?i)(?:s?sha-?(?:1|224|256|384|512)?(?:[-_]?crypt)?|md[45](?:[-_]?crypt)?|(?:blf|des)[-_]?crypt|[by]?crypt|scrypt|bcrypt[-_]sha256|yescrypt|argon2(?:id?|d)?|pbkdf2(?:[-_]?(?:hmac[-_]?)?sha-?\d+)?|scram-sha-(?:1|256|512))$`)
	hashStart = classOf("abdmpsyABDMPSY")
	expansion = lazyregexp.New(`^(?:\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|\$\(.*|\$\{\{?.*|\{\{.*|<.*|%[sdvqrx(].*|%[A-Za-z_]+%|\[.*|\{[A-Za-z_.]*\}?|` + "`.*" + `|@\{.*|[|>][+-]?|&[a-z_]+)$`)
)

// placeholder reports whether v only stands for a value: a word, a mask, a variable, or a mark.
func placeholder(v []byte) bool {
	if isMarks(v) || masked.Match(v) || expansion.Match(v) || len(v) > 4 && bytes.IndexAny(v, "/:") > 0 && reference.Match(v) || len(v) >= 3 && len(v) <= 20 && hashStart[v[0]] && hashName.Match(v) {
		return true
	}
	if len(v) > 2 && v[0] == '(' {
		v = bytes.TrimSuffix(v[1:], []byte(")"))
	}
	return len(v) <= 12 && standIns[string(bytes.ToLower(bytes.TrimRight(v, ".,;:!")))]
}
