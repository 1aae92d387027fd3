package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// callRules take out what programs pass to functions: of a name and a value, or whose own name says what they take.
func callRules() []*rule {
	return []*rule{
		{ // define('DB_PASSWORD', 'x')
			kind: "secret", keys: secretNames, name: true, pre: nextArgument, look: 512,
			re: lazyregexp.New(`^\\?["'][ \t]*,[ \t]*` + literalText),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && argument(m) },
		},
		{ // setPassword("x")
			kind: "secret", keys: secretNames, name: true, pre: opensCall, look: 512,
			re: lazyregexp.New(`^[ \t]?\([ \t]*(?:\w{1,12},[ \t]*)?[NEUr]?` + literalText + `[ \t]*[),]`),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && takesSecret(m) },
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
	return len(b) > 0 && b[len(b)-1] == '('
}

// setters are functions that are given a name and what it is to stand for.
var setters = lazyregexp.New(`(?i)(?:^|\W|_|[a-z])(?:define|set|set[_-]?(?:env|property|item|option|value|default|var|variable|parameter|string|secret)|putenv|put|` +
	`get_?env|env|env_var|environ\.get|fetch|getproperty|config|add|append|header|with|secret|option|configure|store|update|insert)[ \t]*\([ \t]*\\?["'][\w.:/-]*$`)

// argument judges the string that follows a name in a call.
func argument(m *match) bool {
	v := m.win[m.from:m.to]
	switch {
	case placeholder(v), filePath.Match(v), bytes.EqualFold(v, m.text(1)), m.kind != "password" && number.Match(v):
		return false
	case setters.Match(m.before):
		return true
	}
	return bytes.ContainsAny(v, "0123456789") && !bytes.ContainsAny(v, " :|<>%")
}

// opensCall reports whether a string is the argument of what a name ends.
func opensCall(_, win []byte, name int) bool {
	if name < len(win) && win[name] == ' ' {
		name++
	}
	return name < len(win) && win[name] == '(' && bytes.IndexAny(win[name:], "\"'") > 0
}

// takers are the starts of names of functions that are given a secret, and not the name of one or a question.
var takers = lazyregexp.New(`(?i)(?:^|[^a-z])(?:set|with|change|update|hash|encrypt|check|verify|compare|use)\w*$`)

// takesSecret judges the string that a function is called with whose name says that it is for secrets.
func takesSecret(m *match) bool {
	v := m.win[m.from:m.to]
	if placeholder(v) || filePath.Match(v) || bytes.EqualFold(v, m.text(1)) || m.kind != "password" && len(v) < 8 {
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
