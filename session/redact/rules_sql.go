package redact

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// sqlRules take out passwords from statements, but for those that a name and an equals sign give away.
func sqlRules() []*rule {
	return append(insertRules(), []*rule{
		{ // | password | x |, password | x: of clients that show a row in lines
			kind: "secret", keys: secretNames, name: true, next: " \t", look: 512, need: "|", pre: inCell,
			re: lazyregexp.New(`^[ \t]*\|[ \t]+([^\s|]{6,})[ \t\r]*(?:\|[ \t\r]*)?$`),
			ok: func(m *match) bool {
				m.pick(3)
				return namesSecret(m) && len(bytes.Trim(linePrefix(m.before)[:wordStart(linePrefix(m.before))], " \t|")) == 0 && cellValue(m.win[m.from:m.to])
			},
		},
		{ // name | password, name,password: the head of a table
			kind: "secret", keys: secretNames, name: true, look: 512, pre: inHead,
			re: lazyregexp.New(`^"?[\w \t|,;"]*\r?$`),
			ok: func(m *match) bool {
				return m.group[1] == len(m.win) && namesSecret(m) && tableHead.Match(linePrefix(m.before)) && separatorOf(linePrefix(m.before), m.win) != 0
			},
			then: func(m *match) follow {
				line := linePrefix(m.before)
				sep := []byte{separatorOf(line, m.win)}
				at := bytes.Count(line, sep)
				return rows(m.kind, sep[0], at, at+bytes.Count(m.win, sep))
			},
		},
		{ // USER  PASSWORD  SHELL: the head of a table whose columns are set with blanks
			kind: "secret", keys: secretNames, name: true, look: 512, pre: inBlankHead,
			re: lazyregexp.New(`^(?:[ ]{2,}[^\n]*)?\r?$`),
			ok: func(m *match) bool {
				return len(m.text(2)) == 0 && namesSecret(m) && m.kind != "secret" && len(m.text(1)) > len("pass")
			},
			then: func(m *match) follow {
				from, width := len(linePrefix(m.before)), len(m.win)
				if name := len(m.text(1)); name < len(m.win) {
					width = skip(m.win, name, " ")
				}
				return columnOf(m.kind, from, width)
			},
		},
		{ // create user, alter role, set password, create user mapping
			kind: "password", keys: []string{"identified ", "password '", "password for ", "password e'", "password n'"},
			re: lazyregexp.New(`^(?i)(?:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?|password[ \t]+(?:for[ \t]+\S+[ \t]*(?:=|to[ \t])[ \t]*)?(?:password[ \t]*\([ \t]*)?)` +
				`[en]?\\?['"]([^'"\\\n]{2,})`),
			ok: func(m *match) bool { return !capitals(m.text(1)) },
		},
		{ // password $$x$$, password $tag$x$tag$
			kind: "password", keys: []string{"password $"}, look: 512,
			re: lazyregexp.New(`^(?i)password[ \t]+\$[a-z_]*\$([^$\n]{2,})\$[a-z_]*\$`),
			ok: notPlaceholder,
		},
		{ // alter user a identified by x
			kind: "password", keys: []string{"identified by "}, look: 256, pre: inStatement,
			re: lazyregexp.New(`^(?i)identified by[ \t]+([^\s'"\\;,()<>«»]{3,})[ \t\r]*(?:;|$|account\b|default\b|replace\b|with\b|profile\b|quota\b|using\b)`),
			ok: func(m *match) bool {
				v := bytes.ToLower(m.text(1))
				return statement.Match(linePrefix(m.before)) && !placeholder(v) && !(letters.Match(v) && bytes.Contains(v, []byte("pass"))) && v[0] != ':' && v[0] != '&'
			},
		},
		{ // exec sp_addlogin 'a', 'x'
			kind: "password", keys: []string{"sp_addlogin ", "sp_password "}, left: wordLeft, look: 256,
			re: lazyregexp.New(`^(?i)sp_(?:addlogin|password)[ \t]+(?:@\w+[ \t]*=[ \t]*)?n?'[^'\n]*'[ \t]*,[ \t]*(?:@\w+[ \t]*=[ \t]*)?n?'([^'\n]{3,})'`),
			ok: notPlaceholder,
		},
		{ // select pgp_sym_encrypt(a, 'x')
			kind: "password", keys: []string{"pgp_sym_", "aes_encrypt(", "aes_decrypt("}, left: wordLeft, look: 512,
			re: lazyregexp.New(`^(?i)(?:pgp_sym_(?:en|de)crypt(?:_bytea)?|aes_(?:en|de)crypt)\((?:[^()'\n]|'[^'\n]*'|\([^()\n]*\))*,[ \t]*'([^'\n]{3,})'`),
			ok: notPlaceholder,
		},
		{ // what select authentication_string shows
			kind: "password-hash", keys: append(starts("| *", hexDigits), "| $a$"), look: 128,
			re: lazyregexp.New(`^\| (\*[0-9A-F]{40}|\$A\$00\d\$[^|\n]{20,}?)[ \t]*(?:\||$)`),
		},
		{ // "kim" "md5…", "kim" "SCRAM-SHA-256$…", as in userlist.txt of PgBouncer and in pg_shadow: whoever has it may log in
			kind: "password", keys: starts("md5", hexDigits), left: wordLeft, look: 64,
			re: lazyregexp.New(`^(md5[0-9a-f]{32})(?:[^A-Za-z0-9_-]|$)`),
		},
		{
			kind: "password", keys: []string{"scram-sha-256$"}, look: 256,
			re: lazyregexp.New(`^SCRAM-SHA-256\$[0-9]+:([A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{20,}:[A-Za-z0-9+/=]{20,})`),
		},
	}...)
}

