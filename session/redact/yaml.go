package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

var (
	// properties are the anchors and tags that may stand before a value (YAML 1.2, 6.9). Other tags stand before the name of a
	// value, not before one: !Ref, !secret, !env.
	properties = lazyregexp.New(`^(?:(?:&[^\s,\[\]{}"']+|!<[^>\s]*>|!![\w/.]+|!(?:str|string|binary|unsafe|vault|sensitive|encrypted|raw)?)[ \t]+){1,3}`)
	// nodeAlone is an anchor, a tag or an alias that nothing follows.
	nodeAlone = lazyregexp.New(`^(?:[&*][a-z][a-z_-]*|!!?[a-z]+)$`)
	// flowNext is how a flow mapping goes on after a value.
	flowNext = lazyregexp.New(`^[ \t]*,[ \t]*\\?["']?[\w.-]+\\?["']?[ \t]*:`)
	// flowBytes are those of a plain scalar in one.
	flowBytes = but("\"'`,{}[]")
)

// isNode reports whether v is an anchor, a tag or an alias and nothing else.
func isNode(v []byte) bool {
	return len(v) > 0 && (v[0] == '&' || v[0] == '*' || v[0] == '!') && nodeAlone.Match(v)
}

// skipProperties moves the secret past the properties before it, and returns the quote that its value begins with, if any.
func skipProperties(m *match) (open []byte) {
	rest := m.win[m.from:]
	if len(rest) == 0 || rest[0] != '&' && rest[0] != '!' {
		return nil
	}
	loc := properties.FindIndex(rest)
	if loc == nil || loc[1] == len(rest) {
		return nil
	}
	m.from += loc[1]
	if quote(m.win[m.from]) {
		m.from++
		return m.win[m.from-1 : m.from]
	}
	return nil
}

// inFlow reports whether before ends within the braces of a mapping on one line.
func inFlow(before []byte) bool {
	line := linePrefix(before)
	return bytes.LastIndexByte(line, '{') > bytes.LastIndexByte(line, '}')
}

// ldifValue judges what follows two colons, which is in base64 (RFC 2849).
func ldifValue(m *match) bool {
	if m.from == len(m.win) || m.win[m.from] != ':' || !leads(m.before) {
		return false
	}
	from := skip(m.win, m.from+1, " \t")
	to := len(bytes.TrimRight(m.win, " \t\r"))
	if from == m.from+1 || to-from < 4 {
		return false
	}
	b, err := base64.StdEncoding.DecodeString(string(m.win[from:to]))
	m.from, m.to, m.tail = from, to, nil
	return err == nil && readable(b)
}

// yamlRules take out values of YAML whose names stand on other lines than they do, or before a colon that is not theirs.
func yamlRules() []*rule {
	return []*rule{
		{ // ? password, with : and its value on the next line
			kind: "secret", keys: secretNames, name: true, pre: explicitKey, look: nameLook, ok: namesSecret,
			re:   lazyregexp.New(`^["']?[ \t\r]*$`),
			then: func(m *match) follow { return after(m.kind, explicitValue, 1) },
		},
		{ // passwords: ["x", "y"], also over several lines
			kind: "secret", keys: secretNames, name: true, next: "\"'\\ \t:=", pre: listOpens, look: nameLook,
			ok:   func(m *match) bool { return namesList(m) && opensAt(m, "[({") },
			re:   lazyregexp.New(`^\\?["']?[ \t]*(?:=>|:=|[:=])[ \t]*(?:[\[(]|(?:array|@)\(|\{[ \t]*(?:["'][^"'\n]*["'][ \t]*[,}]|$))`),
			here: func(m *match) follow { return listEntries(m.kind, oneSecret(m), 0) },
		},
		{ // passwords: {kim: x, bob: y}, also over several lines
			kind: "secret", keys: secretNames, name: true, next: "\"'\\ \t:=s", pre: listOpens, look: nameLook,
			re:   lazyregexp.New(`^\\?["']?[ \t]*(?:=>|:=|[:=])[ \t]*\{[ \t\r]*(?:\\?["']?[\w.@-]+\\?["']?[ \t]*(?:=>|[:=])|$)`),
			ok:   func(m *match) bool { return namesSecret(m) && !oneSecret(m) && opensAt(m, "{") },
			here: func(m *match) follow { return members(m.kind, 0) },
		},
		{ // stringData: {a: x}
			kind: "secret", keys: []string{"data:"}, look: 64, need: "{", pre: flowData,
			re:   lazyregexp.New(`^(?i)data:[ \t]*(?:&\S+[ \t]+)?\{`),
			ok:   func(m *match) bool { return len(bytes.TrimSpace(m.win[m.group[1]:])) > 0 },
			here: func(m *match) follow { return flowPairs(bytes.HasSuffix(m.before, []byte("string"))) },
		},
	}
}

var explicitValue = lazyregexp.New(`^[ \t]*:[ \t]+(?:[&!]\S*[ \t]+){0,2}["']?([^\s"'{\[|>&*!#][^"'\r\n]{2,}?)["']?[ \t\r]*$`)

// explicitKey reports whether a name ends a line that says with a question mark that it is a key.
func explicitKey(before, win []byte, name int) bool {
	if skip(win, name, "\"' \t\r") != len(win) {
		return false
	}
	line := linePrefix(before)
	b := bytes.TrimRight(line[:wordStart(line)], "\"'")
	i := skip(b, 0, " \t-")
	return i+1 < len(b) && b[i] == '?' && skip(b, i+1, " \t") == len(b)
}

// flowData reports whether data or stringData, of which before has the start, begins a line or goes on with a mapping.
func flowData(before, win []byte, name int) bool {
	i := skip(win, min(name+1, len(win)), " \t")
	if i == len(win) || win[i] != '{' && win[i] != '&' {
		return false
	}
	line := bytes.TrimSuffix(linePrefix(before), []byte("string"))
	b := bytes.TrimRight(line, " \t")
	return len(b) == 0 || b[len(b)-1] == '{' || b[len(b)-1] == ',' && inFlow(before)
}

var flowPair = lazyregexp.New(`^["']?[\s,{]*["']?[\w.-]+["']?[ \t]*:[ \t]+(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s,{}\[\]"'][^,{}\[\]]*))`)

// flowPairs takes out the values of a flow mapping of YAML on one line, under data or, plain, under stringData.
func flowPairs(plain bool) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		for at := 0; ; {
			g := flowPair.FindSubmatchIndex(line[at:])
			if g == nil {
				return nil, nil
			}
			in := match{win: line[at:], group: g}
			in.pick(1)
			from := at + in.from
			to := from + len(bytes.TrimRight(line[from:at+in.to], " \t"))
			if v := line[from:to]; plain && len(v) > 2 && !placeholder(v) || secretData(v) {
				m := foundAt("secret", line, from, to)
				m.again, m.tail = true, nil
				return m, next
			}
			at += in.to
		}
	}
	return next
}
