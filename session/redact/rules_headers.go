package redact

import (
	"bytes"
	"regexp"
)

// headerRules take out what HTTP messages and URLs carry.
func headerRules() []*rule {
	return []*rule{
		{
			kind: "authorization", keys: []string{"authorization"}, look: 256, tail: but(`"'\,`),
			re: regexp.MustCompile(`^(?i)authorization["'\\]*[ \t]*[:=][ \t]*\\?["']?[ \t]*` +
				`(?:(?:bearer|basic|token|digest|negotiate|apikey|api-key|key)[ \t]+([^\s"'\\,]{3,})|[^\s"'\\,]{16,})`),
			ok: func(m *match) bool {
				if m.text(1) == nil { // no scheme: the value is the last word
					m.from = bytes.LastIndexAny(m.win[:m.to], " \t:='\"") + 1
				}
				return !placeholder(m.win[m.from:m.to])
			},
		},
		{
			kind: "authorization", keys: []string{"bearer"}, left: wordLeft, tail: classOf("A-Za-z0-9._~+/=-"),
			re: regexp.MustCompile(`^(?i)bearer[ \t]+([a-z0-9._~+/=-]{16,})`),
			ok: func(m *match) bool { return bytes.ContainsAny(m.text(1), "0123456789") },
		},
		{
			kind: "cookie", keys: []string{"set-cookie"}, tail: but(`;"',`),
			re: regexp.MustCompile(`^(?i)set-cookie["']?:[ \t]*["']?[^\s=;]+=([^\s;"',]{8,})`),
		},
		{
			kind: "cookie", keys: []string{"cookie:"}, left: nameLeft,
			re: regexp.MustCompile(`^(?i)cookie:[ \t]*([^\s=;"']+=[^"'\r]{8,})`),
			ok: func(m *match) bool { return !bytes.HasSuffix(m.before, []byte("-")) }, // set-cookie has its own
		},
		{
			// RFC 3986 with user information: databases, queues, proxies, repositories.
			kind: "dsn", keys: []string{"://"}, need: "@", look: 1 << 10,
			re: regexp.MustCompile(`^://(?:[^\s:/?#@"'<>]*:([^\s/?#"'<>]+)|([A-Za-z0-9_-]{20,}))@[\w.\[%$({-]`),
			ok: func(m *match) bool {
				n := len(m.before)
				return n > 0 && isAlnum(m.before[n-1]) && !placeholder(m.win[m.from:m.to])
			},
		},
		{
			// PostgreSQL's password file: host:port:database:user:password.
			kind: "pgpass", keys: []string{":5432:", ":*:"},
			re: regexp.MustCompile(`^:(?:5432|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.){3,})(?:\s|$)`),
		},
		{
			kind: "azure-key", keys: []string{"accountkey=", "sharedaccesskey="}, tail: base64Bytes,
			re: regexp.MustCompile(`^(?i)(?:account|sharedaccess)key=([A-Za-z0-9+/=]{20,})`),
		},
		{
			kind: "azure-key", keys: []string{"&sig=", "?sig="}, tail: classOf("A-Za-z0-9%+/=_-"),
			re: regexp.MustCompile(`^(?i)[&?]sig=([a-z0-9%+/=_-]{20,})`),
		},
		{
			kind: "aws-signature", keys: []string{"x-amz-signature=", "x-amz-security-token="}, tail: classOf("A-Za-z0-9%+/=_-"),
			re: regexp.MustCompile(`^(?i)x-amz-(?:signature|security-token)=([a-z0-9%+/=_-]{16,})`),
		},
	}
}