// insertRules take out the value that stands where the column of a password does: insert into users (name, password) values ('a', 'x').
// There is one for each of the first columns.
func insertRules() (out []*rule) {
	const column, value = `[^(),'\n]*`, `(?:[^(),'\n]*|[ \t]*[en]?'[^'\n]*'[ \t]*)`
	for at := range 8 {
		before := "{" + strconv.Itoa(at) + "}"
		out = append(out, &rule{
			kind: "password", keys: []string{"insert into ", "replace into "}, left: wordLeft, look: 1024, need: "pass",
			re: lazyregexp.New(`^(?i)(?:insert|replace)[ \t]+into[ \t]+[^\s(]+[ \t]*\((?:` + column + `,)` + before + `[ \t"\x60]*(?:\w+_)?(?:password|passwd|passwort|pass|passwd_hash|password_hash|pass_hash)[ \t"\x60]*(?:,[^()\n]*)?\)` +
				`[ \t]*values[ \t]*\((?:` + value + `,)` + before + `[ \t]*[en]?'([^'\n]{2,})'`),
			ok: notPlaceholder,
		})
	}
	return out
}

var statement = lazyregexp.New(`(?i)\b(?:create|alter)[ \t]+(?:user|role)\b|\bgrant\b|\bconnect[ \t]+to\b`)

// inStatement reports whether a statement that makes or changes an account may come before.
func inStatement(before, _ []byte, _ int) bool {
	for _, word := range []string{"user", "USER", "User", "role", "ROLE", "grant", "GRANT", "connect to", "CONNECT TO"} {
		if bytes.Contains(before, []byte(word)) {
			return true
		}
	}
	return false
}

var (
	tableHead = lazyregexp.New(`^[ \t]*(?:\|[ \t]*)?(?:"?\w+"?(?: \w+){0,2}(?:[ \t]*\|[ \t]*|[,;\t]))*"?\w*$`)
	tableRule = lazyregexp.New(`^[ \t]*[-+|=:]{3}[-+|=: \t]*\r?$`)
	typeName  = lazyregexp.New(`^(?i)(?:[a-z]+\(.*|(?:varchar|n?char|text|int|sha|md|utf|aes|bcrypt|base|scram)[\w-]{0,12}|\d{4}-\d\d-\d\d.*|v?\d+(?:\.\d+)+)$`)
)

