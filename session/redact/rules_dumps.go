package redact

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// dumpRules take out what programs print of their data, and of the command lines of others: in notations that no file has.
func dumpRules() []*rule {
	return []*rule{
		{ // {User:kim Password:x Host:db}, map[password:x user:kim], of Go
			kind: "secret", keys: secretNames, name: true, next: ":", pre: inStruct, look: 512,
			re: lazyregexp.New(`^:([^\s{}\[\]:"'&]{3,})(?:[ \t]+[A-Za-z_]\w*:|[}\]])`),
			ok: func(m *match) bool {
				m.pick(3)
				v := m.win[m.from:m.to]
				return namesSecret(m) && !placeholder(v) && !filePath.Match(v) && !dotted.Match(v) && v[0] != '(' && !bytes.EqualFold(v, m.text(1)) &&
					(m.kind == "password" || !number.Match(v) && !letters.Match(v))
			},
		},
		{ // Password: (string) (len=7) "x"; password: Some("x"); s:8:"password";s:7:"x"; ("password" . "x"); <<"password">>, <<"x">>
			kind: "secret", keys: secretNames, name: true, next: `:"' `, pre: opensDump, look: 512,
			re: lazyregexp.New(`^["']?(?::[ \t]*\([\w.]+\) (?:\(len=\d+\) )?|:[ \t]*(?:Some|Ok|Just|Secret|SecretString|Sensitive|SecretBox)\((?:Secret\()?|;s:\d+:|[ \t]+\.[ \t]+|>>,[ \t]*<<)"((?:[^"\\\n]|\\.){3,})"`),
			ok: dumped,
		},
		{ // \\\"password\\\":\\\"x\\\": JSON in JSON in JSON
			kind: "secret", keys: secretNames, name: true, next: `\`, look: 512,
			re: lazyregexp.New(`^\\{2,}"[ \t]*:[ \t]*\\{2,}"([^"\\\n]{3,})\\{2,}"`),
			ok: dumped,
		},
		{ // process.env.DB_PASSWORD || 'x', ENV["DB_PASSWORD"] || "x"
			kind: "secret", keys: secretNames, name: true, next: ` "']?|`, look: 512, pre: orElse,
			re: lazyregexp.New(`^["']?\]?[ \t]*(?:\|\||\?\?)[ \t]*(?:"([^"\n]{3,})"|'([^'\n]{3,})')`),
			ok: dumped,
		},
		{ // {default_pass, <<"x">>}, of Erlang
			kind: "secret", keys: secretNames, name: true, next: `,`, look: 512, need: "}",
			re: lazyregexp.New(`^,[ \t]*(?:<<)?"((?:[^"\\\n]|\\.){3,})"(?:>>)?[ \t]*\}`),
			ok: func(m *match) bool { return inBraces(m.before) && dumped(m) && !letters.Match(m.win[m.from:m.to]) },
		},
		{ // ["password"]=>, with string(7) "x" on the next line, of PHP
			kind: "secret", keys: secretNames, name: true, next: `"`, look: nameLook,
			re:   lazyregexp.New(`^"\]=>[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return after(m.kind, phpString, 1) },
		},
		{ // &quot;password&quot;:&quot;x&quot;, &lt;password&gt;x&lt;/password&gt;
			kind: "secret", keys: secretNames, name: true, next: "&", look: 512,
			re: lazyregexp.New(`^(?i)&(?:(?:quot|#34|#39|apos);[ \t]*(?::|=&gt;)[ \t]*&(?:quot|#34|#39|apos);((?:[^&\n]|&(?:amp|lt|gt);){3,}?)&(?:quot|#34|#39|apos);|gt;((?:[^&<>\n]|&amp;){2,})&lt;/)`),
			ok: dumped,
		},
		{ // password={x;y}, of ODBC
			kind: "secret", keys: secretNames, name: true, next: "=", look: 512, need: "}",
			re: lazyregexp.New(`^=(\{[^{}\n]{3,}\})(?:;|$|["'])`),
			ok: func(m *match) bool {
				m.pick(3)
				return namesSecret(m) && bytes.IndexByte(m.before, ';') >= 0 && !placeholder(m.win[m.from:m.to])
			},
		},
		{ // :password "x", (setq smtp-password "x"), of Lisp
			kind: "secret", keys: secretNames, name: true, next: " ", pre: lispName, look: 512,
			re: lazyregexp.New(`^ "((?:[^"\\\n]|\\.){3,})"`),
			ok: func(m *match) bool {
				v := bytes.ToLower(m.text(2))
				return dumped(m) && !(letters.Match(v) && bytes.HasPrefix(v, []byte("pass")))
			},
		},
		{ // "password": {"value": "x"}, of Terraform
			kind: "secret", keys: secretNames, name: true, next: `"`, look: 512, need: "{",
			re: lazyregexp.New(`^"[ \t]*:[ \t]*\{[^{}\n]*?"value"[ \t]*:[ \t]*"((?:[^"\\\n]|\\.){3,})"`),
			ok: dumped,
		},
		{
			kind: "secret", keys: secretNames, name: true, next: `"`, look: nameLook, need: "{",
			re:   lazyregexp.New(`^"[ \t]*:[ \t]*\{[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return within(m.kind, valueOfOutput, 6) },
		},
		{ // password&#61;x
			kind: "secret", keys: secretNames, name: true, next: "&", look: 512,
			re: lazyregexp.New(`^(?i)&#(?:61|x3d);([^\s&<>"']{3,})`),
			ok: dumped,
		},
		{ // password = "x" -> "y"; with => of older Terraform
			kind: "secret", keys: []string{`" -> "`, `" => "`}, look: 512,
			re: lazyregexp.New(`^" [=-]> "((?:[^"\\\n]|\\.){3,})"`),
			ok: func(m *match) bool {
				g := changedName.FindSubmatch(linePrefix(m.before))
				if g == nil || placeholder(m.text(1)) {
					return false
				}
				m.kind = kindOfName(string(bytes.ToLower(g[1])))
				return true
			},
		},
		{ // password: [-x-]{+y+}, of git diff --word-diff
			kind: "secret", keys: starts("]{+", wordStartsWith), look: 256, need: "+}",
			re: lazyregexp.New(`^\]\{\+["']?([^\n"']{3,}?)["']?\+\}`),
			ok: func(m *match) bool {
				g := changedWord.FindSubmatch(linePrefix(m.before))
				if g == nil || placeholder(m.text(1)) {
					return false
				}
				m.kind = kindOfName(string(bytes.ToLower(g[1])))
				return true
			},
		},
		{ // password = <<EOT, with lines until EOT
			kind: "secret", keys: secretNames, name: true, next: " \t=", look: nameLook, need: "<<",
			re:   lazyregexp.New(`^[ \t]*=[ \t]*<<[-~]?["']?(\w+)["']?[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return hereDocument(m.kind, string(m.text(3)), 16) },
		},
		{ // password = """, with x on the next line, of Python and TOML
			kind: "secret", keys: secretNames, name: true, next: " \t=:", look: nameLook, need: `"""`,
			re:   lazyregexp.New(`^[ \t]*[=:][ \t]*"""\\?[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return inQuotes(m.kind, `"""`, 16) },
		},
		{ // password=x and "password"="x" in UTF-16, of either order of bytes
			kind: "secret", keys: wideNames, look: 512,
			re: lazyregexp.New(`^(?i)((?:[a-z]\x00){3})((?:[\w.-]\x00){0,24})(?:["' \t]\x00){0,4}[:=]\x00(?:["' \t]\x00){0,4}((?:[^\s"'\x00]\x00){2,}[^\s"'\x00]\x00?)`),
			ok: wideValue,
		},
		{ // "Type": "SecureString", "Value": "x", of the parameters of AWS
			kind: "secret", keys: []string{`"securestring"`}, look: 512,
			re: lazyregexp.New(`^"SecureString"[ \t]*,[ \t]*"Value"[ \t]*:[ \t]*"((?:[^"\\\n]|\\.)+)"`),
			ok: notPlaceholder,
		},
		{ // the same over two lines
			kind: "secret", keys: []string{`"securestring"`}, look: 64,
			re:   lazyregexp.New(`^"SecureString",[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return after("secret", valueOfParameter, 1) },
		},
		{ // ["--password", "x"], of docker inspect, strace and ps
			kind: "secret", keys: secretNames, name: true, next: `"'`, pre: quotedFlag, look: 512,
			re: lazyregexp.New(`^\\?["'][ \t]*,[ \t]*\\?["']([^"'\\\n-][^"'\\\n]{2,})`),
			ok: dumped,
		},
		{
			kind: "secret", keys: secretNames, name: true, next: `"'`, pre: quotedFlag, look: nameLook,
			re:   lazyregexp.New(`^["'][ \t]*,[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return after(m.kind, quotedWordLine, 1) },
		},
		{ // - --password, with - x on the next line
			kind: "secret", keys: secretNames, name: true, look: nameLook, pre: listedFlag,
			re:   lazyregexp.New(`^["']?[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) && namesSecret(m) },
			then: func(m *match) follow { return after(m.kind, listedWord, 1) },
		},
		{ // ["mysql", "-px"], ["sshpass", "-p", "x"]
			kind: "password", keys: slices.Concat(starts(`"-p`, wordStartsWith), starts(`'-p`, wordStartsWith)), look: 256,
			re: lazyregexp.New(`^["']-p(?:["'][ \t]*,[ \t]*["'])?([^"'\\\s]{3,})["']`),
			ok: func(m *match) bool {
				return withShortFlag.Match(linePrefix(m.before)) && !bytes.HasPrefix(m.text(1), []byte("rint")) && notPlaceholder(m)
			},
		},
		{ // ["curl", "-u", "kim:x"]
			kind: "password", keys: []string{`"-u", "`, `"-u","`, `"--user", "`, `"--user","`}, look: 256,
			re: lazyregexp.New(`^"-(?:u|-user)",[ ]?"[^"\\:/]*:([^"\\\n]{3,})"`),
			ok: notPlaceholder,
		},
		{ // -dev-root-token-id=x
			kind: "token", keys: []string{"root-token-id"}, look: 256, tail: unquoted,
			re: lazyregexp.New(`^root-token-id[= "',]+([^\s"'=,]{4,})`),
			ok: notPlaceholder,
		},
		{ // domain TRUE / TRUE 0 name x, of a jar of cookies
			kind: "cookie", keys: []string{"\ttrue\t/", "\tfalse\t/"}, look: 512, tail: visible,
			re: lazyregexp.New(`^\t(?:TRUE|FALSE)\t/\S*\t(?:TRUE|FALSE)\t\d+\t\S+\t(\S{8,})`),
		},
		{ // SecretID: x, of Consul, Nomad and Vault
			kind: "secret", keys: []string{"secretid", "secret_id", "secret id"}, look: 128,
			re: lazyregexp.New(`^(?i)secret[_ ]?id["']?[ \t]*[:=]?[ \t]*["']?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`),
		},
		{ // names of keys that are too common for any value
			kind: "api-key", keys: randomNames, look: 384, tail: base64Bytes, pre: endsName,
			re: lazyregexp.New(`^(?i)(?:[a-z._-]+?(?:key|_salt)|bw_session|_pat)(?:["'][ \t]*,|["']?[ \t]*(?:=>|[=:]))[ \t]*["']?(?:base64:)?([^\s"'<>,;]{20,})`),
			ok: func(m *match) bool { return random(m.text(1)) },
		},
		{ // OPENAI_KEY=x, of a name that speaks of no other keys than secret ones
			kind: "api-key", keys: []string{"_key=", "_key:", `_key"`, "_key'", "_key ="}, look: 384, tail: base64Bytes,
			re: lazyregexp.New(`^_KEY["']?[ \t]*(?:=>|[=:])[ \t]*\\?["']?([A-Za-z0-9+/_-]{20,}={0,2})(?:[\s"',;&\\]|$)`),
			ok: func(m *match) bool {
				name := capitalName(m.before)
				return name != nil && random(m.text(1)) && !bytes.HasPrefix(m.text(1), []byte("AAAA")) && !otherKey.Match(name)
			},
		},
		{ // Jwt__Key=x, "Jwt:Key": "x"
			kind: "api-key", keys: []string{"jwt_key", "jwt__key", "jwt:key", "jwt_signing", "jwt__signing", "jwt:signing"}, look: 384,
			re: lazyregexp.New(`^(?i)jwt(?:__?|:)(?:signing)?key["']?[ \t]*[=:][ \t]*["']?([^\s"',;<>{}$]{8,})`),
			ok: func(m *match) bool { return strongKey(m.text(1)) },
		},
		{ // "Jwt": {, with "Key": "x" on one of the next lines
			kind: "api-key", keys: []string{`"jwt`}, look: 64, need: "{",
			re:   lazyregexp.New(`^(?i)"jwt(?:settings|config|options)?"[ \t]*:[ \t]*\{[ \t\r]*$`),
			ok:   func(m *match) bool { return m.group[1] == len(m.win) },
			then: func(*match) follow { return within("api-key", jwtKey, 8) },
		},
		{ // the same on one line
			kind: "api-key", keys: []string{`"jwt`}, look: 512, need: "{",
			re: lazyregexp.New(`^(?i)"jwt(?:settings|config|options)?"[ \t]*:[ \t]*\{[^{}\n]*?"(?:signing|issuersigning)?key"[ \t]*:[ \t]*"((?:[^"\\\n]|\\.){8,})"`),
			ok: notPlaceholder,
		},
		{ // $pw = "x", {"pw": "x"}
			kind: "password", keys: []string{`pw"`, "pw'", "pw =", "pw=", "pw:"}, left: nameLeft, look: 256,
			re: lazyregexp.New(`^(?i)pw["']?[ \t]*(?:=>|[=:])[ \t]*(?:"([^"\n]{6,32})"|'([^'\n]{6,32})'|([^\s"';,&|<>]{6,32})(?:[\s"';,&|<>]|$))`),
			ok: func(m *match) bool { return strong(m.win[m.from:m.to]) && notPlaceholder(m) },
		},
		{ // of WordPress
			kind: "api-key", keys: []string{"logged_in_key", "nonce_key", "secure_auth_key", "auth_salt", "logged_in_salt", "nonce_salt"}, look: 256, pre: endsName,
			re: lazyregexp.New(`^(?i)[a-z_]+["'][ \t]*,[ \t]*'([^'\n]{32,})'`),
			ok: notPlaceholder,
		},
		{
			kind: "service-token", keys: []string{".atlasv1."}, tail: wordBytes,
			re: lazyregexp.New(`^\.atlasv1\.([A-Za-z0-9_-]{40,})`),
		},
		{
			kind: "service-token", keys: []string{"/incomingwebhook/"}, look: 256, tail: classOf("A-Za-z0-9/-"),
			re: lazyregexp.New(`^(?i)/IncomingWebhook/([0-9a-f]{32})`),
		},
		{
			kind: "password-hash", keys: []string{"grub.pbkdf2."}, tail: classOf("A-Za-z0-9."),
			re: lazyregexp.New(`^grub\.pbkdf2\.sha512\.\d+\.([0-9A-Fa-f.]{64,})`),
		},
		{ // of k3s
			kind: "token", keys: starts("k10", hexDigits), left: wordLeft, look: 256, tail: alnumBytes,
			re: lazyregexp.New(`^K10[0-9a-f]{64}(?:::(?:server|node):[A-Za-z0-9]{16,})?`),
		},
		{
			kind: "password", keys: []string{"wep_key"}, look: 128,
			re: lazyregexp.New(`^wep_key\d?[ \t]*=[ \t]*"?([^\s"]{5,})`),
			ok: notPlaceholder,
		},
		{
			kind: "password", keys: []string{"requirepass", "masterauth"}, look: 256,
			re: lazyregexp.New(`^(?:requirepass|masterauth)["'][ \t]*,[ \t]*["']([^"'\n]{3,})["']`),
			ok: notPlaceholder,
		},
		{ // RABBITMQ_ERLANG_COOKIE=x
			kind: "cookie", keys: []string{"erlang_cookie"}, look: 256,
			re: lazyregexp.New(`^(?i)erlang_cookie["']?[ \t]*[:=][ \t]*(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"',;{}]{3,}))`),
			ok: notPlaceholder,
		},
		{ // requirepass: x
			kind: "password", keys: []string{"requirepass", "masterauth"}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?:requirepass|masterauth)["']?[ \t]*[:=][ \t]*(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"',;{}]{3,}))`),
			ok: notPlaceholder,
		},
	}
}

// randomNames are names, or ends of names, whose values are secret where they look made by chance.
var randomNames = []string{
	"app_key", "cookie_key", "hmac_key", "nonce_key", "validationkey", "decryptionkey", "session_key", "sessionkey", "crypto_key", "cipher_key", "aes_key", "license_key", "licensekey", "integration_key",
	"integrationkey", "routing_key", "subscription-key", "subscription_key", "consumer_key", "storage_key", "function_key", "jwt_key", "webhook_key", "service_key", "crypt_key", "write_key", "ingest_key", "ingestion_key", "server_key", "admin_key", "application_key", "fernet_key", "symmetric_key",
	"aead_key", "enc_key", "recovery_key", "logged_in_key", "secure_auth_key", "auth_salt", "logged_in_salt", "nonce_salt", "network_key", "pskkey", "hash_salt", "bw_session", "_pat=",
	"_pat:", "_pat\"", "mgmt.authkey",
}

var (
	phpString        = lazyregexp.New(`^[ \t]*string\(\d+\)[ \t]+"([^"\n]{3,})"`)
	valueOfOutput    = lazyregexp.New(`^[ \t]*"value"[ \t]*:[ \t]*"((?:[^"\\]|\\.){3,})"`)
	valueOfParameter = lazyregexp.New(`^[ \t]*"Value"[ \t]*:[ \t]*"((?:[^"\\]|\\.)+)"`)
	quotedWordLine   = lazyregexp.New(`^[ \t]*["']([^"'\\\n-][^"'\\\n]{2,})["'],?[ \t\r]*$`)
	listedWord       = lazyregexp.New(`^[ \t]*-[ \t]+["']?([^\s"'-][^\s"']{2,})["']?[ \t\r]*$`)
	changedName      = lazyregexp.New(`(?i)((?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|private|secret)_?key))"?[ \t]*[=:][ \t]*"[^"\n]*$`)
	changedWord      = lazyregexp.New(`(?i)(pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|private|secret)_?key)["']?[ \t]*[=:][ \t]*["']?\[-[^\n]*-$`)
	withShortFlag    = lazyregexp.New(`(?:^|[ \t/])(?:mysql\w*|mariadb[\w-]*|sshpass)[ \t](?:[^;|&]*[ \t])?$|["'/](?:mysql\w*|mariadb[\w-]*|sshpass|mongo\w*|cqlsh)["'].*$|["']login["'].*$`)
	jwtKey           = lazyregexp.New(`^(?i)[ \t]*"(?:signing|issuersigning)?key"[ \t]*:[ \t]*"((?:[^"\\]|\\.){8,})"`)
	otherKey         = lazyregexp.New(`(?:^|_)(?:PUBLIC|PUB|PEER|GPG|PGP|CACHE|PRIMARY|FOREIGN|SORT|ROUTING|PARTITION|IDEMPOTENCY|HOST|UNIQUE|LOOKUP|OBJECT|S3|ROW|HASH|RANGE|GROUP|TRUSTED|SEARCH|SITE|PUBLISHABLE|ANON|INDEX|BUCKET|FILE|STATE|LOCK|DEDUP|ETAG|ARTIFACT|BUILD|COMMIT)(?:_|$)`)
	hexOnly          = lazyregexp.New(`^[0-9a-fA-F]+$`)
)

// wideNames are the starts of names of secrets in UTF-16.
var wideNames = func() (out []string) {
	for _, word := range []string{"pass", "pwd", "secret", "token", "apikey", "api_key"} {
		out = append(out, strings.Join(strings.Split(word, ""), "\x00")+"\x00")
	}
	return out
}()

// wideValue judges a name and a value in UTF-16.
func wideValue(m *match) bool {
	narrow := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte{0}, nil) }
	name := narrow(m.win[:m.group[5]])
	if n := len(m.before); n > 1 && m.before[n-1] == 0 && !nameLeft.allows(m.before[n-2:n-1], m.win[0]) {
		return false
	}
	v := narrow(m.text(3))
	if m.pick(3); m.win[m.to-1] != 0 && m.to < len(m.win) {
		return false
	}
	m.kind = kindOfName(string(bytes.ToLower(name)))
	quoted := bytes.ContainsAny(m.win[m.group[5]:m.from], "\"'")
	return !saysNoSecret(name) && !placeholder(v) && !filePath.Match(v) && (m.kind == "password" || !number.Match(v)) && (quoted || !letters.Match(v))
}

// hereDocument takes out the lines of a here document up to its end, or as many as a secret has.
func hereDocument(kind, end string, lines int) follow {
	return func(line []byte) (*match, follow) {
		from, to := indent(line)
		switch text := line[from:to]; {
		case lines == 0, string(text) == end:
			return nil, nil
		case from == to || placeholder(text) || filePath.Match(text):
			return nil, hereDocument(kind, end, lines-1)
		}
		return foundAt(kind, line, from, to), hereDocument(kind, end, lines-1)
	}
}

// inQuotes takes out the lines of a string up to the quotes that end it, as long as each is one word: others explain something.
func inQuotes(kind, end string, lines int) follow {
	return func(line []byte) (*match, follow) {
		from, to := indent(line)
		text, over := bytes.CutSuffix(line[from:to], []byte(end))
		if len(text) < 3 || lines == 0 || bytes.ContainsAny(text, " \t") || placeholder(text) || filePath.Match(text) {
			return nil, nil
		}
		if over {
			return foundAt(kind, line, from, from+len(text)), nil
		}
		return foundAt(kind, line, from, to), inQuotes(kind, end, lines-1)
	}
}

// wordStartsWith are bytes that may follow -p.
const wordStartsWith = "abcdefghijklmnopqrstuvwxyz0123456789\"'!@#$%^&*_+=?"

// dumped judges a value that stands in quotes after a name.
func dumped(m *match) bool {
	m.pick(3)
	v := m.win[m.from:m.to]
	return namesSecret(m) && !placeholder(v) && !filePath.Match(v) && !bytes.EqualFold(v, m.text(1)) && (m.kind == "password" || !number.Match(v))
}

// orElse reports whether a name of the environment is followed by what stands for it if it is not there.
func orElse(before, win []byte, name int) bool {
	i := skip(win, name, "\"']")
	i = skip(win, i, " \t")
	return i+1 < len(win) && (win[i] == '|' || win[i] == '?') && win[i+1] == win[i] && bytes.Contains(bytes.ToLower(before[max(0, len(before)-24):]), []byte("env"))
}

// endsName reports whether a quote, or what stands between a name and its value, comes after a name.
func endsName(_, win []byte, name int) bool {
	return name < len(win) && bytes.IndexByte([]byte("\"' \t=:"), win[name]) >= 0
}

// random reports whether v looks made by chance: it is hexadecimal, or has letters of both cases and digits.
func random(v []byte) bool {
	return len(v) >= 32 && hexOnly.Match(v) || bytes.ContainsAny(v, "0123456789") && mixed(v) || len(v) >= 36 && bytes.HasSuffix(v, []byte("NRAL"))
}

// capitalName returns the name in capitals that before ends with; nil where there is none.
func capitalName(before []byte) []byte {
	i := len(before)
	for i > 0 && (before[i-1] == '_' || '0' <= before[i-1] && before[i-1] <= '9' || 'A' <= before[i-1] && before[i-1] <= 'Z') {
		i--
	}
	if i == len(before) || before[i] < 'A' || before[i] > 'Z' || i > 0 && 'a' <= before[i-1] && before[i-1] <= 'z' {
		return nil
	}
	return before[i:]
}

// strongKey judges a value that is a key by its name: no word, number, file or variable.
func strongKey(v []byte) bool {
	return !placeholder(v) && !letters.Match(v) && !number.Match(v) && !dotted.Match(v) && v[0] != '/' && v[0] != '.' && !bytes.HasSuffix(v, []byte(".pem"))
}

// inStruct reports whether a name is one of those in the braces of a value that Go printed.
func inStruct(before, win []byte, name int) bool {
	if name+3 >= len(win) || blank(win[name+1]) || quote(win[name+1]) {
		return false
	}
	i := wordStart(before)
	if i == 0 {
		return false
	}
	switch before[i-1] {
	case '{':
		return i == 1 || !quote(before[i-2]) && before[i-2] != '$' && before[i-2] != '{'
	case '[':
		return bytes.HasSuffix(before[:i-1], []byte("map"))
	case ' ':
		line := linePrefix(before[:i])
		at := max(bytes.LastIndexByte(line, '{'), bytes.LastIndex(line, []byte("map[")))
		return at >= 0 && structField.Match(line[at+1:])
	}
	return false
}

// structField is what comes before a name in braces: other names and their values.
var structField = lazyregexp.New(`^(?:ap\[)?[A-Za-z_]\w*:[^{}]*[ \t]$`)

// opensDump reports whether what follows a name may be a value with its type.
func opensDump(_, win []byte, name int) bool {
	i := name
	if i < len(win) && quote(win[i]) {
		i++
	}
	if i == len(win) {
		return false
	}
	switch win[i] {
	case ';', '>':
		return true
	case ' ':
		return i+1 < len(win) && win[i+1] == '.'
	case ':':
		i = skip(win, i+1, " \t")
		return i < len(win) && (win[i] == '(' || win[i] >= 'A' && win[i] <= 'S') && bytes.IndexByte(win[i:], '"') > 0
	}
	return false
}

// lispName reports whether a name is a keyword, or what setq sets.
func lispName(before, win []byte, name int) bool {
	if name+1 >= len(win) || win[name+1] != '"' {
		return false
	}
	i := wordStart(before)
	if i > 0 && before[i-1] == ':' {
		return i == 1 || blank(before[i-2]) || bytes.IndexByte([]byte("({[\n"), before[i-2]) >= 0
	}
	return bytes.HasSuffix(before[:i], []byte("(setq "))
}

// quotedFlag reports whether a name is a string of its own that begins with a dash.
func quotedFlag(before, win []byte, name int) bool {
	i := len(before)
	for i > 0 && wordBytes[before[i-1]] {
		i--
	}
	if i == 0 || i == len(before) || before[i] != '-' || !quote(before[i-1]) || bytes.HasPrefix(before[i:], []byte("--show")) || bytes.HasPrefix(before[i:], []byte("--no-")) {
		return false
	}
	at := quoteAt(win, name)
	at = skip(win, at, " \t")
	return at < len(win) && win[at] == ','
}

// listedFlag reports whether an option is all of an entry of a list of YAML.
func listedFlag(before, win []byte, name int) bool {
	if i := quoteAt(win, name); skip(win, i, " \t\r") < len(win) {
		return false
	}
	line := linePrefix(before)
	i := skip(line, 0, " \t")
	if i+2 >= len(line) || line[i] != '-' || line[i+1] != ' ' {
		return false
	}
	i = skip(line, i+1, " \t\"'")
	return i+1 < len(line) && line[i] == '-' && len(line) > i && !bytes.ContainsAny(line[i:], " \t=:")
}
