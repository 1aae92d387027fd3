package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// secretNames are the keywords of secretName.
var secretNames = []string{
	"pass", "pwd", "psk", "secret", "token", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey",
	"private_key", "signing_key", "encryption_key", "master_key", "account_key", "auth_key", "shared_key",
	"preshared_key", "credential", "bindpw", "bind_pw", "otpw", "otp_seed", "db_pw", "admin_pw", "default_pw", "mysql_pw", "smtp_pw", "ldap_pw", "ftp_pw", "vpn_pw", "authtok", "presharedkey", "pre-shared-key", "pre_shared_key",
}

// lineRules take out values that stand on the lines after their names, or are named by XML, YAML and JSON in other ways
// than name: value.
func lineRules() []*rule {
	return []*rule{
		{ // password: |
			kind: "secret", keys: secretNames, name: true, pre: blockOpens, ok: namesSecret,
			re:   lazyregexp.New(`^(?i)["']?[ \t]*:[ \t]*(?:[&!]\S*[ \t]+){0,2}[|>][+-]?\d?[+-]?[ \t]*(?:#.*)?\r?$`),
			then: func(m *match) follow { return block(m.kind, keyDepth(m.before)) },
		},
		{ // "password":
			kind: "secret", keys: secretNames, name: true, pre: colonEnds,
			ok: func(m *match) bool { return namesSecret(m) || namesList(m) },
			re: lazyregexp.New(`^(?i)(["']?)[ \t]*[:=](?:[ \t]+[&!]\S*){0,2}[ \t]*(\\?)[ \t]*\r?$`),
			then: func(m *match) follow {
				depth := keyDepth(m.before)
				if len(m.text(4)) > 0 {
					depth = -1
				}
				var value follow
				if namesSecret(m) {
					value = nextValue(m.kind, depth, len(m.text(3)) > 0)
				}
				if value != nil && !oneSecret(m) {
					value = either(value, blockMembers(m.kind, keyDepth(m.before)))
				}
				return entries(m.kind, oneSecret(m), keyDepth(m.before), value)
			},
		},
		{ // <password>x</password>, <property name="password">x</property>
			kind: "secret", keys: secretNames, name: true, pre: tagEnds, look: 512,
			re: lazyregexp.New(`^(?i)["']?(?:[ \t][^<>\n]*)?>[ \t]*(?:<(?:value|string)>[ \t]*)?(?:<!\[CDATA\[)?([^<>\n\]]{2,}?)[ \t]*(?:\]\]>|<|$)`),
			ok: func(m *match) bool {
				m.pick(3)
				closed := m.group[1] < len(m.win) || bytes.HasSuffix(m.win, []byte("<")) || bytes.HasSuffix(m.win, []byte(">"))
				return namesSecret(m) && notPlaceholder(m) && isTagText(m) && (closed || firstTag(m.before))
			},
		},
		{ // the same with its text on the next line; <key>password</key>, <name>password</name>
			kind: "secret", keys: secretNames, name: true, pre: lastTag, look: 512,
			ok:   func(m *match) bool { return namesSecret(m) && (tagged(m.before) || isTagText(m) && firstTag(m.before)) },
			re:   lazyregexp.New(`^(?i)(?:["']?(?:[ \t][^<>\n]*[^/<>\n])?>|</(?:[\w-]+:)?(?:key|name)>)[ \t\r]*$`),
			then: func(m *match) follow { return after(m.kind, elementText, 2) },
		},
		{ // <key>password</key><string>x</string>
			kind: "secret", keys: secretNames, name: true, pre: tagCloses, look: 512,
			re: lazyregexp.New(`^(?i)</(?:key|name)>[ \t]*<(?:string|value)>([^<\n]{2,})<`),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && !placeholder(m.win[m.from:m.to]) },
		},
		{ // <add key="password" value="x"/>
			kind: "secret", keys: secretNames, name: true, pre: inAttribute, look: 512,
			re: lazyregexp.New(`^(?i)["'][ \t][^<>\n]*?value[ \t]*=[ \t]*["']([^"'\n]{3,})["']`),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && namedValue(m) },
		},
		{ // {"name": "PASSWORD", "value": "x"}
			kind: "secret", keys: secretNames, name: true, pre: pairName, look: 512,
			re: lazyregexp.New(`^(?i)\\?["'][ \t]*,[ \t]*\\?["'][a-z]*value\\?["'][ \t]*:[ \t]*\\?["']([^"'\\\n]{3,})`),
			ok: func(m *match) bool { m.pick(3); return namesSecret(m) && namedValue(m) },
		},
		{ // variable "password" {, with what it is by default on one of the next lines
			kind: "secret", keys: secretNames, name: true, next: `"`, pre: braceEnds, look: nameLook,
			re:   lazyregexp.New(`^"[ \t]*\{[ \t\r]*$`),
			ok:   func(m *match) bool { return namesSecret(m) && variableName.Match(linePrefix(m.before)) },
			then: func(m *match) follow { return within(m.kind, defaultLine, 16) },
		},
		{ // form-data; name="password", with its value on the next line but one
			kind: "secret", keys: secretNames, name: true, next: `"`, look: nameLook, pre: inForm,
			re:   lazyregexp.New(`^"[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return after(m.kind, formValue, 2) },
		},
		{ // - name: PASSWORD, with its value on the next line
			kind: "secret", keys: secretNames, name: true, pre: lastName, look: nameLook, ok: namesSecret,
			re:   lazyregexp.New(`^(?i)["']?,?[ \t\r]*$`),
			then: func(m *match) follow { return after(m.kind, valueLine, 1) },
		},
		{ // secret "x"; of BIND, requirepass "x"
			kind: "secret", keys: secretNames, name: true, pre: quotedAlone, look: 512,
			re: lazyregexp.New(`^[ \t]+(?:"([^"\n]{3,})"|'([^'\n]{3,})')[ \t]*(;?)[ \t\r]*(?:[#}].*)?$`),
			ok: func(m *match) bool {
				whole := len(m.text(5)) > 0 && inBraces(m.before) || ownLine(linePrefix(m.before))
				m.pick(3)
				return namesSecret(m) && whole && !placeholder(m.win[m.from:m.to])
			},
		},
		{ // secret "x"; }; on one line
			kind: "secret", keys: secretNames, name: true, pre: quotedInBraces, look: 512,
			re: lazyregexp.New(`^[ \t]+(?:"([^"\n]{3,})"|'([^'\n]{3,})')[ \t]*;`),
			ok: func(m *match) bool {
				m.pick(3)
				return namesSecret(m) && inBraces(m.before) && !placeholder(m.win[m.from:m.to])
			},
		},
		{ // password x, with nothing else on its line than who has it
			kind: "password", keys: []string{"password ", "passwd ", "passphrase ", "auth-pass ", "psk ", "dbpass ", "db_pass "}, look: 512, pre: lastWords,
			re: lazyregexp.New(`^(?i)(?:insecure-)?(?:password|passwd|passphrase|auth-pass|psk|db_?pass)[ \t]+(?:\w+[ \t]+)??(?:[05789][ \t]+)?([^\s"'|;&<>()]{3,})[ \t\r]*$`),
			ok: func(m *match) bool {
				v, line := m.text(1), linePrefix(m.before)
				if placeholder(v) || letters.Match(v) && !account.Match(line) || filePath.Match(v) || bytes.ContainsAny(v, "=:[") {
					return false
				}
				words := len(bytes.Fields(m.win))
				switch {
				case bytes.HasPrefix(bytes.ToLower(m.win), []byte("auth-pass")):
					return sentinel.Match(line) || words == 2 && ownLine(line)
				case account.Match(line):
					return !letters.Match(v) || !sentence[string(bytes.ToLower(v))] && words == 2
				}
				return (words == 2 || hasLevel.Match(m.win)) && ownLine(line)
			},
		},
		{ // .netrc over several lines
			kind: "password", keys: []string{"login "}, pre: loginEnds, look: 256,
			re:   lazyregexp.New(`^(?i)login[ \t]+\S+[ \t\r]*$`),
			ok:   func(m *match) bool { return netrcLine.Match(linePrefix(m.before)) },
			then: func(*match) follow { return after("password", netrcValue, 1) },
		},
		{
			kind: "secret", keys: []string{"data:"}, look: 64, pre: mappingAfter(len("data:")),
			re:   lazyregexp.New(`^data:[ \t]*(?:&\S+[ \t]*)?\{?[ \t\r]*$`),
			ok:   func(m *match) bool { return ownLine(linePrefix(m.before)) && m.group[1] == len(m.win) },
			then: func(m *match) follow { return pairs(keyDepth(m.before), false) },
		},
		{
			kind: "secret", keys: []string{"stringdata:"}, look: 64, pre: mappingAfter(len("stringData:")),
			re:   lazyregexp.New(`^stringData:[ \t]*(?:&\S+[ \t]*)?\{?[ \t\r]*$`),
			ok:   func(m *match) bool { return ownLine(linePrefix(m.before)) && m.group[1] == len(m.win) },
			then: func(m *match) follow { return pairs(keyDepth(m.before), true) },
		},
		{
			kind: "secret", keys: []string{`data"`, `data\"`}, look: 64, need: "{", pre: inObject,
			re:   lazyregexp.New(`^(?i)data"[ \t]*:[ \t]*\{[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(m *match) follow { return pairs(keyDepth(m.before), bytes.HasSuffix(m.before, []byte("string"))) },
		},
		{
			kind: "secret", keys: []string{`data"`, `data\"`}, look: 64, need: "{", pre: inObject,
			re: lazyregexp.New(`^(?i)data\\?"[ \t]*:[ \t]*\{`),
			ok: func(m *match) bool {
				return len(bytes.TrimSpace(m.win[m.group[1]:])) > 0
			},
			here: func(m *match) follow { return inline(bytes.HasSuffix(m.before, []byte("string"))) },
		},
	}
}

var (
	variableName = lazyregexp.New(`^[ \t]*variable[ \t]+"[\w-]*$`)
	defaultLine  = lazyregexp.New(`^[ \t]*default[ \t]*=[ \t]*"((?:[^"\\]|\\.){3,})"`)
	formField    = lazyregexp.New(`(?i)form-data;[ \t]*name="[\w.\[-]*$`)
	formValue    = lazyregexp.New(`^([^\r\n]{3,}?)[ \t\r]*$`)
	elementText  = lazyregexp.New(`^[ \t]*(?:<(?:[\w-]+:)?(?:string|value)>)?[ \t]*(?:<!\[CDATA\[)?([^<>\s][^<>\n]*?)[ \t\r]*(?:<|\]\]>|$)`)
	valueLine    = lazyregexp.New(`^[ \t]*\\?["']?[vV]alue\\?["']?[ \t]*[:=][ \t]*(?:\\?["'])?([^\s"'{\[|>][^"'\r\n]{2,}?)(?:\\?["'])?,?[ \t\r]*$`)
	netrcValue   = lazyregexp.New(`^[ \t]*password[ \t]+(\S{2,})[ \t\r]*$`)
	netrcLine    = lazyregexp.New(`^(?:[ \t]+|machine[ \t]+\S+[ \t]+|default[ \t]+)$`)
	account      = lazyregexp.New(`^(?i)[ \t]*(?:user|username|login|machine|neighbor|account)[ \t]+\S+[ \t]+(?:\S+[ \t]+){0,4}(?:insecure-)?$`)
	sentinel     = lazyregexp.New(`^(?i)[ \t]*sentinel[ \t]+$`)
	hasLevel     = lazyregexp.New(`^\S+[ \t]+[05789][ \t]`)
	sentence     = map[string]bool{
		"expired": true, "expires": true, "authentication": true, "changed": true, "incorrect": true, "accepted": true,
		"failure": true, "failed": true, "required": true, "invalid": true, "reset": true, "prompt": true, "hash": true,
		"login": true, "auth": true, "mismatch": true, "ok": true, "field": true, "and": true, "is": true, "or": true,
		"change": true, "changes": true, "update": true, "rotation": true, "policy": true, "expiry": true, "expiration": true,
	}
)

// inForm reports whether a name is that of a field of a form.
func inForm(before, _ []byte, _ int) bool { return formField.Match(linePrefix(before)) }

// namesSecret judges the name of a rule whose first groups are secretName and nameRest.
func namesSecret(m *match) bool {
	word := string(bytes.ToLower(m.text(1)))
	m.kind = kindOfName(word)
	return secretSuffix(m, word, m.text(2))
}

// namedValue judges the value of a pair of a name and a value.
func namedValue(m *match) bool {
	if literal(m, true) {
		return true
	}
	v := m.win[m.from:m.to]
	return !placeholder(v) && !filePath.Match(v) && (m.kind == "password" || !number.Match(v))
}

// firstTag reports whether no text stands before the tag that before ends in: of a manual, it stands for a value.
func firstTag(before []byte) bool {
	line := linePrefix(before)
	line = bytes.TrimRight(line[:max(0, bytes.LastIndexByte(line, '<'))], " \t")
	return len(line) == 0 || line[len(line)-1] == '>'
}

// isTagText reports whether a name stands where the name of an element or the value of an attribute does.
func isTagText(m *match) bool {
	tag := m.before[bytes.LastIndexByte(m.before, '<'):]
	return len(tag) == 1 || tagName.Match(tag) || nameAttribute.Match(tag)
}

var (
	tagName       = lazyregexp.New(`^<[\w.:-]*$`)
	nameAttribute = lazyregexp.New(`^<(?:\w+:)?(?:property|entry|string|setting|param|parameter|item|field|env|var|variable|option|attribute|add|prop)[ \t].*\b(?:name|key|id)=["'][\w.:/-]*$`)
)

// linePrefix returns what of before stands on the line that is looked at.
func linePrefix(before []byte) []byte {
	i := len(before) - 1
	for i >= 0 && before[i] != '\n' && before[i] != 0 {
		i--
	}
	if i < 0 && len(before) >= lookback {
		return []byte("…")
	}
	return before[i+1:]
}

// keyDepth returns how far the key at the end of before is set in.
func keyDepth(before []byte) int {
	line := linePrefix(before)
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t' || line[n] == '-' && n+1 < len(line) && line[n+1] == ' ') {
		n++
	}
	return n
}

// secretData reports whether v is what a Kubernetes Secret holds: readable text in base64, or so much of it that it is
// nothing else.
func secretData(v []byte) bool {
	if len(v) < 8 || len(v)%4 != 0 {
		return false
	}
	b, err := base64.StdEncoding.DecodeString(string(v))
	if err != nil {
		return false
	}
	return readable(b) || len(v) >= 20 && mixed(v)
}

// wordOfDSN are the bytes of a name and a password before the address of a Go driver.
var wordOfDSN = but("\"'`=,;<>()")
