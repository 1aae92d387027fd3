package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// callRules take out what programs pass to functions: of a name and a value, or whose own name says what they take.
func callRules() []*rule {
	return []*rule{
		{ // define('DB_PASSWORD', 'x')
			kind: "secret", keys: secretNames, name: true, next: "\"'\\", pre: nextArgument, look: 512,
			re: lazyregexp.New(`^\\?["'][ \t]*,[ \t]*` + literalText),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && argument(m) },
		},
		{ // setPassword("x")
			kind: "secret", keys: secretNames, name: true, next: " (", pre: opensCall, look: 512,
			re: lazyregexp.New(`^[ \t]?\([ \t]*(?:\w{1,12},[ \t]*)?(?:(?:new[ \t]+)?(?:QString|SecretStr|String)\()?[NEUrubL]?` + literalText + `(?:_s|sv?)?[ \t]*[),]`),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && takesSecret(m) },
		},
		{ // auth("kim", "x"), server.login("kim", "x"), auth=("kim", "x")
			kind: "password", keys: []string{"auth(", "auth=(", "login(", "credential(", "credentials("}, look: 256,
			re: lazyregexp.New(`^(?i)(?:auth=?|login|credentials?)\([ \t]*(?:user(?:name)?=)?["'][^"'\n]+["'][ \t]*,[ \t]*(?:pass(?:word)?=)?` + literalText + `[ \t]*[),]`),
			ok: ofAccount,
		},
		{ // getConnection(url, "kim", "x")
			kind: "password", keys: []string{"etconnection(", "plainauth(", "sql_connect(", "sqli_connect(", "sqli(", "pdo("}, look: 384,
			re: lazyregexp.New(`^(?i)(?:etconnection|plainauth|sqli?_connect|sqli|pdo)\([ \t]*(?:[\w$.]+|"[^"\n]*"|'[^'\n]*')[ \t]*,[ \t]*["'][^"'\n]*["'][ \t]*,[ \t]*` + literalText),
			ok: ofAccount,
		},
	}
}

// nextArgument reports whether a name is a string that is the first argument of a call, and another one follows.
func nextArgument(before, win []byte, name int) bool {
	i := quoteAt(win, name)
	if i == name {
		return false
	}
	if i = skip(win, i, " \t"); i == len(win) || win[i] != ',' {
		return false
	}
	if i = skip(win, i+1, " \t"); quoteAt(win, i) == i {
		return false
	}
	b := bytes.TrimRight(before[:wordStart(before)], "\"'\\ \t")
	return len(b) > 0 && (b[len(b)-1] == '(' || b[len(b)-1] == '{')
}

// setters are functions that are given a name and what it is to stand for.
var setters = lazyregexp.New(`(?i)(?:^|\W|_|[a-z])(?:define|set|set[_-]?(?:env|property|item|option|value|default|var|variable|parameter|string|secret)|putenv|put|` +
	`get_?env|env|env_var|environ\.get|fetch|getproperty|config|add|append|header|with|secret|option|configure|store|update|insert)[ \t]*\([ \t]*\\?["'][\w.:/-]*$`)

// argument judges the string that follows a name in a call.
func argument(m *match) bool {
	v := m.win[m.from:m.to]
	switch {
	case placeholder(v), filePath.Match(v), bytes.EqualFold(v, m.text(1)), m.kind != "password" && number.Match(v),
		m.kind != "password" && letters.Match(v), bytes.EqualFold(m.text(1), []byte("pwd")) && v[0] == '/',
		letters.Match(v) && bytes.HasPrefix(bytes.ToLower(v), []byte("pass")):
		return false
	case setters.Match(m.before):
		return true
	}
	return len(m.text(2)) == 0 && bytes.ContainsAny(v, "0123456789") && !bytes.ContainsAny(v, " :|<>%")
}

// opensCall reports whether a string is the argument of what a name ends.
func opensCall(_, win []byte, name int) bool {
	if name < len(win) && win[name] == ' ' {
		name++
	}
	return name < len(win) && win[name] == '(' && bytes.IndexAny(win[name:], "\"'") > 0
}

// takers are the starts of names of functions that are given a secret, and not the name of one or a question.
var takers = lazyregexp.New(`(?:^|[^a-zA-Z])(?:[sS]et|[wW]ith|[cC]hange|[uU]pdate|[hH]ash|[eE]ncrypt|[cC]heck|[vV]erify|[cC]ompare|[uU]se)(?:[A-Z_]\w*)?$`)

// takesSecret judges the string that a function is called with whose name says that it is for secrets.
func takesSecret(m *match) bool {
	v := m.win[m.from:m.to]
	if len(m.text(2)) > 0 || placeholder(v) || filePath.Match(v) || bytes.EqualFold(v, m.text(1)) || m.kind != "password" && (len(v) < 8 || letters.Match(v)) {
		return false
	}
	if takers.Match(m.before) {
		return true
	}
	if bytes.HasPrefix(m.win, []byte("PASSWORD")) { // of SQL
		return true
	}
	method := bytes.HasSuffix(m.before, []byte(".")) || bytes.HasSuffix(m.before, []byte("->"))
	return method && m.kind == "password" && !letters.Match(v) && !bytes.ContainsAny(v, ":? ")
}

// ofAccount judges the string that a function is called with after the name of an account.
func ofAccount(m *match) bool {
	v := bytes.ToLower(m.win[m.from:m.to])
	if bytes.HasSuffix(m.before, []byte("Plain")) { // the first string is none of an account
		return false
	}
	return !placeholder(v) && !bytes.HasPrefix(v, []byte("pass")) && !filePath.Match(v) && !bytes.ContainsAny(v, " <>{}")
}
