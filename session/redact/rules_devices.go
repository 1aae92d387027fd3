package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// deviceRules take out what stands in the configuration of routers, switches and SNMP daemons.
func deviceRules() []*rule {
	return []*rule{
		{ // enable secret 0 x, username a password 7 x, ppp chap password 0 x, local-user a password cipher x
			kind: "password", keys: []string{"secret ", "password ", "passwd ", "passphrase ", "wpa-psk "}, pre: typedValue, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:secret|password|passwd|passphrase|wpa-psk)[ \t]+((?:` + valueType + `[ \t]+){0,3})` + lineValue),
			ok: func(m *match) bool {
				m.pick(2)
				v, line := m.win[m.from:m.to], linePrefix(m.before)
				switch typed := len(m.text(1)) > 0; {
				case !directive(v), cryptHash.Match(v), number.Match(v) && len(v) < 6:
					return false
				case !typed:
					return deviceUser.Match(line) && !letters.Match(v)
				case letters.Match(v):
					return deviceUser.Match(line) && m.text(1)[0] >= '0' && m.text(1)[0] <= '9'
				}
				return deviceLine.Match(line) || ownLine(line)
			},
		},
		{ // key-string 7 x, ip ospf message-digest-key 1 md5 x
			kind: "password", keys: []string{"key-string ", "authentication-key ", "message-digest-key ", "shared-key ", "encrypted-password ", "plain-text-password-value ", "set-key ascii "},
			pre: lastWords, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:key-string|authentication-key|message-digest-key|shared-key|encrypted-password|plain-text-password-value|set-key)[ \t]+((?:` + valueType + `[ \t]+){0,3})` + lineValue),
			ok: func(m *match) bool {
				m.pick(2)
				v := m.win[m.from:m.to]
				return directive(v) && !cryptHash.Match(v) && (!letters.Match(v) || (len(m.text(1)) > 0 || indented(m.before)) && len(v) > 3)
			},
		},
		{ // tacacs-server key 7 x, radius-server host a key x
			kind: "password", keys: []string{"tacacs-server ", "radius-server "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?i)(?:tacacs|radius)-server[ \t]+(?:host[ \t]+\S+[ \t]+(?:\S+[ \t]+){0,8}?)?key[ \t]+(?:` + valueType + `[ \t]+)?` + lineValue),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				return directive(v) && !bytes.HasPrefix(v, []byte("config-"))
			},
		},
		{ // key 7 x, also after the address of a server; many words have the start of key
			kind: "password", keys: []string{"y 0 ", "y 6 ", "y 7 "}, look: 256,
			re: lazyregexp.New(`^y[ \t]+[067][ \t]+([^\s"'#;]{3,})[ \t\r]*$`),
			ok: func(m *match) bool {
				v, line := m.text(1), linePrefix(m.before)
				start, isKey := bytes.CutSuffix(line, []byte("ke"))
				return isKey && directive(v) && !letters.Match(v) && (ownLine(start) || deviceLine.Match(start))
			},
		},
		{ // crypto isakmp key x address a
			kind: "password", keys: []string{"isakmp key "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^isakmp key[ \t]+(?:\d[ \t]+)?([^\s"']{3,})[ \t]+(?:address|hostname)[ \t]`),
			ok: notPlaceholder,
		},
		{ // com2sec readonly default x, snmp-agent community read cipher x, snmp-server host a version 2c x
			kind: "password", keys: []string{"com2sec ", "com2sec6 ", "snmp-agent community ", "snmp community ", "snmp-server host ", "trapsink ", "trap2sink "},
			left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?:com2sec6?[ \t]+\S+[ \t]+\S+|snmp community|snmp-agent community[ \t]+(?:read|write)(?:[ \t]+(?:cipher|simple))?|` +
				`snmp-server host[ \t]+\S+[ \t]+(?:traps[ \t]+|informs[ \t]+)?(?:version[ \t]+(?:1|2c))|trap2?sink[ \t]+\S+)[ \t]+([^\s#"']{3,})`),
			ok: func(m *match) bool { return !bytes.EqualFold(m.text(1), []byte("public")) && notPlaceholder(m) },
		},
		{ // snmp-server user a b v3 auth sha x priv aes 128 y
			kind: "password", keys: []string{"snmp-server user ", "createuser ", "usm-user "}, left: wordLeft, look: 256, pre: protocolNear,
			re:   lazyregexp.New(`^(?i)(?:snmp-server user|createuser|usm-user)[ \t]+`),
			here: func(*match) follow { return each("password", snmpUser, 256, nil) },
		},
		{ // snmpwalk -v3 -A x -X y
			kind: "password", keys: []string{"snmpwalk ", "snmpget ", "snmpset ", "snmpbulkwalk ", "snmptrap ", "snmpgetnext ", "snmptable ", "snmpstatus "},
			left: wordLeft, look: commandLook, pre: wordStarts(";|&", "-A", "-X", "-c"),
			re:   lazyregexp.New(`^snmp[a-z]+[ \t]+`),
			here: func(m *match) follow { return each("password", snmpFlag, commandLook, bytes.Clone(commandName(m.win))) },
		},
	}
}

var (
	deviceUser = lazyregexp.New(`^(?i)[ \t]*(?:enable|login|dialer|ipsec|xauth|(?:tcp[ \t]+)?md5sig|(?:username|user|local-user)[ \t]+\S+(?:[ \t]+\S+){0,6}|enable[ \t]+algorithm-type[ \t]+\S+)[ \t]+$`)
	deviceLine = lazyregexp.New(`^(?i)[ \t]*(?:enable|username|user|local-user|super|neighbor|ppp|ip|ipv6|tacacs|radius|server|aaa|standby|vrrp|glbp|crypto|` +
		`line|set|isis|bgp|ospf|authentication|wpa|security|area|tunnel|peer)\b.*[ \t]$`)
	// cryptHash is a hash of crypt(5), for which there is another rule.
	cryptHash = lazyregexp.New(`^(?:\$\w{1,4}\$[^$\s]*\$|\$2[abxy]\$\d\d\$)[./A-Za-z0-9]{20,}`)
	snmpUser  = lazyregexp.New(`(?i)(?:^|[ \t])(?:sha[0-9-]{0,8}|md5|aes(?:[ \t-]?(?:128|192|256))?|(?:3?des)|auth-pass|priv-pass)[ \t]+(?:-[lm][ \t]+)?(?:"([^"\n]{4,})"|([^\s"'-][^\s"']{3,}))`)
	snmpFlag  = lazyregexp.New(`[ \t]-[AXc][ \t]*(?:"([^"$\n]{3,})"|'([^'\n]{3,})'|([^\s"'$|;&<>-][^\s"'|;&<>]{2,}))`)
)

// protocolNear reports whether a word follows that begins as one before a password in snmpUser.
func protocolNear(_, win []byte, _ int) bool {
	for i := 1; i < len(win); i++ {
		if blank(win[i-1]) {
			for _, word := range []string{"sha", "md5", "aes", "des", "3des", "auth-pass", "priv-pass"} {
				if foldedPrefix(win[i:], []byte(word)) {
					return true
				}
			}
		}
	}
	return false
}

// typedValue reports whether few words follow on the line, as those are that say how a value is written, and the value; or one, where
// something comes before.
func typedValue(before, win []byte, name int) bool {
	i, words := skip(win, name, " \t"), 1
	second := i
	for i < len(win) {
		if words++; words > 6 {
			return false
		}
		for i < len(win) && !blank(win[i]) {
			i++
		}
		i = skip(win, i, " \t\r")
	}
	switch {
	case words < 2:
		return false
	case words == 2:
		line := linePrefix(before)
		return len(line) > 0 && blank(line[len(line)-1]) && skip(line, 0, " \t-") < len(line)
	}
	return startsType(win[second:])
}

// indented reports whether nothing but blanks comes before, on the line.
func indented(before []byte) bool {
	line := linePrefix(before)
	return len(line) > 0 && skip(line, 0, " \t") == len(line)
}

// startsType reports whether b begins as valueType does, or with a comment after a value.
func startsType(b []byte) bool {
	if b[0] >= '0' && b[0] <= '9' || bytes.IndexByte(b, '#') > 0 {
		return true
	}
	for _, word := range []string{"level", "encrypted", "cipher", "simple", "irrev", "plain", "ascii", "hex", "hash", "sha", "md5", "scrypt", "enc", "local", "remote", "key-string"} {
		if foldedPrefix(b, []byte(word)) {
			return true
		}
	}
	return false
}
