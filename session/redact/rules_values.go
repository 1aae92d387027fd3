package redact

import (
	"bytes"
	"strings"

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
				`(=>|:=|\?=|\|\|=|[=:])([ \t]*` + escapes + `)(\\?["']?)`),
		},
		{ // pw=x
			kind: "password", keys: []string{"pw=", "pw: ", "pw = "}, left: wordLeft, look: 256, tail: unquoted, pre: func(before, _ []byte, _ int) bool { return leads(before) },
			re: lazyregexp.New(`^(?i)pw(?:=|: | = )(?:\$?"([^"$\x60\n]{6,})"|\$?'([^'\n]{6,})'|([^\s"'$<\x60({/~%*]{6,}))`),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				if m.to < len(m.win) && (m.win[m.to] == '(' || m.win[m.to] == '[') {
					return false
				}
				return len(v) <= 40 && bytes.ContainsAny(v, "0123456789") && !number.Match(v) && !call.Match(v) && v[len(v)-1] != ';' && !bytes.Contains(v, []byte("->")) && !placeholder(v)
			},
		},
		{
			kind: "secret", keys: secretNames, name: true, pre: isFlag, ok: flagValue,
			re: lazyregexp.New(`^(?:[ \t]+|\x00)` + shellWord),
		},
	}
}

var (
	// notSecret are ends of names whose values are about a secret, and are none; aboutSecret begin such ends.
	notSecret = strings.Fields(`type ttl timeout count file path dir name names len length size url uri endpoint policy min max age id ids field prompt version hint
		strength rotation enabled through required ref store manager provider class helper reqd authentication auth limit usage used error status
		changed updated created at on env format algorithm alg arn reset change subject label title placeholder maps bytes chars index source
		header issuer audience scope scopes budget window rate`)
	aboutSecret = strings.Fields(`expir valid`)
	// leading is what may stand on a line before a name, if the line is about that name.
	leading = lazyregexp.New(`^(?:[\w./~-]+:(?:\d+:)?)?[ \t"'{(>+-]*(?:(?:export|set|setx|setenv|env|declare -x|typeset -x|local|readonly|ENV|ARG|Environment=)[ \t"']*)?[\w.\[/-]*$`)
)

// ofAccountNames is what comes before the names of the secrets of a service account, as kubectl describes it.
var ofAccountNames = lazyregexp.New(`(?:Mountable|Image pull) $`)

// inARN is what comes before the name of a secret of AWS.
var inARN = lazyregexp.New(`\bsecretsmanager:[\w-]*:\d*:$`)

// nameLook bounds the rest of a name and what stands between it and its value.
const nameLook = 160

// assigns reports whether a name can be one that gets a value.
func assigns(_, win []byte, name int) bool {
	i := skip(win, name, "\"'\\])")
	if i < len(win) && win[i] == 0x1b {
		return true // a control sequence that is too long for one
	}
	i = skip(win, i, " \t")
	if i += conditional(win[i:]); i == len(win) || win[i] != ':' && win[i] != '=' {
		return false
	}
	return len(win) == nameLook || skip(win, i, ":=> \t\r") < len(win)
}

// conditional returns how much of b comes before the equals sign of what assigns only where there is no value: ?= and ||=.
func conditional(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("?=")):
		return 1
	case bytes.HasPrefix(b, []byte("||=")):
		return 2
	}
	return 0
}

// separator matches as the expression of names and values does, where no control sequence stands.
func separator(b []byte) []int {
	i := skip(b[:min(len(b), 2)], 0, "\"'\\")
	if i < len(b) && (b[i] == ']' || b[i] == ')') {
		i++
	}
	i = skip(b, i, " \t")
	sep := i
	if i += conditional(b[i:]); i == len(b) || b[i] != ':' && b[i] != '=' {
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
	if name == len(win) || !blank(win[name]) && win[name] != 0 {
		return false
	}
	i := len(before)
	for i > 0 && tokenBytes[before[i-1]] {
		i--
	}
	return i < len(before) && before[i] == '-' && wordOfShell(win[skip(win, name, " \t\x00"):]) && (i == 0 || bytes.IndexByte([]byte(" \t\n\f\r\"'=\x00"), before[i-1]) >= 0)
}

// secretAccess reports whether more than the word secret is there of the name of an AWS key.
func secretAccess(_, win []byte, _ int) bool {
	i := skip(win, len("secret"), "_-")
	return foldedPrefix(win[i:], []byte("access"))
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

// isNameOf reports whether a name that ends in secret holds the name of one, as in charts of Helm: existingSecret, pullSecret, tlsSecret.
func isNameOf(before []byte) bool {
	before = bytes.TrimRight(before, "_-")
	for _, word := range []string{"existing", "pull", "tls"} {
		if n := len(before) - len(word); n >= 0 && bytes.EqualFold(before[n:], []byte(word)) {
			return true
		}
	}
	return false
}

// secretSuffix judges the name around the word that made it interesting.
func secretSuffix(m *match, word string, suffix []byte) bool {
	if word == "secret" && (bytes.HasSuffix(m.before, []byte(":")) && inARN.Match(m.before) || len(suffix) == 1 && ofAccountNames.Match(m.before) || len(suffix) == 0 && isNameOf(m.before)) {
		return false
	}
	if word == "passwd" && len(suffix) == 0 && bytes.HasSuffix(m.before, []byte("etc/")) {
		return false // the file
	}
	if len(word) <= 4 && word != "otpw" && !nameLeft.allows(m.before, m.win[0]) && (bytes.HasPrefix(suffix, []byte(".")) || !glued(m.before, word)) {
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
	return !saysNoSecret(suffix)
}

// saysNoSecret reports whether a name ends with a word of notSecret, or with one that begins as one of aboutSecret does.
func saysNoSecret(name []byte) bool {
	low := bytes.ToLower(name)
	for _, end := range notSecret {
		if bytes.HasSuffix(low, []byte(end)) {
			return true
		}
	}
	for _, stem := range aboutSecret {
		if i := bytes.LastIndex(low, []byte(stem)); i >= 0 && len(bytes.Trim(low[i:], wordLetters)) == 0 {
			return true
		}
	}
	return false
}

// wordLetters are those of a word, in lower case.
const wordLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"

// owners are what passwords are of, and may be written without anything between the two, as in dbpass; no other word begins so.
var owners = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`admin api app bind cert client db email ftp guest host http imap ipmi key keystore ldap local login mail mongo my mysql new
		old pg pop postgres proxy radius rdp redis remote repl root rpc sasl server service sftp sip smb smtp sql ssh ssl store su sudo truststore trust user
		vnc vpn web wifi`) {
		words[w] = true
	}
	return words
}()

// glued reports whether before ends with one of owners, and word with what is theirs.
func glued(before []byte, word string) bool {
	i := len(before)
	for i > 0 && letter(before[i-1]) && len(before)-i < 12 {
		i--
	}
	owner := string(bytes.ToLower(before[i:]))
	return owners[owner] && (word == "pass" || word == "pwd" && owner != "old")
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