// inBlankHead reports whether a name is all of a cell of a line whose cells have two blanks or more between them.
func inBlankHead(before, win []byte, name int) bool {
	if name < len(win) && !bytes.HasPrefix(win[name:], []byte("  ")) && win[name] != '\r' || len(win) > 120 {
		return false
	}
	line := linePrefix(before)
	if bytes.IndexByte(line, '\t') >= 0 || bytes.IndexByte(win, '\t') >= 0 {
		return false
	}
	first, last := len(line) == 0, skip(win, name, " \r") == len(win)
	if first && last || !first && !bytes.HasSuffix(line, []byte("  ")) {
		return false
	}
	for _, part := range [][]byte{line, win[name:]} {
		for _, c := range part {
			if !tokenBytes[c] && bytes.IndexByte([]byte(" \r#%/()"), c) < 0 {
				return false
			}
		}
	}
	return true
}

// columnOf takes out what stands in a column of lines, from a byte on.
func columnOf(kind string, from, width int) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		if tableRule.Match(line) || blankRule.Match(line) {
			return nil, next
		}
		if len(bytes.TrimSpace(line)) == 0 || len(line) <= from || from > 0 && line[from-1] != ' ' {
			return nil, nil
		}
		to := from
		for to < len(line) && visible[line[to]] {
			to++
		}
		v := line[from:to]
		if to-from >= width && to < len(line) || !cellValue(v) || kind != "password" && !strong(v) && len(v) < 16 {
			return nil, next
		}
		m := foundAt(kind, line, from, to)
		m.tail = nil
		return m, next
	}
	return next
}

var blankRule = lazyregexp.New(`^[ \t]*-+(?: +-+)*[ \t\r]*$`)

// inCell reports whether a bar follows a name.
func inCell(_, win []byte, name int) bool {
	i := skip(win, name, " \t")
	return i < len(win) && win[i] == '|'
}

// inHead reports whether a line with a name has nothing but names, and what stands between columns.
func inHead(before, win []byte, name int) bool {
	if len(win)-name > 120 {
		return false
	}
	apart := false
	for _, c := range win[name:] {
		switch {
		case c == '|' || c == ',' || c == ';' || c == '\t':
			apart = true
		case !nameByte(c) && c != ' ' && c != '"' && c != '\r':
			return false
		}
	}
	if apart {
		return true
	}
	b := before[:wordStart(before)]
	b = bytes.TrimRight(bytes.TrimSuffix(b, []byte(`"`)), " ")
	return len(b) > 0 && bytes.IndexByte([]byte("|,;\t"), b[len(b)-1]) >= 0
}

// separatorOf returns what stands between the columns of the head of a table, in two parts, or 0: at least two columns have names, and
// commas, semicolons and tabs stand between names only.
func separatorOf(left, right []byte) byte {
	line := bytes.TrimRight(slices.Concat(left, right), "\r")
	for _, c := range []byte("|,;\t") {
		if bytes.IndexByte(line, c) < 0 {
			continue
		}
		names := 0
		for cell := range bytes.SplitSeq(line, []byte{c}) {
			name := bytes.TrimSpace(cell)
			if len(name) > 0 {
				names++
			}
			if c != '|' && (len(name) == 0 || len(name) < len(cell)) {
				return 0
			}
		}
		if names > 1 {
			return c
		}
		return 0
	}
	return 0
}

// cellValue reports whether what stands in a table under, or beside, the name of a secret may be one.
func cellValue(v []byte) bool {
	return len(v) >= 6 && bytes.ContainsAny(v, "0123456789") && !bytes.ContainsAny(v, " \t()<>{}[]|,;\"'") && !number.Match(v) && !typeName.Match(v) && !bytes.HasPrefix(v, []byte("SCRAM-")) && !filePath.Match(v) && !placeholder(v)
}

// rows takes out what stands in a column of the lines of a table, each of which has as many separators as its head.
func rows(kind string, sep byte, column, all int) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		if tableRule.Match(line) && sep == '|' {
			return nil, next
		}
		if bytes.Count(line, []byte{sep}) != all {
			return nil, nil
		}
		from := 0
		for range column {
			from += bytes.IndexByte(line[from:], sep) + 1
		}
		to := len(line)
		if i := bytes.IndexByte(line[from:], sep); i >= 0 {
			to = from + i
		}
		from = skip(line, from, " \t\"")
		if to = from + len(bytes.TrimRight(line[from:max(from, to)], " \t\r\"")); !cellValue(line[from:to]) {
			return nil, next
		}
		m := foundAt(kind, line, from, to)
		m.tail = nil
		return m, next
	}
	return next
}
