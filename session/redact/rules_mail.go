package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// tableRules take out what stands in tables of names and passwords: of mail servers, VPNs and FTP clients.
func tableRules() []*rule {
	return []*rule{
		{ // [smtp.example.com]:587 user:x, of Postfix, also in braces
			kind: "password", keys: []string{":587 ", ":465 ", ":25 ", ":587\t", ":465\t", ":25\t", ":587=", ":465=", ":25=", ":submission", ":smtps"}, pre: afterHost, tail: but("\"'{}"),
			re: lazyregexp.New(`^:(?:\d+|submissions?|smtps)(?:[ \t]*=[ \t]*|[ \t]+)[^\s:"'\[\](){}]+:([a-z]{4}(?: [a-z]{4}){3}|[^\s:"'{}(),][^\s"'{}]{2,})[ \t\r]*(?:$|\}|[ \t]#|,[ \t]*\{)`),
			ok: func(m *match) bool {
				v := m.text(1)
				return relayHost.Match(linePrefix(m.before)) && !placeholder(v) && (!number.Match(v) || bytes.HasSuffix(m.before, []byte("]")))
			},
		},
		{ // user : EAP "x", of ipsec.secrets
			kind: "password", keys: []string{"eap ", "xauth ", "ntlm ", "psk ", "ppk "}, left: wordLeft, pre: lastWords, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:eap|xauth|ntlm|psk|ppk)[ \t]+` + lineValue),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				bare := m.group[6] >= 0
				return (ipsecOwner.Match(linePrefix(m.before)) || !bare && ipsecPeer.Match(linePrefix(m.before))) && !placeholder(v) && !(bare && letters.Match(v))
			},
		},
		{ // : RSA host.key "x"
			kind: "password", keys: []string{"rsa ", "ecdsa ", "pkcs8 ", "pkcs12 ", "p12 "}, left: wordLeft, look: 512,
			re: lazyregexp.New(`^(?i)(?:rsa|ecdsa|pkcs8|pkcs12|p12)[ \t]+[^\s"']+[ \t]+"([^"\n]{2,})"`),
			ok: func(m *match) bool { return ipsecOwner.Match(linePrefix(m.before)) && notPlaceholder(m) },
		},
		{ // the lines after the head of chap-secrets
			kind: "password", keys: []string{"secret"}, left: wordLeft, look: 128, pre: inComment,
			re:   lazyregexp.New(`^(?i)secrets?\b[^"'=:]*$`),
			ok:   func(m *match) bool { return chapHead.Match(linePrefix(m.before)) },
			then: func(*match) follow { return chapSecrets },
		},
		{ // machine a, with login and password on the next lines
			kind: "password", keys: []string{"machine "}, look: 256, pre: netrcHead,
			re:   lazyregexp.New(`^machine[ \t]+\S+[ \t\r]*$`),
			then: func(*match) follow { return netrcEntry(4) },
		},
		{ // machine a password x login b
			kind: "password", keys: []string{"machine "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^machine[ \t]+\S+[ \t]+password[ \t]+(\S{2,})[ \t]+login[ \t]`),
			ok: notPlaceholder,
		},
		{ // poll host user kim pass x; user kim there with password x is bob; nmcli
			kind: "password", keys: []string{"password ", "pass "}, left: wordLeft, look: 256, pre: inAccountLine,
			re: lazyregexp.New(`^(?i)pass(?:word)?[ \t]+(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"';|&<>]{3,}))`),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				return accountLine.Match(linePrefix(m.before)) && directive(v) && (m.group[6] < 0 || !letters.Match(v))
			},
		},
		{ // expect "assword:" { send "x\r" }
			kind: "password", keys: []string{"assword:"}, look: 256, need: "send",
			re: lazyregexp.New(`^assword:[^"\n]*"[^"\n]*?\bsend(?:_\w+)?[ \t]+(?:--[ \t]+)?"([^"$\n]{3,}?)(?:\\[rn])*"`),
			ok: notPlaceholder,
		},
		{ // expect "assword:", with send "x\r" on the next line
			kind: "password", keys: []string{"assword:"}, look: 64, need: `"`,
			re: lazyregexp.New(`^assword:[^"\n]*"[ \t]*\{?[ \t\r]*$`),
			ok: func(m *match) bool {
				return m.group[1] == len(m.win) && bytes.Contains(linePrefix(m.before), []byte("expect"))
			},
			then: func(*match) follow { return after("password", sendLine, 1) },
		},
		{ // AuthInfo:host "U:kim" "P:x", of Sendmail
			kind: "password", keys: []string{"authinfo:"}, left: wordLeft, look: 384,
			re: lazyregexp.New(`^(?i)authinfo:\S*[ \t]+(?:"[^"\n]*"[ \t]+)*?"P[:=]([^"\n]{3,})"`),
			ok: notPlaceholder,
		},
		{ // kim:{PLAIN}x, of Dovecot
			kind: "password", keys: []string{"{plain}", "{cleartext}", "{clear}"}, look: 256,
			re: lazyregexp.New(`^(?i)\{(?:plain|clear|cleartext)\}([^\s:"'{}\\]{3,})`),
			ok: func(m *match) bool {
				n := len(m.before)
				return (n == 0 || bytes.IndexByte([]byte(":= \t\n\"'"), m.before[n-1]) >= 0) && notPlaceholder(m)
			},
		},
		{ // register => kim:x@host, of Asterisk; login=kim:x, of Squid
			kind: "password", keys: []string{"register =", "register=", "login="}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?:register[ \t]*=>?[ \t]*[^\s:@/]+:([^\s:@/]{3,})(?:[:@/])|login=[^\s:&?=/]+:([^\s"'&]{3,})(?:[ \t\r]|$))`),
			ok: notPlaceholder,
		},
		{ // the second line of the name and password of OpenVPN
			kind: "password", keys: []string{"<auth-user-pass>"}, look: 64, pre: blankTag,
			re: lazyregexp.New(`^<auth-user-pass>[ \t\r]*$`),
			then: func(*match) follow {
				return func([]byte) (*match, follow) { return nil, after("password", elementText, 1) }
			},
		},
	}
}

// afterHost reports whether a host may come before, not a time or an address.
func afterHost(before, _ []byte, _ int) bool {
	n := len(before)
	return n > 0 && (before[n-1] == ']' || letter(before[n-1]))
}

// inComment reports whether the line is a comment.
func inComment(before, _ []byte, _ int) bool {
	line := linePrefix(before)
	i := skip(line, 0, " \t")
	return i < len(line) && line[i] == '#'
}

// inAccountLine reports whether the line may be one of accountLine.
func inAccountLine(before, _ []byte, _ int) bool {
	for _, word := range []string{"poll", "skip", "there", "connect"} {
		if bytes.Contains(before, []byte(word)) {
			return true
		}
	}
	return false
}

func blankTag(_, win []byte, _ int) bool {
	n := len("<auth-user-pass>")
	return n <= len(win) && skip(win, n, " \t\r") == len(win)
}

var (
	sendLine    = lazyregexp.New(`^[ \t]*(?:exp_)?send(?:_\w+)?[ \t]+(?:--[ \t]+)?"([^"$\n]{3,}?)(?:\\[rn])*"`)
	accountLine = lazyregexp.New(`^(?i)(?:[ \t]*(?:poll|skip)[ \t]+\S+.*\buser(?:name)?[ \t]+\S+.*|[ \t]*user[ \t]+\S+[ \t]+there[ \t].*|(?:.*[ \t])?nmcli[ \t].*\bconnect[ \t].*)[ \t]$`)
	relayHost   = lazyregexp.New(`(?:^|[\s:{])(?:\[[\w.:-]+\]|[A-Za-z][\w-]*(?:\.[\w-]+)+)$`)
	ipsecOwner  = lazyregexp.New(`^(?:[^:]*[ \t])?(?:[^:\s]+:[^:\s]*[ \t]+)*:[ \t]*$`)
	ipsecPeer   = lazyregexp.New(`^(?:%any6?|[\d.]+|@[\w.-]+)(?:[ \t]+(?:%any6?|[\d.]+|@[\w.-]+))*:[ \t]*$`)
	chapHead    = lazyregexp.New(`^(?i)#[ \t]*client[ \t]+server[ \t]+$`)
	chapLine    = lazyregexp.New(`^[ \t]*(?:"[^"]*"|[^\s"'#]+)[ \t]+(?:"[^"]*"|[^\s"'#]+)[ \t]+(?:"([^"\n]{2,})"|'([^'\n]{2,})'|([^\s"'#]{2,}))(?:[ \t\r]|$)`)
	netrcWord   = lazyregexp.New(`^[ \t]*(?:(?:login|account)[ \t]+\S+[ \t]*)?(?:password[ \t]+(\S{2,})[ \t\r]*(?:login[ \t]+\S+[ \t\r]*)?)?$`)
)

// chapSecrets takes out the third words of lines, until one has fewer.
func chapSecrets(line []byte) (*match, follow) {
	from, to := indent(line)
	if from == to || line[from] == '#' {
		return nil, chapSecrets
	}
	g := chapLine.FindSubmatchIndex(line)
	if g == nil {
		return nil, nil
	}
	in := match{win: line, group: g}
	if in.pick(1); placeholder(line[in.from:in.to]) {
		return nil, chapSecrets
	}
	return foundAt("password", line, in.from, in.to), chapSecrets
}

// netrcHead reports whether before and win make a line that begins an entry of .netrc.
func netrcHead(before, win []byte, name int) bool {
	line := linePrefix(before)
	return skip(line, 0, " \t") == len(line) && loginEnds(before, win, name)
}

// netrcEntry takes out the password on one of the lines after the machine.
func netrcEntry(lines int) follow {
	return func(line []byte) (*match, follow) {
		g := netrcWord.FindSubmatchIndex(line)
		switch {
		case g == nil, lines == 0:
			return nil, nil
		case g[2] < 0:
			return nil, netrcEntry(lines - 1)
		case placeholder(line[g[2]:g[3]]):
			return nil, nil
		}
		return foundAt("password", line, g[2], g[3]), nil
	}
}
