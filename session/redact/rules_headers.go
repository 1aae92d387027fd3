package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// authScheme is a scheme of authorization, and what may stand before its value.
const authScheme = `(?:bearer|basic|token|digest|negotiate|apikey|api-key|key)[ \t]+(?:token=\\?["']?)?`

// headerRules take out what HTTP messages and URLs carry.
func headerRules() []*rule {
	return []*rule{
		{
			kind: "authorization", keys: []string{"authorization"}, look: 256, tail: but(`"'\,`),
			re: lazyregexp.New(`^(?i)authorization(?:["'\\]*[ \t]*[:=][ \t]*\\?["']?[ \t]*` +
				`(?:` + authScheme + `([^\s"'\\,]{3,})|[^\s"'\\,]{16,})|\\?["'][ \t]*,[ \t]*["']` + authScheme + `([^\s"'\\,]{3,}))`),
			ok: func(m *match) bool {
				if m.text(1) == nil && m.text(2) == nil { // no scheme: the value is the last word
					m.from = bytes.LastIndexAny(m.win[:m.to], " \t:='\"") + 1
				}
				if bytes.HasSuffix(m.win[:m.to], []byte(markClose)) {
					return false
				}
				v := m.win[m.from:m.to]
				return !placeholder(v) && !capitals(v) && !bytes.EqualFold(v, []byte("token"))
			},
		},
		{ // another scheme, or none, and a short value
			kind: "authorization", keys: []string{"authorization"}, look: 256, pre: digitNear,
			re: lazyregexp.New(`^(?i)authorization["'\\]*[ \t]*[:=][ \t]*\\?["']?[ \t]*(?:[a-z][a-z0-9_-]{2,20}[ \t]+)?([^\s"'\\,=:]{6,}=*)\\?["']?[ \t\r]*(?:$|[\\,;)}\]]|-)`),
			ok: func(m *match) bool {
				v := m.text(1)
				return bytes.ContainsAny(v, "0123456789") && !number.Match(v) && !placeholder(v) && !filePath.Match(v)
			},
		},
		{ // "Bearer x"
			kind: "authorization", keys: []string{"bearer "}, look: 256, pre: afterQuote,
			re: lazyregexp.New(`^(?i)bearer[ \t]+([a-z0-9._~+/=-]{3,})\\?["']`),
			ok: func(m *match) bool { return bytes.ContainsAny(m.text(1), "0123456789") && notPlaceholder(m) },
		},
		{
			kind: "authorization", keys: []string{"bearer"}, left: wordLeft, tail: classOf("A-Za-z0-9._~+/=-"),
			re: lazyregexp.New(`^(?i)bearer[ \t]+([a-z0-9._~+/=-]{16,})`),
			ok: func(m *match) bool { return bytes.ContainsAny(m.text(1), "0123456789") },
		},
		{
			kind: "cookie", keys: []string{"set-cookie"}, look: 512, need: "=", tail: but(`;"',`),
			re: lazyregexp.New(`^(?i)set-cookie\\?["']?:[ \t]*\[?[ \t]*\\?["']?[^\s=;]+=([^\s;"',]{8,})`),
		},
		{
			kind: "cookie", keys: []string{"cookie:"}, left: nameLeft, pre: namesCookie,
			re: lazyregexp.New(`^(?i)cookie:[ \t]*([^\s=;"']+=[^"'\r]{8,})`),
		},
		{ // "cookie": ["a=x"]
			kind: "cookie", keys: []string{`cookie"`, `cookie\"`, "cookie':"}, left: nameLeft, look: 512, tail: but(`"'\`),
			re: lazyregexp.New(`^(?i)cookie\\?["'][ \t]*:[ \t]*\[?[ \t]*\\?["']([^\s=;"'\\]+=[^"'\\\r]{8,})`),
			ok: func(m *match) bool { return !bytes.HasSuffix(m.before, []byte("-")) },
		},
		{ // auth=Bearer x, map[Authorization:[Bearer x]]
			kind: "authorization", keys: []string{"auth=bearer ", "auth=basic ", "auth: bearer ", "auth: basic ", "auth:bearer ", "zation:[b", "zation:[t"}, look: 512, tail: but(`"'\,]`),
			re: lazyregexp.New(`^(?i)(?:auth|zation)[=:][ \t]?\[?(?:bearer|basic|token)[ \t]+([^\s"'\\,\]]{3,})`),
			ok: func(m *match) bool { return bytes.ContainsAny(m.text(1), "0123456789=") && notPlaceholder(m) },
		},
		{ // Digest and Hawk
			kind: "authorization", keys: []string{"response=\"", "mac=\""}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?i)(?:response|mac)="([0-9a-f]{32,128}|[a-z0-9+/]{27,88}={1,2})"`),
		},
		{ // https://TOKEN:x-oauth-basic@github.com, where the user is the secret, and the password is a word
			kind: "dsn", keys: []string{"://"}, need: "@", look: 512,
			re: lazyregexp.New(`^://([A-Za-z0-9_-]{16,}:(?:x-oauth-basic|x-token|oauth2?|[Xx])?)@[\w.\[-]`),
			ok: func(m *match) bool { return bytes.ContainsAny(m.text(1), "0123456789") },
		},
		{
			// RFC 3986 with user information: databases, queues, proxies, repositories.
			kind: "dsn", keys: []string{"://"}, need: "@", look: 1 << 10,
			re: lazyregexp.New(`^://(?:[^\s:/?#@"'<>]*:([^\s/?#"'<>]+)|([A-Za-z0-9_-]{20,}))@[\w.\[%$({-]`),
			ok: func(m *match) bool {
				n := len(m.before)
				return n > 0 && isAlnum(m.before[n-1]) && !placeholder(m.win[m.from:m.to]) && !bytes.HasPrefix(m.win[3:], []byte(markOpen)) && !(foldedPrefix(m.win, []byte("://user")) && ofManuals.Match(m.win[:m.to]))
			},
		},
		{ // the same without its end
			kind: "dsn", keys: []string{"postgres://", "postgresql://", "mysql://", "mongodb://", "mongodb+srv://", "redis://", "rediss://", "amqp://", "amqps://"}, look: 512, pre: lastWords, tail: unquoted,
			re: lazyregexp.New(`^(?i)[a-z+]+://[^\s:/?#@"'<>\[]*:([^\s/?#@"'<>,]{3,})[ \t\r]*$`),
			ok: func(m *match) bool { return !number.Match(m.text(1)) && !letters.Match(m.text(1)) && notPlaceholder(m) },
		},
		{ // the same in JSON
			kind: "dsn", keys: []string{`:\/\/`}, need: "@", look: 1 << 10,
			re: lazyregexp.New(`^:\\/\\/[^\s:/?#@"'<>\\]*:([^\s/?#"'<>]+)@[\w.\[%$({-]`),
			ok: notPlaceholder,
		},
		{ // the same in the query of a URL
			kind: "dsn", keys: []string{"%3a%2f%2f"}, need: "%40", look: 1 << 10,
			re: lazyregexp.New(`^(?i)%3a%2f%2f(?:[\w.+-]|%[0-9a-f]{2})*?%3a([^\s"'<>&=]{3,}?)%40[\w.%-]`),
			ok: notPlaceholder,
		},
		{ // {"password":"x"}, password=x and the like in the query of a URL
			kind: "secret", keys: secretNames, name: true, next: "%", look: 512,
			re: lazyregexp.New(`^(?i)(?:%22)?(?:%20|\+)*%3[ad](?:%20|\+)*(?:%22)?([^\s"'<>&%]{3,})`),
			ok: func(m *match) bool {
				m.pick(3)
				v := m.win[m.from:m.to]
				return namesSecret(m) && !placeholder(v) && !filePath.Match(v) && (m.kind == "password" || !number.Match(v) && !letters.Match(v))
			},
		},
		{ // Go's MySQL driver without an address: user:password@/name
			kind: "dsn", keys: append(starts("@/", "abcdefghijklmnopqrstuvwxyz_"), "@/?"), look: 128, back: true,
			re: lazyregexp.New(`^@/\w*(?:\?[\w=&%.-]*)?(?:["'\s]|$)`),
			ok: func(m *match) bool {
				at := passwordBefore(m.before)
				if at < 0 || placeholder(m.before[at:]) || !bytes.ContainsAny(m.before[at:], "0123456789!#$%^&*?") {
					return false
				}
				m.behind = len(m.before) - at
				return true
			},
		},
		{ // Mailchimp: 32 digits and the name of a data center
			kind: "service-token", keys: starts("-us", "123456789"), look: 16, back: true,
			re: lazyregexp.New(`^-us\d{1,2}(?:[^A-Za-z0-9_-]|$)`),
			ok: func(m *match) bool {
				n := len(m.before) - 32
				if n < 0 || len(bytes.Trim(m.before[n:], hexDigits)) > 0 || n > 0 && wordBytes[m.before[n-1]] {
					return false
				}
				m.behind = 32
				return true
			},
		},
		{
			kind: "dsn", keys: []string{"basic.auth.user.info", "neo4j_auth"}, look: 256, tail: unquoted,
			re: lazyregexp.New(`^(?i)(?:basic\.auth\.user\.info|neo4j_auth)["']?[ \t]*[=:][ \t]*["']?[\w.@+-]+[:/]([^\s"',;]{3,})`),
			ok: notPlaceholder,
		},
		{
			kind: "dsn", keys: []string{"oracle:thin:", "oracle:oci"}, look: 256,
			re: lazyregexp.New(`^(?i)oracle:(?:thin|oci8?):[^\s/@"':]+/([^\s@"']{3,})@`),
			ok: notPlaceholder,
		},
		{
			// Go's MySQL driver: user:password@tcp(host:port)/name, user:password@(host:port)/name.
			kind: "dsn", keys: append(starts("@(", "abcdefghijklmnopqrstuvwxyz0123456789[/"), "@tcp", "@unix(", "@cloudsql"), look: 128, back: true,
			re: lazyregexp.New(`^@(?:[a-z0-9+-]+\(|\([\w.\[\]:/-]+\)/)`),
			ok: func(m *match) bool {
				at := passwordBefore(m.before)
				if at < 0 || placeholder(m.before[at:]) {
					return false
				}
				m.behind = len(m.before) - at
				return true
			},
		},
		{
			kind: "authorization", keys: []string{"basic "}, left: wordLeft, look: 512, tail: base64Bytes,
			re: lazyregexp.New(`^(?i)basic[ \t]+([A-Za-z0-9+/]{4,}={0,2})(?:[^A-Za-z0-9+/=]|$)`),
			ok: func(m *match) bool { return basicAuth(m.text(1)) },
		},
		{
			kind: "cookie", keys: []string{"phpsessid=", "jsessionid=", "connect.sid=", "laravel_session=", "sessionid=", "fairlead_page_"},
			left: wordLeft, look: 256, tail: but(`;"',&<>`),
			re: lazyregexp.New(`^(?i)[a-z_.]+\d*=([^\s;"',&<>]{12,})`),
		},
		{
			// PostgreSQL's password file: host:port:database:user:password.
			kind: "pgpass", keys: []string{":5432:", ":*:", ":5433:", ":6432:", ":5434:", ":6543:"},
			re: lazyregexp.New(`^:(?:543[234]|6432|6543|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.){3,})(?:\s|$)`),
		},
		{
			kind: "azure-key", keys: []string{"accountkey=", "sharedaccesskey="}, tail: base64Bytes,
			re: lazyregexp.New(`^(?i)(?:account|sharedaccess)key=([A-Za-z0-9+/=]{20,})`),
		},
		{
			kind: "azure-key", keys: []string{"&sig=", "?sig="}, tail: classOf("A-Za-z0-9%+/=_-"),
			re: lazyregexp.New(`^(?i)[&?]sig=([a-z0-9%+/=_-]{20,})`),
		},
		{ // of a function of Azure
			kind: "azure-key", keys: []string{"?code=", "&code="}, tail: classOf("A-Za-z0-9%+/=_-"), look: 256,
			re: lazyregexp.New(`^(?i)[?&]code=([a-z0-9%+/=_-]{30,})`),
			ok: func(m *match) bool { return bytes.Contains(m.before, []byte(".azurewebsites.")) },
		},
		{
			kind: "aws-signature", keys: []string{"x-amz-signature=", "x-amz-security-token="}, tail: classOf("A-Za-z0-9%+/=_-"),
			re: lazyregexp.New(`^(?i)x-amz-(?:signature|security-token)=([a-z0-9%+/=_-]{16,})`),
		},
		{
			kind: "api-key", keys: []string{"x-auth-key", "x-jfrog-art-api"}, left: wordLeft, look: 256, tail: wordBytes,
			re: lazyregexp.New(`^(?i)x-(?:auth-key|jfrog-art-api)["'\\]*[ \t]*[:=][ \t]*\\?["']?([a-z0-9_-]{20,})`),
		},
		{ // SAML, for as long as it is valid
			kind: "authorization", keys: []string{"samlresponse", "samlassertion", "saml-assertion"}, tail: classOf("A-Za-z0-9%+/=_-"),
			re: lazyregexp.New(`^(?i)saml-?(?:response|assertion)["'\\]*(?:[ \t]*[=:]|[ \t]+value=|[ \t])[ \t]*\\?["']?([a-z0-9%+/=_-]{40,})`),
		},
		{
			kind: "secret", keys: []string{"otpauth-migration://"}, look: 256, tail: classOf("A-Za-z0-9%+/=_-"),
			re: lazyregexp.New(`^otpauth-migration://[^\s"'=:]*[?&]data=([A-Za-z0-9%+/=_-]{10,})`),
		},
		{ // of older requests, of Google, and of OAuth 1
			kind: "aws-signature", keys: []string{"signature="}, look: 256, pre: afterPart, tail: classOf("A-Za-z0-9%+/=_~-"),
			re: lazyregexp.New(`^(?i)signature="?([a-z0-9%+/=_~-]{20,})`),
			ok: func(m *match) bool { return bytes.ContainsAny(m.text(1), "0123456789") },
		},
	}
}

// ofManuals is an account that stands for one.
var ofManuals = lazyregexp.New(`^(?i)://user(?:name)?:(?:password|passwd|pass|pwd|secret|token)$`)

// capitals reports whether v is one word in capitals, which stands for a value.
func capitals(v []byte) bool { return letters.Match(v) && bytes.Equal(bytes.ToUpper(v), v) }

// namesCookie reports whether a name and an equals sign follow the name of a header.
func namesCookie(before, win []byte, _ int) bool {
	if bytes.HasSuffix(before, []byte("-")) {
		return false // set-cookie has its own
	}
	win = win[len("cookie:"):min(len(win), 256)]
	i := bytes.IndexAny(win[skip(win, 0, " \t"):], "= \t;\"'\r")
	return i > 0 && win[skip(win, 0, " \t")+i] == '='
}

// afterPart reports whether a name is one of several in a URL or a header, or the end of a longer one.
func afterPart(before, _ []byte, _ int) bool {
	n := len(before)
	return n > 0 && bytes.IndexByte([]byte("?&, -_"), before[n-1]) >= 0
}

// digitNear reports whether a digit comes soon after a name.
func digitNear(_, win []byte, name int) bool {
	return bytes.ContainsAny(win[name:min(len(win), name+64)], "0123456789")
}

func afterQuote(before, _ []byte, _ int) bool { return len(before) > 0 && quote(before[len(before)-1]) }

// passwordBefore returns where the password of a name:password begins that ends b, or -1.
func passwordBefore(b []byte) int {
	from := len(b)
	for from > 0 && wordOfDSN[b[from-1]] {
		from--
	}
	for i := from + 1; i+1 < len(b); i++ {
		if c := b[i-1]; b[i] == ':' && (tokenBytes[c] || c == '+') {
			return i + 1
		}
	}
	return -1
}

// basicAuth reports whether v is name:password in base64 (RFC 7617).
func basicAuth(v []byte) bool {
	b, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(v, "=")))
	return err == nil && bytes.IndexByte(b, ':') > 0 && readable(b)
}

// readable reports whether b is text in ASCII.
func readable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f {
			return false
		}
	}
	return true
}
