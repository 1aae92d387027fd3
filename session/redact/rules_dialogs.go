package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// dialogRules take out what is said in the protocols of servers, and what programs tell a person who installs them.
func dialogRules() []*rule {
	return []*rule{
		{ // USER kim, with PASS x on one of the next lines: FTP and POP3
			kind: "password", keys: []string{"user "}, look: 256, pre: lastWords,
			re: lazyregexp.New(`^USER[ \t]+\S+[ \t\r]*$`),
			ok: func(m *match) bool {
				return saidBy.Match(linePrefix(m.before)) && !bytes.HasSuffix(bytes.TrimRight(m.win, " \t\r"), []byte(" PASSWORD")) // the head of a table
			},
			then: func(*match) follow { return soon("password", passLine, 3) },
		},
		{ // a1 LOGIN kim x: IMAP
			kind: "password", keys: []string{"login "}, look: 256, pre: lastWords,
			re: lazyregexp.New(`^LOGIN (?:"[^"\n]*"|[^\s"]+) (?:"([^"\n]{3,})"|([^\s"]{3,}))[ \t\r]*$`),
			ok: func(m *match) bool {
				return imapTag.Match(linePrefix(m.before)) && notPlaceholder(m) && (m.text(1) != nil || !letters.Match(m.text(2)))
			},
		},
		{ // AUTH PLAIN x: SMTP
			kind: "password", keys: []string{"auth plain ", "authenticate plain ", "auth_plain"}, look: 512, tail: base64Bytes,
			re: lazyregexp.New(`^(?i)auth(?:enticate)?[ _]plain[=: \t]+"?([A-Za-z0-9+/]{8,}={0,2})`),
			ok: func(m *match) bool {
				b, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(m.text(1), "=")))
				return err == nil && bytes.Count(b, []byte{0}) == 2
			},
		},
		{ // 334 Password: in base64, with the answer on the next line
			kind: "password", keys: []string{"ugfzc3dvcmq6"}, look: 64,
			re:   lazyregexp.New(`^UGFzc3dvcmQ6[ \t\r]*$`),
			ok:   func(m *match) bool { return bytes.HasSuffix(m.before, []byte("334 ")) },
			then: func(*match) follow { return after("password", smtpAnswer, 1) },
		},
		{ // AUTH x, AUTH kim x: Redis
			kind: "password", keys: []string{"auth "}, look: 256, pre: lastWords,
			re: lazyregexp.New(`^AUTH[ \t]+(?:[\w.-]+[ \t]+)?(?:"([^"\n]{3,})"|([^\s"]{3,}))[ \t\r]*$`),
			ok: func(m *match) bool {
				return saidTo.Match(linePrefix(m.before)) && notPlaceholder(m) && (m.text(1) != nil || bytes.ContainsAny(m.text(2), "0123456789") && !number.Match(m.text(2)))
			},
		},
		{ // "requirepass", with its value on the next line: Redis
			kind: "password", keys: []string{"requirepass", "masterauth"}, look: 64,
			re:   lazyregexp.New(`^(?:requirepass|masterauth)"?[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && listed1.Match(linePrefix(m.before)) },
			then: func(*match) follow { return after("password", listed2, 1) },
		},
		{
			kind: "password-hash", keys: []string{"on #"}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^on #([0-9a-f]{64})(?:[^0-9a-f]|$)`),
		},
		{ // d-i passwd/root-password password x, of debconf
			kind: "password", keys: []string{"password password ", "password-again password ", "pass password ", "passwd password "}, look: 256, pre: lastWords, tail: unquoted,
			re: lazyregexp.New(`^pass(?:word|wd)?(?:-again)?[ \t]+password[ \t]+([^\s"']{3,})[ \t\r]*$`),
			ok: func(m *match) bool { return debconfOwner.Match(linePrefix(m.before)) && notPlaceholder(m) },
		},
		{ // chpasswd:, with list: | and lines of kim:x, of cloud-init
			kind: "password", keys: []string{"chpasswd:"}, left: wordLeft, look: 64,
			re:   lazyregexp.New(`^chpasswd:[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && ownLine(linePrefix(m.before)) },
			then: func(m *match) follow { return accounts(keyDepth(m.before)) },
		},
		{ // the following password:, with x on the next line but one, of Jenkins; Password for the elastic user (…):
			kind: "password", keys: []string{"following password", "password for the "}, look: 256, need: ":",
			re:   lazyregexp.New(`^(?i)(?:following password|password for the [^\n]*user)[^\n]*:[ \t\r]*$`),
			then: func(*match) follow { return after("password", aloneOnLine, 2) },
		},
		{ // successfully reset, with New value: x on the next line, of Elasticsearch
			kind: "password", keys: []string{"successfully reset"}, look: 64,
			re: lazyregexp.New(`^successfully reset\.?[ \t\r]*$`),
			ok: func(m *match) bool {
				return m.group[1] == len(m.win) && bytes.Contains(m.before, []byte("assword for the"))
			},
			then: func(*match) follow { return after("password", newValue, 2) },
		},
		{ // ====== Data ======, with a table of names and values: vault kv get
			kind: "secret", keys: []string{"= data ="}, look: 64,
			re: lazyregexp.New(`^= Data =+[ \t\r]*$`),
			ok: func(m *match) bool {
				return m.group[1] == len(m.win) && len(bytes.Trim(linePrefix(m.before), "= \t")) == 0
			},
			then: func(*match) follow { return vaultData },
		},
		{ // PASSWORD elastic = x, of Elasticsearch
			kind: "password", keys: []string{"password "}, left: wordLeft, look: 128, need: " = ",
			re: lazyregexp.New(`^PASSWORD \w+ = (\S{8,})[ \t\r]*$`),
			ok: func(m *match) bool { return strong(m.text(1)) && notPlaceholder(m) },
		},
		{ // password for kim: x; password set to "x"
			kind: "password", keys: []string{"password for ", "password of ", "password set to", "password reset to", "password changed to", "password was ", "password has been "}, look: 256,
			re: lazyregexp.New(`^(?i)password (?:(?:for|of) (?:the )?(?:user |account )?["'\[]?[\w.@-]+["'\]]?(?: (?:built-in )?(?:super)?user)?(?: \([^)\n]*\))?(?: is|(?: is)?[ \t]?[:=])|(?:was |has been )?(?:set|changed|reset) to:?)[ \t]+["'\x60]?([^\s"',\x60]{6,}?)["'\x60]?[.]?[ \t\r]*$`),
			ok: func(m *match) bool { return strong(m.text(1)) && notPlaceholder(m) },
		},
		{ // chpasswd <<EOF, with lines of kim:x
			kind: "password", keys: []string{"chpasswd "}, left: wordLeft, look: 128, need: "<<",
			re:   lazyregexp.New(`^chpasswd(?:[ \t]+-\S+(?:[ \t]+[A-Z0-9]+)?)*[ \t]*<<-?[ \t]*["'\\]?\w+["']?[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return accountLines },
		},
		{ // your new secret key is: x, of Google's authenticator
			kind: "secret", keys: []string{"secret key is"}, look: 128,
			re: lazyregexp.New(`^secret key is:?[ \t]+([A-Z2-7]{16,})[ \t\r]*$`),
		},
		{ // emergency scratch codes are:, with lines of digits
			kind: "secret", keys: []string{"scratch codes are:"}, look: 64,
			re:   lazyregexp.New(`^scratch codes are:[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return scratchCodes },
		},
		{ // ::add-mask::x, of the actions of GitHub
			kind: "secret", keys: []string{"::add-mask::"}, look: 512, tail: unquoted,
			re: lazyregexp.New(`^::add-mask::([^\s"'$\x60*]{3,})`),
			ok: notPlaceholder,
		},
		{ // your new password is x
			kind: "password", keys: []string{"password is "}, look: 128, pre: lastWords,
			re: lazyregexp.New(`^(?i)password is:?[ \t]+["'\x60]?([^\s"',\x60]{6,}?)["'\x60]?[.]?[ \t\r]*$`),
			ok: func(m *match) bool { return strong(m.text(1)) && notPlaceholder(m) },
		},
	}
}

// vaultData takes out what has the name of a secret, or looks made by chance, of a table of Vault's, up to the line without a value.
func vaultData(line []byte) (*match, follow) {
	g := vaultRow.FindSubmatchIndex(line)
	if g == nil {
		return nil, nil
	}
	if g[2] < 0 {
		return nil, vaultData
	}
	name, v := line[g[2]:g[3]], line[g[4]:g[5]]
	if len(v) < 3 || placeholder(v) || saysNoSecret(name) || !vaultName.Match(name) && !strong(v) && !(len(v) >= 20 && random(v)) {
		return nil, vaultData
	}
	kind := "secret"
	if passwordName.Match(name) {
		kind = "password"
	}
	return foundAt(kind, line, g[4], g[5]), vaultData
}

var (
	vaultRow     = lazyregexp.New(`^[ \t]*(?:Key[ \t]+Value|-+[ \t]+-+|([^\s=]\S*)[ \t]+(\S.*?))[ \t\r]*$`)
	vaultName    = lazyregexp.New(`(?i)pass|pwd|pw$|secret|token|key|cred|dsn|cert$|private`)
	passwordName = lazyregexp.New(`(?i)pass|pwd|pw$`)
	saidBy       = lazyregexp.New(`^(?:[><*CS:=-]{1,4}[ \t]*|.*[>"][ \t]*)?$`)
	saidTo       = lazyregexp.New(`^(?:[ \t]*|.*> ?)$`)
	imapTag      = lazyregexp.New(`^(?:[><*CS:=-]{1,4}[ \t]*)?[A-Za-z]{0,6}[0-9]{1,6} $`)
	passLine     = lazyregexp.New(`^(?:[><*CS:=-]{1,4}[ \t]*)?PASS[ \t]+(\S{3,})[ \t\r]*$`)
	smtpAnswer   = lazyregexp.New(`^(?:[><*CS:=-]{1,4}[ \t]*)?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==))[ \t\r]*$`)
	listed1      = lazyregexp.New(`^(?:[ \t]*\d+\) )?"?$`)
	listed2      = lazyregexp.New(`^(?:[ \t]*\d+\) )?"?([^\s"]{3,})"?[ \t\r]*$`)
	debconfOwner = lazyregexp.New(`^[ \t]*[\w.+-]+[ \t]+[\w.+-]+/[\w./-]*$`)
	aloneOnLine  = lazyregexp.New(`^[ \t]*([^\s:]{8,})[ \t\r]*$`)
	newValue     = lazyregexp.New(`^New value:[ \t]+(\S{6,})[ \t\r]*$`)
	accountPair  = lazyregexp.New(`^[ \t]*(?:-[ \t]+)?[a-z_][\w.-]*:([^\s:][^\s]{2,})[ \t\r]*$`)
)

// scratchCodes takes out lines of eight digits.
func scratchCodes(line []byte) (*match, follow) {
	from, to := indent(line)
	if to-from != 8 || skip(line, from, "0123456789") < to {
		return nil, nil
	}
	return foundAt("secret", line, from, to), scratchCodes
}

// soon takes out what the first group of re finds on one of the next lines, whatever stands on those before it.
func soon(kind string, re *lazyregexp.Regexp, lines int) follow {
	return func(line []byte) (*match, follow) {
		if g := re.FindSubmatchIndex(line); g != nil && !placeholder(line[g[2]:g[3]]) {
			return foundAt(kind, line, g[2], g[3]), nil
		}
		if lines == 1 {
			return nil, nil
		}
		return nil, soon(kind, re, lines-1)
	}
}

// accountLines takes out the passwords of lines of kim:x.
func accountLines(line []byte) (*match, follow) {
	g := accountPair.FindSubmatchIndex(line)
	if g == nil {
		return nil, nil
	}
	if placeholder(line[g[2]:g[3]]) {
		return nil, accountLines
	}
	return foundAt("password", line, g[2], g[3]), accountLines
}

// accounts takes out the passwords of lines of kim:x that are set in deeper than the key that names them.
func accounts(depth int) follow {
	return deeper(depth, func(line []byte, _, _ int) *match {
		g := accountPair.FindSubmatchIndex(line)
		if g == nil || placeholder(line[g[2]:g[3]]) || bytes.EqualFold(line[g[2]:g[3]], []byte("RANDOM")) || bytes.EqualFold(line[g[2]:g[3]], []byte("R")) {
			return nil
		}
		return foundAt("password", line, g[2], g[3])
	})
}
