package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// form is one way in which a secret may appear.
type form struct {
	text []byte
	of   *secret
}

const (
	minEncoded = 8  // a shorter secret is not looked for inside base64 or as hexadecimal digits: chance would find it
	minLine    = 16 // a shorter line of a secret is not looked for alone
)

// formsOf lists the ways in which a value appears in output and in commands. All are at least [MinGiven] long, as values are.
func formsOf(of *secret) []form {
	v := of.value
	var out []form
	seen := map[string]bool{}
	add := func(text []byte) {
		if !seen[string(text)] {
			seen[string(text)] = true
			out = append(out, form{text, of})
		}
	}
	add(v)
	for _, s := range escaped(string(v)) {
		add([]byte(s))
	}
	for _, s := range inBase64(v) {
		add([]byte(s))
	}
	if len(v) >= minEncoded {
		h := hex.EncodeToString(v)
		add([]byte(h))
		add([]byte(strings.ToUpper(h)))
	}
	if bytes.IndexByte(v, '\n') >= 0 {
		add(bytes.ReplaceAll(v, []byte("\n"), []byte("\r\n"))) // what a terminal makes of it
		for line := range bytes.Lines(v) {
			line = bytes.Trim(line, " \t\r\n")
			if len(line) >= minLine && !bytes.HasPrefix(line, []byte("-----")) {
				add(line)
			}
		}
	}
	return out
}

// escaped lists what URLs, shells, JSON and HTML make of s.
func escaped(s string) []string {
	out := []string{
		url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:],
		percent(s, "-_.~"), percent(s, "-_.!~*'()"), percent(s, ""),
		html.EscapeString(s), strings.NewReplacer("&#39;", "&apos;", "&#34;", "&quot;").Replace(html.EscapeString(s)), strings.ReplaceAll(s, `'`, `''`),
		strings.ReplaceAll(s, `'`, `'\''`), strings.ReplaceAll(s, `'`, `'"'"'`),
		backslashed(s, "\\\"$`"), backslashed(s, "\\\""), backslashed(s, `\'`),
		backslashed(s, " \t!\"#$&'()*,;<>?[\\]^`{|}~"), backslashed(s, " \t!\"#$&'()*;<>?[\\]^`{|}"),
	}
	for _, u := range out[:6] {
		out = append(out, lowerPercent(u))
	}
	for _, htmlToo := range []bool{false, true} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(htmlToo)
		if enc.Encode(s) == nil {
			j := strings.TrimSuffix(b.String(), "\n")
			j = j[1 : len(j)-1]
			out = append(out, j, strings.ReplaceAll(j, "/", `\/`), inASCII(j), inASCII(strings.ReplaceAll(j, "/", `\/`)))
		}
	}
	return out
}

// inASCII is what Python and PHP write in JSON for characters that are not of ASCII.
func inASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// inBase64 lists what is certain of v inside base64 at each of the three alignments, whatever stands around it, and the
// ends that it has when nothing, or one newline, follows.
func inBase64(v []byte) []string {
	var out []string
	add := func(s string) {
		out = append(out, s)
		if u := strings.NewReplacer("+", "-", "/", "_").Replace(s); u != s {
			out = append(out, u)
		}
	}
	if len(v) < minEncoded {
		add(base64.StdEncoding.EncodeToString(v))
		return out
	}
	for before := range 3 {
		padded := append(make([]byte, before, before+len(v)+1), v...)
		from, to := (8*before+5)/6, 8*len(padded)/6
		whole := base64.StdEncoding.EncodeToString(padded)
		add(whole[from:to])
		add(strings.TrimRight(whole, "=")[from:])
		add(whole[from:])
		add(base64.StdEncoding.EncodeToString(append(padded, '\n'))[from:])
	}
	return out
}

// percent encodes everything but letters, digits and what is listed.
func percent(s, keep string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isAlnum(c) || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

func backslashed(s, special string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
