package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// listOpens reports whether a list begins after a name, on its line.
func listOpens(_, win []byte, name int) bool {
	i := skip(win, quoteAt(win, name), " \t")
	if i == len(win) || win[i] != ':' && win[i] != '=' {
		return false
	}
	i = skip(win, i+1, "=> \t")
	return i < len(win) && bytes.IndexByte([]byte("[({@aA"), win[i]) >= 0
}

// namesList judges the name of what may be a list: other than of a value, its plural may be one of tokens.
func namesList(m *match) bool {
	word, suffix := string(bytes.ToLower(m.text(1))), m.text(2)
	m.kind = kindOfName(word)
	if word == "pass" && len(suffix) > 1 {
		return false // in a name such as pass_through
	}
	if len(suffix) == 1 && lower(suffix[0]) == 's' {
		return len(word) > 4 || nameLeft.allows(m.before, m.win[0])
	}
	return secretSuffix(m, word, suffix)
}

// oneSecret reports whether a name is not the plural of a password: what is listed after it may be rules for one, names of secrets,
// or words of a language.
func oneSecret(m *match) bool {
	suffix := bytes.ToLower(m.text(2))
	return m.kind != "password" || !bytes.HasSuffix(suffix, []byte("s")) && !bytes.HasSuffix(suffix, []byte("list"))
}

// inList judges one entry of a list.
func inList(kind string, strict, quoted bool, v []byte) bool {
	switch {
	case len(v) < 3, placeholder(v), isNode(v), filePath.Match(v), bytes.Contains(bytes.ToLower(v), []byte("passw")):
		return false
	case !quoted && number.Match(v):
		return false
	case kind != "password":
		return len(v) >= 16 && bytes.ContainsAny(v, "0123456789") && mixed(v)
	case strict:
		return bytes.ContainsAny(v, "0123456789") && !bytes.ContainsAny(v, " :|")
	}
	return quoted || !letters.Match(v) && !dotted.Match(v) && !call.Match(v)
}

var (
	listEntry  = lazyregexp.New(`^(?:\\?"((?:[^"\\]|\\[^"])*)\\?"|'([^']*)'|([^\s,\[\]{}()"'#]+))(?:[\s,\])}]|$)`)
	blockEntry = lazyregexp.New(`^[ \t]*-[ \t]+(?:[&!]\S*[ \t]+){0,2}(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"'{\[|>&*!#-]\S*))[ \t\r]*(?:#.*)?$`)
)

