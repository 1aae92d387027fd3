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
		{ // kim * x *, of chap-secrets
			kind: "password", keys: []string{`* "`, "*\t\"", "\t*\t"}, look: 256, pre: chapEnds,
			re: lazyregexp.New(`^\t?\*[ \t]+(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'#*]{3,}))[ \t]+(?:\*|[\d.]+(?:/\d+)?)[ \t\r]*$`),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				return chapClient.Match(linePrefix(m.before)) && !placeholder(v) && !number.Match(v) && (m.group[6] < 0 || !letters.Match(v))
			},
		},
		{ // "kim" "x", of PgBouncer's userlist.txt: as grep shows it, or where it looks like a password
			kind: "password", keys: []string{`" "`}, look: 256, pre: quoteEnds,
			re: lazyregexp.New(`^" "([^"\n]{3,})"[ \t\r]*$`),
			ok: func(m *match) bool {
				line, v := linePrefix(m.before), m.text(1)
				return userName.Match(line) && !placeholder(v) && (bytes.Contains(line, []byte("userlist")) || strong(v))
			},
		},
		{ // ==> userlist.txt <==, and lines of it
			kind: "password", keys: []string{"userlist"}, look: 128,
			re:   lazyregexp.New(`^[^"\n]*$`),
			then: func(*match) follow { return userList },
		},
		{ // oper kim x, of IRC
			kind: "password", keys: []string{"oper "}, left: wordLeft, look: 256, pre: lastWords,
			re: lazyregexp.New(`^(?i)oper[ \t]+(?:"[^"\s]+"|[^\s"':]+)[ \t]+(?:"([^"\n]{3,})"|([^\s"']{3,}))[ \t\r]*$`),
			ok: func(m *match) bool {
				v, line := m.win[m.from:m.to], bytes.TrimLeft(linePrefix(m.before), " \t")
				return (len(line) == 0 || string(line) == "/") && !placeholder(v) && !letters.Match(v)
			},
		},
		{ // passphrase: several words without quotes
			kind: "password", keys: []string{"passphrase"}, look: 512, need: " ",
			re: lazyregexp.New(`^(?i)passphrase["']?[ \t]*[=:][ \t]*([^\s"'#$<{(\[|&>«][^\s"'=:,;]*(?:[ \t]+[^\s"'=:,;]+){2,15})[ \t\r]*$`),
			ok: func(m *match) bool { return leads(m.before) && !prose(m.text(1)) },
		},
		{ // A temporary password is generated for root@localhost: x
			kind: "password", keys: []string{"password is"}, look: 256, need: ":", tail: visible,
			re: lazyregexp.New(`^(?i)password is(?: now)?(?: generated for \S+)?:[ \t]+(\S{4,})[ \t\r]*$`),
			ok: func(m *match) bool { return notPlaceholder(m) && !letters.Match(m.text(1)) },
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
				return accountLine.Match(linePrefix(m.before)) && directive(v) &&
					(m.group[6] < 0 || !letters.Match(v) || bytes.Contains(linePrefix(m.before), []byte("nmcli")))
			},
		},
		{ // expect "assword:" { send "x\r" }
			kind: "password", keys: []string{"assword:"}, look: 256, need: "send",
			re: lazyregexp.New(`^assword:[^"\n]*"[^"\n]*?\bsend(?:_\w+)?[ \t]+(?:--[ \t]+)?\\?"([^"$\n]{3,}?)(?:\\+[rn])*\\?"`),
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
		{ // the same on one line
			kind: "password", keys: []string{"assword:"}, look: 256, need: `send`,
			re: lazyregexp.New(`^assword:[^"\n]*"[ \t]*[;{]?[ \t]*(?:exp_)?send(?:_\w+)?[ \t]+(?:--[ \t]+)?"([^"$\n]{3,}?)(?:\\[rn])*"`),
			ok: func(m *match) bool {
				return bytes.Contains(linePrefix(m.before), []byte("expect")) && notPlaceholder(m)
			},
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

// chapEnds reports whether a line ends as one of chap-secrets does.
func chapEnds(_, win []byte, _ int) bool {
	line := bytes.TrimRight(win, " \t\r")
	c := line[len(line)-1]
	return len(line) > len("* abc *") && (c == '*' || c >= '0' && c <= '9')
}

// quoteEnds reports whether a line ends with the next word, in quotes.
func quoteEnds(before, win []byte, _ int) bool {
	i := len(`" "`) + bytes.IndexAny(win[len(`" "`):], "\" ")
	return i > len(`" "`) && win[i] == '"' && skip(win, i+1, " \t\r") == len(win) && bytes.IndexByte(before, '"') >= 0
}

var (
	chapClient = lazyregexp.New(`^(?:"[^"]*"|[\w.@+-]+)[ \t]*$`)
	userName   = lazyregexp.New(`^(?:[\w./-]*userlist[\w.]*:(?:\d+:)?)?"[A-Za-z_][\w.@-]*$`)
	userLine   = lazyregexp.New(`^"[A-Za-z_][\w.@-]*"[ \t]+"([^"\n]{3,})"[ \t\r]*$`)
)

// strong reports whether a word without a name looks like a password: letters and digits of both cases, or with marks that names do
// not have.
func strong(v []byte) bool {
	if len(v) < 6 || bytes.ContainsAny(v, " \t/\\:,;{}[]<>|%") || !bytes.ContainsAny(v, "0123456789") {
		return false
	}
	if bytes.ContainsAny(v, "!@#$^&*?~") {
		return true
	}
	upper, lower := bytes.ToUpper(v), bytes.ToLower(v)
	return !bytes.Equal(v, upper) && !bytes.Equal(v, lower) && !bytes.ContainsAny(v, "._")
}

// userList takes out the second words of lines with two in quotes.
func userList(line []byte) (*match, follow) {
	from, to := indent(line)
	if from == to || line[from] == ';' || line[from] == '#' {
		return nil, userList
	}
	g := userLine.FindSubmatchIndex(line)
	if g == nil {
		return nil, nil
	}
	if placeholder(line[g[2]:g[3]]) {
		return nil, userList
	}
	return foundAt("password", line, g[2], g[3]), userList
}

// prose reports whether words are a sentence: it has words that bind others.
func prose(words []byte) bool {
	for w := range bytes.FieldsSeq(bytes.ToLower(words)) {
		switch string(bytes.TrimRight(w, ".,!?")) {
		case "the", "a", "an", "is", "are", "was", "be", "not", "no", "for", "to", "of", "in", "on", "at", "from", "with", "and", "or", "if", "see", "your",
			"must", "should", "enter", "type", "required", "needed", "missing", "invalid", "incorrect", "wrong", "does", "has", "have", "will", "can", "cannot":
			return true
		}
	}
	return false
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
