package redact

import (
	"bytes"
	"strconv"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// sqlRules take out passwords from statements, but for those that a name and an equals sign give away.
func sqlRules() []*rule {
	return append(insertRules(), []*rule{
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
		{ // select pgp_sym_encrypt(a, 'x')
			kind: "password", keys: []string{"pgp_sym_", "aes_encrypt(", "aes_decrypt("}, left: wordLeft, look: 512,
			re: lazyregexp.New(`^(?i)(?:pgp_sym_(?:en|de)crypt(?:_bytea)?|aes_(?:en|de)crypt)\((?:[^()'\n]|'[^'\n]*'|\([^()\n]*\))*,[ \t]*'([^'\n]{3,})'`),
			ok: notPlaceholder,
		},
		{ // what select authentication_string shows
			kind: "password-hash", keys: append(starts("| *", hexDigits), "| $a$"), look: 128,
			re: lazyregexp.New(`^\| (\*[0-9A-F]{40}|\$A\$00\d\$[^|\n]{20,}?)[ \t]*(?:\||$)`),
		},
		{ // "kim" "md5…", "kim" "SCRAM-SHA-256$…", as in userlist.txt of PgBouncer: whoever has it may log in
			kind: "password", keys: []string{"\"md5"}, look: 64,
			re: lazyregexp.New(`^"(md5[0-9a-f]{32})"`),
		},
		{
			kind: "password", keys: []string{"scram-sha-256$"}, look: 256,
			re: lazyregexp.New(`^SCRAM-SHA-256\$[0-9]+:([A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{20,}:[A-Za-z0-9+/=]{20,})`),
		},
	}...)
}

// insertRules take out the value that stands where the column of a password does: insert into users (name, password) values ('a', 'x').
// There is one for each of the first columns.
func insertRules() (out []*rule) {
	const column, value = `[^(),'\n]*`, `(?:[^(),'\n]*|[ \t]*[en]?'[^'\n]*'[ \t]*)`
	for at := range 8 {
		before := "{" + strconv.Itoa(at) + "}"
		out = append(out, &rule{
			kind: "password", keys: []string{"insert into ", "replace into "}, left: wordLeft, look: 1024, need: "pass",
			re: lazyregexp.New(`^(?i)(?:insert|replace)[ \t]+into[ \t]+[^\s(]+[ \t]*\((?:` + column + `,)` + before + `[ \t"\x60]*(?:\w+_)?(?:password|passwd|passwort|pass|passwd_hash|password_hash|pass_hash)[ \t"\x60]*(?:,[^()\n]*)?\)` +
				`[ \t]*values[ \t]*\((?:` + value + `,)` + before + `[ \t]*[en]?'([^'\n]{2,})'`),
			ok: notPlaceholder,
		})
	}
	return out
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