// pastClosing returns where a line goes on after the quote that closes what precedes it; 0 for a quote is that there was none.
func pastClosing(line []byte, closing byte) int {
	if closing == 0 {
		return 0
	}
	i := skip(line, 0, `\`)
	if i < len(line) && line[i] == closing {
		i++
	}
	return i
}

// listEntries takes out the entries of a list in brackets. closing is the quote that may stand before what follows.
func listEntries(kind string, strict bool, closing byte) follow {
	return func(line []byte) (*match, follow) {
		i := pastClosing(line, closing)
		for {
			if i = skip(line, i, " \t\r,"); i == len(line) || line[i] == '#' {
				return nil, listEntries(kind, strict, 0)
			}
			g := listEntry.FindSubmatchIndex(line[i:])
			if g == nil {
				return nil, nil
			}
			in := match{win: line[i:], group: g}
			in.pick(1)
			from, to := i+in.from, i+in.to
			if i = to; g[6] < 0 {
				i = skip(line, to, `\`) + 1
			}
			if inList(kind, strict, g[6] < 0, line[from:to]) {
				m := foundAt(kind, line, from, to)
				m.again, m.tail = true, nil
				next := byte(0)
				if g[6] < 0 {
					next = line[i-1]
				}
				return m, listEntries(kind, strict, next)
			}
		}
	}
}

// entries takes out the entries of a list of YAML, each on a line of its own. What follows the name without being one is for other,
// which may be nil.
func entries(kind string, strict bool, depth int, other follow) follow {
	return func(line []byte) (*match, follow) {
		from, to := indent(line)
		if from < to && from >= depth && line[from] == '-' {
			if g := blockEntry.FindSubmatchIndex(line); g != nil {
				in := match{win: line, group: g}
				in.pick(1)
				next := entries(kind, strict, depth, nil)
				if inList(kind, strict, g[6] < 0, line[in.from:in.to]) {
					return foundAt(kind, line, in.from, in.to), next
				}
				return nil, next
			}
		}
		if other == nil {
			return nil, nil
		}
		return other(line)
	}
}

// opensAt makes the match end after the first bracket that follows the name, so that what looks on sees the first entry.
func opensAt(m *match, brackets string) bool {
	i := bytes.IndexAny(m.win[m.group[5]:], brackets)
	m.group[1] = m.group[5] + i + 1
	if i > 0 && (m.win[m.group[5]+i-1] == ':' || m.win[m.group[5]+i-1] == '=') && !quote(m.win[m.group[5]]) && m.win[m.group[5]] != '\\' {
		rest := bytes.TrimLeft(m.win[m.group[1]:], " \t") // of a class of bytes in an expression, maybe
		return brackets != "{" && len(rest) > 0 && (quote(rest[0]) || m.win[m.group[5]+i] == '(')
	}
	return i >= 0
}

// member judges a pair under the plural of a password: of an account and its password, not of an option and a number or a text.
func member(name, v []byte) bool {
	return len(v) > 3 && bytes.ContainsAny(v, "0123456789") && !bytes.ContainsAny(v, " \t") && !saysNoSecret(name) && !number.Match(v) &&
		!placeholder(v) && !filePath.Match(v) && !algorithm.Match(v)
}

var (
	algorithm   = lazyregexp.New(`^(?i)(?:sha|md|aes|bcrypt|argon|scrypt|pbkdf)-?\d*[a-z]*$`)
	memberPair  = lazyregexp.New(`^\\?["']?([\w.@-]+)\\?["']?[ \t]*(?:=>|[:=])[ \t]*(?:\\?"([^"\\]*)\\?"|'([^']*)'|([^\s,{}\[\]"']+))`)
	blockMember = lazyregexp.New(`^[ \t]*["']?([\w.@-]+)["']?[ \t]*:[ \t]+(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'{\[|>&*!#]\S*))[ \t\r]*(?:#.*)?$`)
)

// members takes out the values of a mapping in braces. closing is the quote that may stand before what follows.
func members(kind string, closing byte) follow {
	return func(line []byte) (*match, follow) {
		i := pastClosing(line, closing)
		for {
			if i = skip(line, i, " \t\r,"); i == len(line) || line[i] == '#' {
				return nil, members(kind, 0)
			}
			g := memberPair.FindSubmatchIndex(line[i:])
			if g == nil {
				return nil, nil
			}
			in := match{win: line[i:], group: g}
			in.pick(2)
			name, from, to := line[i+g[2]:i+g[3]], i+in.from, i+in.to
			if i += g[1]; member(name, line[from:to]) {
				m := foundAt(kind, line, from, to)
				m.again, m.tail = true, nil
				next := byte(0)
				if i > to {
					next = line[i-1]
				}
				return m, members(kind, next)
			}
		}
	}
}

// blockMembers takes out the values of a mapping of YAML, each on a line of its own.
func blockMembers(kind string, depth int) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		from, to := indent(line)
		if from == to || from <= depth {
			return nil, nil
		}
		if g := blockMember.FindSubmatchIndex(line); g != nil {
			in := match{win: line, group: g}
			if in.pick(2); member(line[g[2]:g[3]], line[in.from:in.to]) {
				return foundAt(kind, line, in.from, in.to), next
			}
		}
		return nil, next
	}
	return next
}

// either looks at a line as one does, or as the other, if that finds nothing.
func either(one, other follow) follow {
	return func(line []byte) (*match, follow) {
		if m, next := one(line); m != nil {
			return m, next
		}
		return other(line)
	}
}
