package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// valueType is what may stand between a name and its value in the configuration of daemons and network devices: how the value is
// written, and for whom.
const valueType = `(?:[0-9]{1,2}|level[ \t]+\d+|encrypted|cipher|simple|irreversible-cipher|plain(?:-?text)?|ascii(?:-text)?|hex(?:adecimal)?|` +
	`hash(?:ed)?|sha256|sha512|md5|scrypt|ENC|local|remote|key-string)`

// lineValue is a value that ends a line, or a statement at its end.
const lineValue = `(?:"([^"\n]{2,})"|'([^'\n]{2,})'|([^\s"'#;|<>]{2,}))[ \t\r]*;?[ \t\r]*(?:#.*)?$`

// directiveRules take out values that follow their names after a blank, where the line is about them: that of a daemon's
// configuration, or of a command that sets a variable.
func directiveRules() []*rule {
	return []*rule{
		{ // bindpw x; otpw ends rootpw, whose start is the start of too many words
			kind: "password", keys: []string{"bindpw", "otpw", "bind_pw", "auth_pass", "psksecret"}, pre: lastWords, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:bind_?pw|otpw|auth_pass|psksecret)[ \t]+(?:` + valueType + `[ \t]+)?` + lineValue),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				line := linePrefix(m.before)
				return (ownLine(line) || fileLine.Match(line)) && directive(v) && !bytes.EqualFold(v, []byte("password"))
			},
		},
		{ // smtp_sasl_password_maps = static:kim:x, of Postfix
			kind: "password", keys: []string{"static:"}, look: 256,
			re: lazyregexp.New(`^static:[^\s:"'$]+:([^\s"'$]{3,})[ \t\r]*$`),
			ok: func(m *match) bool { return bytes.Contains(linePrefix(m.before), []byte("sasl_password_maps")) },
		},
		{ // SQLConnectInfo db@host kim x, of ProFTPD
			kind: "password", keys: []string{"sqlconnectinfo "}, left: wordLeft, look: 256, tail: unquoted,
			re: lazyregexp.New(`^(?i)sqlconnectinfo[ \t]+\S+[ \t]+\S+[ \t]+` + lineValue),
			ok: notPlaceholder,
		},
		{ // $USER3$=x, of Nagios and Icinga, unless it is a path
			kind: "password", keys: starts("$user", "123456789"), left: wordLeft, look: 256, tail: unquoted,
			re: lazyregexp.New(`^(?i)\$user\d+\$[ \t]*=[ \t]*([^\s"'$/]{4,})[ \t\r]*$`),
			ok: func(m *match) bool {
				return ownLine(linePrefix(m.before)) && directive(m.text(1)) && !letters.Match(m.text(1)) && !number.Match(m.text(1))
			},
		},
		{ // password "Auth" x, of the management interface of OpenVPN
			kind: "password", keys: []string{`password "auth" `, `password "private key" `}, left: wordLeft, look: 256, tail: unquoted,
			re: lazyregexp.New(`^password "(?:Auth|Private Key)"[ \t]+(?:"((?:[^"\\\n]|\\.){2,})"|([^\s"']{2,}))'?[ \t\r]*$`),
			ok: notPlaceholder,
		},
		{ // incominguser kim x, of tgt
			kind: "password", keys: []string{"incominguser ", "outgoinguser "}, left: wordLeft, look: 256, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:incoming|outgoing)user[ \t]+[^\s"'=]+[ \t]+` + lineValue),
			ok: func(m *match) bool { return ownLine(linePrefix(m.before)) && directive(m.win[m.from:m.to]) },
		},
		{ // username "kim" password "x", of Monit
			kind: "password", keys: []string{`password "`}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?i)password "((?:[^"\\\n]|\\.){2,})"`),
			ok: func(m *match) bool { return userBefore.Match(linePrefix(m.before)) && notPlaceholder(m) },
		},
		{ // api key = x, of Netdata
			kind: "api-key", keys: []string{"api key = ", "api key="}, left: wordLeft, look: 64,
			re: lazyregexp.New(`^(?i)api key[ \t]*=[ \t]*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[ \t\r]*$`),
			ok: func(m *match) bool { return ownLine(linePrefix(m.before)) },
		},
		{ // SetEnv DB_PASSWORD x
			kind: "secret", keys: secretNames, name: true, next: " \t", pre: isSet,
			re: lazyregexp.New(`^[ \t]+` + shellWord),
			ok: func(m *match) bool {
				m.pick(3)
				v := m.win[m.from:m.to]
				if m.to < len(m.win) && m.group[2*5] >= 0 {
					m.to = m.from + len(bytes.TrimRight(v, ";"))
				}
				if m.group[2*5] >= 0 && (v[0] == '(' || letters.Match(v) && !endsLine(m.win[m.to:])) {
					return false
				}
				return namesSecret(m) && !placeholder(m.win[m.from:m.to]) && !filePath.Match(v)
			},
		},
	}
}

var userBefore = lazyregexp.New(`(?i)\busername[ \t]+"[^"\n]+"[ \t]+$`)

// directive judges the value on a line that has nothing but a name and a value.
func directive(v []byte) bool {
	return !placeholder(v) && !filePath.Match(v) && !sentence[string(bytes.ToLower(v))] &&
		!capitals(v) && v[0] != '=' && v[0] != ':'
}

// fileLine is what grep writes before a line.
var fileLine = lazyregexp.New(`^[\w./~-]+:(?:\d+:)?[ \t]*(?:root|ro)?$`)

var isSetter = lazyregexp.New(`(?:^|[ \t;&|"'])(?:SetEnv|ENV|setenv|setx|set(?:[ \t]+-[a-zA-Z]*[xgU][a-zA-Z]*)+|(?:fastcgi|uwsgi|scgi)_param|proxy_set_header|more_set_(?:input_)?headers|(?:Request)?Header[ \t]+set|(?:kv|etcdctl|ssm|pass)[ \t]+put|` +
	`(?:config|configure)[ \t]+(?:set|--\w+|create[ \t]+\S+[ \t]+\S+)(?:[ \t]+--\S+)*|secrets?[ \t]+set)[ \t]+[\w./-]*$`)

// isSet reports whether a name follows the name of what sets variables, and a word follows it.
func isSet(before, win []byte, name int) bool {
	if name == len(win) || !blank(win[name]) || !wordOfShell(win[skip(win, name, " \t"):]) {
		return false
	}
	line := linePrefix(before)
	i := wordStart(line)
	for i > 0 && line[i-1] == '/' { // the path of a variable
		i = wordStart(line[:i-1])
	}
	if i == 0 || !blank(line[i-1]) {
		return false
	}
	for _, part := range []string{"et", "ENV", "param", "put", "config"} {
		if bytes.Contains(line[:i], []byte(part)) {
			return isSetter.Match(line)
		}
	}
	return false
}
