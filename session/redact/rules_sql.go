package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// sqlRules take out passwords from statements, but for those that a name and an equals sign give away.
func sqlRules() []*rule {
	return []*rule{
		{ // create user, alter role, set password, create user mapping
			kind: "password", keys: []string{"identified ", "password '", "password for ", "password e'", "password n'"},
			re: lazyregexp.New(`^(?i)(?:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?|password[ \t]+(?:for[ \t]+\S+[ \t]*(?:=|to[ \t])[ \t]*)?(?:password[ \t]*\([ \t]*)?)` +
				`[en]?\\?['"]([^'"\\\n]{2,})`),
			ok: func(m *match) bool { return !capitals(m.text(1)) },
		},
		{ // password $$x$$, password $tag$x$tag$
			kind: "password", keys: []string{"password $"}, look: 512,
			re: lazyregexp.New(`^(?i)password[ \t]+\$[a-z_]*\$([^$\n]{2,})\$[a-z_]*\$`),
			ok: notPlaceholder,
		},
		{ // alter user a identified by x
			kind: "password", keys: []string{"identified by "}, look: 256, pre: inStatement,
			re: lazyregexp.New(`^(?i)identified by[ \t]+([^\s'"\\;,()<>«»]{3,})[ \t\r]*(?:;|$|account\b|default\b|replace\b|with\b|profile\b|quota\b|using\b)`),
			ok: func(m *match) bool {
				v := bytes.ToLower(m.text(1))
				return statement.Match(linePrefix(m.before)) && !placeholder(v) && !(letters.Match(v) && bytes.Contains(v, []byte("pass"))) && v[0] != ':' && v[0] != '&'
			},
		},
		{ // exec sp_addlogin 'a', 'x'
			kind: "password", keys: []string{"sp_addlogin ", "sp_password "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?i)sp_(?:addlogin|password)[ \t]+(?:@\w+[ \t]*=[ \t]*)?n?'[^'\n]*'[ \t]*,[ \t]*(?:@\w+[ \t]*=[ \t]*)?n?'([^'\n]{3,})'`),
			ok: notPlaceholder,
		},
	}
}

var statement = lazyregexp.New(`(?i)\b(?:create|alter)[ \t]+(?:user|role)\b|\bgrant\b|\bconnect[ \t]+to\b`)

// inStatement reports whether a statement that makes or changes an account may come before.
func inStatement(before, _ []byte, _ int) bool {
	for _, word := range []string{"user", "USER", "User", "role", "ROLE", "grant", "GRANT", "connect to", "CONNECT TO"} {
		if bytes.Contains(before, []byte(word)) {
			return true
		}
	}
	return false
}
