package redact

import (
	"bytes"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// commandLook bounds how far from the name of a program its password may stand.
const commandLook = 384

// shellWord is one word of a command, without its quotes: its three groups are three ways to write it.
const shellWord = `(?:"((?:[^"\\$` + "`" + `]|\\[^\n]){2,})"|'([^']{2,})'|([^\s"'$` + "`" + `|;&<>\x00-][^\s"'|;&<>\x00]+))`

// commandRules take out what people put into command lines.
func commandRules() []*rule {
	command := func(starts, names, flags string, keys ...string) *rule {
		return &rule{
			kind: "password", keys: keys, left: wordLeft, look: commandLook, own: true, pre: wordStarts(";|&", strings.Fields(starts)...),
			re: lazyregexp.New(`^(?:` + names + `)[ \t\x00](?:[^\n;|&]*?[ \t\x00])?(?:` + flags + `)` + shellWord),
			ok: func(m *match) bool {
				return notPlaceholder(m) && !bytes.EqualFold(m.win[m.from:m.to], []byte("password")) && !manual.Match(m.win[:m.to])
			},
		}
	}
	// given is for programs that take the password in the word after a flag, or in the same.
	given := func(flag string, glued bool, names, flags string, keys ...string) *rule {
		r := command(flag, names, flags, keys...)
		r.pre = flagWord(flag, glued)
		return r
	}
	needs := func(need string, r *rule) *rule {
		r.need = need
		return r
	}
	return []*rule{
		given(`-p`, true, `mysql[a-z_]*|mariadb[a-z-]*`, `-p`, "mysql", "mariadb"),
		given(`-p`, false, `sshpass`, `-p[ \t]*\x00?`, "sshpass"),
		needs(`login`, given(`-p`, false, `docker|podman|helm|buildah|skopeo|crane|oras`, `(?:registry )?login[ \t](?:[^\n;|&]*?[ \t])?-p[ \t]*`,
			"docker", "podman", "helm", "buildah", "skopeo", "crane", "oras")),
		given(`-a`, false, `redis-cli|valkey-cli`, `-a[ \t]*\x00?`, "redis-cli", "valkey-cli"),
		given(`-p`, false, `mongo[a-z]*`, `-p[ \t]*\x00?`, "mongo"),
		given(`-w`, false, `ldap(?:search|add|modify|delete|passwd|whoami)`, `-w[ \t]*\x00?`, "ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"),
		given(`-w`, false, `kadmin(?:\.local)?`, `-w[ \t]*\x00?`, "kadmin"),
		given(`-w`, false, `ktutil`, `-w[ \t]*\x00?`, "ktutil "),
		command(`-pw`, `(?:add|mod)_?princ(?:ipal)?|cpw|change_password`, `-pw[ \t]+`, "addprinc ", "add_principal ", "modprinc ", "cpw ", "change_password "),
		{ // dig -y hmac-sha256:k:x
			kind: "secret", keys: []string{"hmac-sha", "hmac-md5"}, left: wordLeft, look: 256, tail: base64Bytes,
			re: lazyregexp.New(`^(?i)hmac-(?:sha|md5)[a-z0-9.-]*:[\w.-]+:([a-z0-9+/]{16,}={0,2})`),
		},
		needs(`SecureString`, command(`--value`, `put-parameter`, `--value[ \t=]+`, "put-parameter ")),
		{
			kind: "password", keys: []string{"mysqladmin "}, left: wordLeft, look: commandLook, pre: wordStarts(";|&", "password "),
			re: lazyregexp.New(`^mysqladmin[ \t](?:[^\n;|&]*?[ \t])?password[ \t]+` + shellWord),
			ok: func(m *match) bool { return !letters.Match(m.win[m.from:m.to]) && notPlaceholder(m) },
		},
		given(`-s`, false, `ldappasswd`, `-s[ \t]*\x00?`, "ldappasswd "),
		needs(`:`, command(`-`, `curl|wget`, `(?:-[a-zA-Z]*u|--user|--proxy-user|-U|-a|--auth)[ =]?["']?[^\s:"'@/]*:`, "curl", "wget")),
		needs(`:`, command(`-a --auth`, `https?`, `(?:-a|--auth)[ =]?["']?[^\s:"'@/]+:`, "http -", "https -")),
		needs(`%`, command(`-U`, `smbclient|mount\.cifs|rpcclient|smbget|rpc|ads|winexe`, `-U[ \t]*["']?[^\s%"']+%`, "rpc join ", "ads join ", "smbclient", "mount.cifs", "rpcclient", "smbget", "winexe")),
		needs(`%`, command(`-o`, `mount(?:\.cifs|\.smb3)?`, `-o[ \t]*[^\s%]*\buser(?:name)?=[^\s,%]+%`, "mount ", "mount.cifs", "mount.smb3")),
		given(`-P`, false, `zip|unzip`, `-P[ \t]*\x00?`, "unzip", "zip -"),
		given(`-p`, true, `7z[a-z]*`, `-p`, "7za", "7zr", "7z "),
		given(`-P`, false, `ipmitool|sqlcmd|bcp|[ito]sql|sqsh|mosquitto_[a-z]+`, `-P[ \t]*\x00?`, "ipmitool", "sqlcmd", "bcp ", "isql ", "osql ", "tsql ", "sqsh ", "mosquitto_"),
		given(`-p`, false, `check_(?:mysql|pgsql|mongodb)\w*`, `-p[ \t]*\x00?`, "check_mysql", "check_pgsql", "check_mongodb"),
		given(`-p`, false, `cqlsh|rdesktop|psexec[0-9]*(?:\.exe)?|useradd|usermod|racadm\d*|rabbitmqadmin|ncftp[a-z]*|crackmapexec|nxc|evil-winrm`, `-p[ \t]*\x00?`,
			"cqlsh ", "rdesktop ", "psexec", "useradd ", "usermod ", "racadm", "rabbitmqadmin", "ncftp", "crackmapexec", "nxc ", "evil-winrm"),
		needs(`login`, given(`-p`, false, `az`, `login[ \t](?:[^\n;|&]*?[ \t])?-p[ \t]*`, "az login ")),
		given(`-pw`, false, `plink|pscp|psftp|putty|kitty`, `-pw[ \t]+`, "plink", "pscp", "psftp", "putty", "kitty"),
		given(`-p`, true, `rar|unrar`, `-p`, "rar ", "unrar "),
		given(`-w`, false, `security`, `-w[ \t]*\x00?`, "security add-"),
		needs(`:`, command(`-`, `etcdctl`, `--user[ =]["']?[^\s:"'@/]+:`, "etcdctl ")),
		needs(`,`, command(`-u`, `lftp`, `-u[ \t]*[^\s,]+,`, "lftp ")),
		needs(`secret`, command(`-b --body`, `gh`, `secret[ \t]+set[ \t](?:[^\n;|&]*?[ \t])?(?:-b|--body)[ =]`, "gh secret set ")),
		{
			kind: "password", keys: []string{"wpa_passphrase "}, left: wordLeft, look: commandLook,
			re: lazyregexp.New(`^wpa_passphrase[ \t]+(?:"[^"]*"|'[^']*'|[^\s"']+)[ \t]+` + shellWord),
			ok: notPlaceholder,
		},
		{ // http --auth kim:x, jenkins-cli -auth kim:x
			kind: "password", keys: []string{"-auth ", "-auth="}, look: 256, need: ":",
			re: lazyregexp.New(`^-auth[ =]["']?[\w.@+-]+:` + shellWord),
			ok: func(m *match) bool {
				before := bytes.TrimSuffix(m.before, []byte("-"))
				return (len(before) == 0 || blank(before[len(before)-1]) || before[len(before)-1] == '\n') && notPlaceholder(m)
			},
		},
		{ // kubectl create secret generic a --from-literal=b=x
			kind: "secret", keys: []string{"create secret "}, left: wordLeft, need: "--from-literal", look: Window,
			re:   lazyregexp.New(`^create secret `),
			here: func(*match) follow { return each("secret", fromLiteral, 1<<10, nil) },
		},
		command(`-pass -k -hmac -K`, `openssl`, `(?:-pass(?:in|out)?|-k|-K|-hmac)[ \t]+(?:pass:)?`, "openssl"),
		needs(`passwd`, command(`-`, `openssl`, `passwd(?:[ \t]+-(?:salt[ \t]+\S+|[156]|apr1|aixmd5|crypt|noverify|quiet|reverse))*[ \t]+`, "openssl")),
		{
			kind: "password", keys: []string{"ssh-keygen "}, left: wordLeft, look: commandLook, pre: wordStarts(";|&", "-N", "-P"),
			re: lazyregexp.New(`^ssh-keygen`),
			here: func(m *match) follow {
				return each("password", keygenFlag, commandLook, bytes.Clone(commandName(m.win)))
			},
		},
		needs(`login`, given(`-p`, false, `oc`, `login[ \t](?:[^\n;|&]*?[ \t])?-p[ \t]*`, "oc login")),
		given(`-p`, false, `beeline|doveadm`, `-p[ \t]*\x00?`, "beeline", "doveadm pw"),
		command(`--plaintext`, `caddy|rootpw`, `--plaintext[ \t=]+`, "caddy hash", "rootpw --"),
		command(`--oauth2-bearer`, `curl`, `--oauth2-bearer[ \t=]+`, "curl"),
		needs(`psk`, command(`w 8 psk`, `nmcli|wpa_cli`, `(?:(?:wifi-sec|802-11-wireless-security)\.|set_network[ \t]+\d+[ \t]+)psk[ \t]+(?:'")?`, "nmcli ", "wpa_cli ")),
		{
			kind: "password", keys: []string{"mkpasswd "}, left: wordLeft, look: commandLook,
			re: lazyregexp.New(`^mkpasswd(?:[ \t]+(?:-[mSRP][ \t]+\S+|-[^\smSRP-]\S*|--\S+))*[ \t]+` + shellWord),
			ok: notPlaceholder,
		},
		{ // curl -b a=x
			kind: "cookie", keys: []string{"curl", "wget", "--cookie"}, left: wordLeft, look: commandLook, own: true, need: "=", pre: wordStarts(";|&", "-b", "--cookie"),
			re: lazyregexp.New(`^(?:curl|wget)[ \t](?:[^\n;|&]*?[ \t])?(?:-b|--cookie)[ \t=]*(?:"([^"$\n]*=[^"$\n]{3,})"|'([^'\n]*=[^'\n]{3,})'|([^\s"'$|;&<>=]+=[^\s"'$|;&<>]{3,}))`),
			ok: notPlaceholder,
		},
		{ // sudo -S <<< x
			kind: "password", keys: starts("<<<", " '\"abcdefghijklmnopqrstuvwxyz0123456789"), look: commandLook,
			re: lazyregexp.New(`^<<<[ \t]*` + shellWord),
			ok: func(m *match) bool { return readsPassword.Match(linePrefix(m.before)) && notPlaceholder(m) },
		},
		{ // vault login x, rclone obscure x and the like: the password is the last word, or comes after a name
			kind: "password", look: commandLook,
			keys: []string{"vault login ", "unseal ", "vault unwrap ", "rclone obscure ", "cargo login ", "t-admin-password ", "user:password ", "encrypt_string ", "p-basic.", "pypi-token."},
			re: lazyregexp.New(`^(?:(?:(?:vault login|unseal|vault unwrap|rclone obscure|cargo login|t-admin-password)(?:[ \t]+--?[\w=/:.-]+)*|` +
				`encrypt_string(?:[ \t]+--(?:ask-\S+|[\w-]+(?:=|[ \t]+)\S+))*|user:password[ \t]+\S+|p-basic\.\S+[ \t]+\S+|pypi-token\.\S+)[ \t]+)` + shellWord),
			ok: func(m *match) bool {
				v := m.win[m.from:m.to]
				if m.win[0] == 'p' && m.win[1] == '-' && !bytes.HasSuffix(m.before, []byte("htt")) {
					return false
				}
				return len(v) >= 6 && bytes.ContainsAny(v, "0123456789") && bytes.IndexByte(bytes.TrimRight(v, "="), '=') < 0 && notPlaceholder(m)
			},
		},
		{ // aws secretsmanager create-secret --secret-string x
			kind: "secret", keys: []string{"--secret-string"}, look: 1 << 10,
			re: lazyregexp.New(`^--secret-string[ \t=]+` + shellWord),
			ok: func(m *match) bool { return !bytes.HasPrefix(m.win[m.from:], []byte("file")) && notPlaceholder(m) },
		},
		{ // radtest a x host port y
			kind: "password", keys: []string{"radtest "}, left: wordLeft, look: commandLook,
			re:   lazyregexp.New(`^radtest`),
			here: func(*match) follow { return inTurn("password", radiusPassword, radiusSecret) },
		},
		{ // npm config set //h/:_authToken x
			kind: "token", keys: []string{":_authtoken ", ":_auth ", ":_password "}, look: commandLook,
			re: lazyregexp.New(`^:_(?:authToken|auth|password)[ \t]+` + shellWord),
			ok: notPlaceholder,
		},
		{ // mc alias set m https://h a x
			kind: "secret", keys: []string{"alias set "}, left: wordLeft, look: commandLook, need: "://",
			re: lazyregexp.New(`^alias set[ \t]+\S+[ \t]+["']?https?://\S+[ \t]+\S+[ \t]+` + shellWord),
			ok: notPlaceholder,
		},
		{ // psexec.py dom/kim:x@h, of Impacket
			kind: "password", keys: []string{"exec.py ", "dump.py ", "impacket-"}, look: 256, own: true, need: "@",
			re: lazyregexp.New(`^(?:exec\.py|dump\.py|impacket-\w+)[ \t](?:[^\n;|&]*?[ \t])?["']?[\w./-]*[\w.-]+:([^\s"'@]{3,})@`),
			ok: notPlaceholder,
		},
		{ // ngrok config add-authtoken x
			kind: "token", keys: []string{"add-authtoken "}, look: 256, tail: wordBytes,
			re: lazyregexp.New(`^add-authtoken[ \t]+([A-Za-z0-9_-]{20,})`),
		},
		command(`register change_password`, `ejabberdctl|prosodyctl`, `(?:register|change_password)[ \t]+\S+[ \t]+\S+[ \t]+`, "ejabberdctl", "prosodyctl"),
		{ // ipmitool user set password 2 x
			kind: "password", keys: []string{"user set password "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^user set password[ \t]+\d+[ \t]+` + shellWord),
			ok: notPlaceholder,
		},
		{ // erl -setcookie x
			kind: "cookie", keys: []string{"-setcookie "}, look: 256,
			re: lazyregexp.New(`^-setcookie[ \t]+` + shellWord),
			ok: notPlaceholder,
		},
		{ // NickServ IDENTIFY x, of IRC
			kind: "password", keys: []string{"nickserv identify ", "nickserv :identify "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?i)nickserv :?identify[ \t]+(?:[^\s"'<]+[ \t]+)?([^\s"'<]{3,})[ \t\r]*$`),
			ok: notPlaceholder,
		},
		command(`add_user change_password`, `rabbitmqctl`, `(?:add_user|change_password)[ \t]+\S+[ \t]+`, "rabbitmqctl"),
		command(`-`, `htpasswd`, `-[a-zA-Z]*b[a-zA-Z]*[ \t]+(?:-\S+[ \t]+)*\S+[ \t]+(?:\S+[ \t]+)?`, "htpasswd"),
		{
			kind: "password", keys: []string{"echo ", "printf "}, left: wordLeft, need: "|", look: commandLook,
			re: lazyregexp.New(`^(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?(?:["']?%s(?:\\n)?["']?[ \t]+)?` +
				`(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'|;&]{3,}))[ \t]*\|[ \t]*` +
				`(?:sudo[ \t]+(?:-\S+[ \t]+)*(?:-[a-zA-Z]*S|--stdin)\b|(?:sudo[ \t]+)?(?:chpasswd|passwd(?:[ \t]|$)|smbpasswd[ \t]|(?:docker|podman|buildah|skopeo|helm[ \t]+registry)[ \t]+login|cryptsetup|su(?:[ \t]+-)?[ \t]+\w+[ \t\r]*$|kinit[ \t])` +
				`|(?:sudo[ \t]+)?(?:wg (?:pubkey|set)|realm join|adcli join)\b|[^\n|;&]*(?:` + fromStdin + `)(?:[^\w-]|$))`),
			ok: func(m *match) bool {
				// chpasswd takes user:password
				v := m.win[m.from:m.to]
				if i := bytes.IndexByte(v, ':'); i > 0 && bytes.Contains(m.win[m.to:], []byte("chpasswd")) {
					m.from += i + 1
				}
				return notPlaceholder(m)
			},
		},
		{
			kind: "password", keys: []string{"login "}, left: wordLeft, tail: visible,
			re: lazyregexp.New(`^login[ \t]+\S+[ \t]+password[ \t]+(\S{2,})`), // netrc
		},
		{
			kind: "password", keys: []string{"user ", "setuser "}, left: wordLeft, own: true, need: " >", look: 256, pre: wordStarts("", "o", "O"), tail: visible, // of Redis
			re: lazyregexp.New(`^(?i)(?:set)?user[ \t]+\S+[ \t]+(?:\S+[ \t]+)*?(?:on|off)[ \t]+(?:\S+[ \t]+)*?>(\S{2,})`),
			ok: notPlaceholder,
		},
		{
			kind: "password", keys: []string{"rediscli_auth="}, left: wordLeft, look: 256, tail: unquoted,
			re: lazyregexp.New(`^(?i)rediscli_auth=["']?([^\s"'$]{3,})`),
			ok: notPlaceholder,
		},
		{
			kind: "password", keys: []string{"stats auth "}, left: wordLeft, tail: visible, // of HAProxy
			re: lazyregexp.New(`^stats auth[ \t]+[^\s:]+:(\S{2,})`),
			ok: notPlaceholder,
		},
		{
			kind: "password", keys: []string{"snmp-server community ", "rocommunity ", "rwcommunity ", "trapcommunity "}, left: wordLeft, tail: visible,
			re: lazyregexp.New(`^(?:snmp-server community|(?:r[ow]|trap)community)[ \t]+(\S{2,})`),
			ok: func(m *match) bool { return !bytes.EqualFold(m.text(1), []byte("public")) && notPlaceholder(m) },
		},
		{
			kind: "password", keys: []string{"sqlplus ", "expdp ", "impdp ", "sqlldr ", "exp ", "imp "}, left: wordLeft, look: commandLook, // of Oracle
			re: lazyregexp.New(`^(?:(?:sqlplus|expdp|impdp|sqlldr)[ \t]+(?:-\S+[ \t]+)*[^\s/"']+/([^\s@/"']{3,})(?:@|[ \t\r]|$)|(?:exp|imp)[ \t]+\w+/([^\s@/"']{3,})@)`),
			ok: notPlaceholder,
		},
		{
			kind: "password", keys: []string{"requirepass ", "masterauth "}, left: wordLeft, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:requirepass|masterauth)[ \t]+(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'#]{3,}))`), // redis.conf
			ok: notPlaceholder,
		},
	}
}

// manual is the account that manuals have.
var manual = lazyregexp.New(`(?i)[ "']user(?:name)?:password$`)

// readsPassword are commands that take a password from what they read.
var readsPassword = lazyregexp.New(`(?:^|[\s;&|(])(?:sudo[ \t][^|;&]*-[a-zA-Z]*S|(?:kinit|chpasswd|smbpasswd|vncpasswd|passwd|cryptsetup|wg (?:pubkey|set)|realm join|adcli join)\b[^|;&]*|[^|;&]*(?:` + fromStdin + `))[^|;&]*$`)

// fromStdin are options and commands that say that a secret is what is read.
const fromStdin = `--\w+(?:-on)?-stdin|--stdin-password|--passphrase-fd[= ]0|--with-token|secret create \S+ -|secrets (?:create|versions add) [^|;&\n]*--data-file=(?:-|/dev/stdin)|` +
	`create secret [^|;&\n]*=/dev/stdin|gh secret set|wrangler secret put|put-secret-value [^|;&\n]*/dev/stdin`

// radiusPassword and radiusSecret are words of radtest: the second, and what comes after the number of a port.
var (
	radiusPassword = lazyregexp.New(`^(?:[ \t]+-[a-z][ \t]+\S+|[ \t]+-[0-9x]+)*[ \t]+[^\s-]\S*[ \t]+` + shellWord)
	radiusSecret   = lazyregexp.New(`[ \t]\d+[ \t]+` + shellWord)
)

var keygenFlag = lazyregexp.New(`[ \t]-[NP][ \t]*(?:"([^"$\n]{3,})"|'([^'\n]{3,})'|([^\s"'$|;&<>-][^\s"'|;&<>]{2,}))`)

var fromLiteral = lazyregexp.New(`--from-literal[ =]["']?[\w.-]+=(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'$]{3,}))`)

// wordStarts reports whether one of the words of a command begins as one of starts, before one of stops comes.
func wordStarts(stops string, starts ...string) func(_, win []byte, _ int) bool {
	return func(_, win []byte, _ int) bool {
		end := len(win)
		for _, s := range starts {
			for at := 0; at < end; {
				i := bytes.Index(win[at:end], []byte(s))
				if i < 0 {
					break
				}
				if at += i; at > 0 && blank(win[at-1]) {
					if i = bytes.IndexAny(win[:at], stops); i < 0 {
						return true
					}
					end = i
				}
				at++
			}
		}
		return false
	}
}

// flagWord reports whether a flag stands in a command, with a word after it that may be a password.
func flagWord(flag string, glued bool) func(_, win []byte, _ int) bool {
	return func(_, win []byte, _ int) bool {
		for i := 1; i < len(win); i++ {
			switch c := win[i-1]; {
			case c == ';' || c == '|' || c == '&':
				return false
			case (blank(c) || c == 0) && bytes.HasPrefix(win[i:], []byte(flag)):
				at := i + len(flag)
				if !glued && at < len(win) && win[at] == 0 {
					at++
				} else if !glued {
					at = skip(win, at, " \t")
				}
				if wordOfShell(win[at:]) {
					return true
				}
			}
		}
		return false
	}
}

// wordOfShell reports whether b begins as shellWord does.
func wordOfShell(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	switch c := b[0]; {
	case c == '"':
		return quotedWord(b[1:])
	case c == '\'':
		return bytes.IndexByte(b[1:], '\'') >= 2
	case strings.IndexByte(" \t\n\f\r$`|;&<>-\x00", c) >= 0:
		return false
	}
	return strings.IndexByte(" \t\n\f\r\"'|;&<>\x00", b[1]) < 0
}

// quotedWord reports whether b is the rest of a word in double quotes, of two characters or more and without a variable.
func quotedWord(b []byte) bool {
	for i, n := 0, 0; i < len(b); i, n = i+1, n+1 {
		switch b[i] {
		case '"':
			return n >= 2
		case '$', '`':
			return false
		case '\\':
			i++
		}
	}
	return false
}

func notPlaceholder(m *match) bool { return literal(m, true) || !placeholder(m.win[m.from:m.to]) }
