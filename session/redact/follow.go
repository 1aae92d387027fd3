package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// follow looks at a line after the one that named a secret, or at what follows on that line. It returns what of it is
// secret, or nil, and what looks at the next one, or nil. It keeps no state: a line may be looked at more than once.
type follow func(line []byte) (*match, follow)

// found says that line[from:to] is secret. What goes on past a line that is too long for one look is secret too.
func foundAt(kind string, line []byte, from, to int) *match {
	m := &match{kind: kind, win: line, from: from, to: to}
	if to == len(line) {
		m.tail = lineBytes
	}
	return m
}

var lineBytes = func() *class {
	c := but("")
	c[' '], c['\t'], c[0x1b] = true, true, true
	return c
}()

// indent returns how far the text of a line is set in, and where it ends without what ends the line.
func indent(line []byte) (from, to int) {
	to = len(bytes.TrimRight(line, " \t\r"))
	for from < to && (line[from] == ' ' || line[from] == '\t') {
		from++
	}
	return from, to
}

// deeper has take look at the lines that are set in deeper than the key above them, from where their text begins to where it ends.
func deeper(depth int, take func(line []byte, from, to int) *match) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		from, to := indent(line)
		switch {
		case from == to:
			return nil, next
		case from <= depth:
			return nil, nil
		}
		return take(line, from, to), next
	}
	return next
}

// inDiff lets f look at the lines of a diff without their signs, where the key above them is on one that did not change. That key is set
// in by one blank more than it is in its file, where it is set in by an even number of them.
func inDiff(before []byte, f follow) follow {
	line := linePrefix(before)
	if f == nil || len(line) == 0 || line[0] != ' ' || keyDepth(before)%2 == 0 {
		return f
	}
	return unsigned(f)
}

func unsigned(f follow) follow {
	return func(line []byte) (*match, follow) {
		removed := len(line) > 0 && line[0] == '-'
		if removed || len(line) > 0 && line[0] == '+' {
			line = append([]byte{' '}, line[1:]...)
		}
		m, next := f(line)
		switch {
		case next != nil:
			return m, unsigned(next)
		case m != nil && removed:
			return m, added(f)
		}
		return m, nil
	}
}

// added lets f look at a line that a diff shows in place of the one before it.
func added(f follow) follow {
	return func(line []byte) (*match, follow) {
		if len(line) == 0 || line[0] != '+' {
			return nil, nil
		}
		return unsigned(f)(line)
	}
}

// block takes out the lines of a YAML scalar: those that are set in deeper than the key that names them.
func block(kind string, depth int) follow {
	return deeper(depth, func(line []byte, from, to int) *match { return foundAt(kind, line, from, to) })
}

var (
	jsonValue  = lazyregexp.New(`^[ \t]*\\?"((?:[^"\\]|\\.){3,})\\?"`)
	plainValue = lazyregexp.New(`^[ \t]*["']?([^\s"'{\[|>&*!#-][^\s"']{2,})["']?[ \t\r]*$`)
	isKey      = lazyregexp.New(`^[\w.-]+:$`)
)

// nextValue takes out the value on the line after its name: a string after a quoted name, a word set in deeper than a
// plain one.
func nextValue(kind string, depth int, quoted bool) follow {
	return func(line []byte) (*match, follow) {
		re := plainValue
		if quoted {
			re = jsonValue
		} else if from, _ := indent(line); from <= depth {
			return nil, nil
		}
		g := re.FindSubmatchIndex(line)
		if g == nil {
			return nil, nil
		}
		if v := line[g[2]:g[3]]; placeholder(v) || isKey.Match(v) || kind != "password" && number.Match(v) || filePath.Match(v) {
			return nil, nil
		}
		return foundAt(kind, line, g[2], g[3]), nil
	}
}

// templated finds the text that an expression of a template on a line gives, if that is all that the line has but a name.
func templated(kind string, line []byte) *match {
	g := valueTemplate.FindSubmatchIndex(line)
	if g == nil {
		return nil
	}
	m := &match{win: line, from: g[2]}
	if !literal(m, true) {
		return nil
	}
	return foundAt(kind, line, m.from, m.to)
}

var valueTemplate = lazyregexp.New(`^[ \t]*(?:\\?["']?[vV]alue\\?["']?[ \t]*[:=][ \t]*)?(?:<[\w:-]+>)?[ \t]*\\?["']?((?:\$?\{|<%)\S?)`)

// after takes out what the first group of re finds on one of the next lines, until one of them has something else on it.
func after(kind string, re *lazyregexp.Regexp, lines int) follow {
	return func(line []byte) (*match, follow) {
		if from, to := indent(line); from == to && lines > 1 {
			return nil, after(kind, re, lines-1)
		}
		if m := templated(kind, line); m != nil && (re == valueLine || re == elementText) {
			return m, nil
		}
		g := re.FindSubmatchIndex(line)
		if g == nil || placeholder(line[g[2]:g[3]]) || kind != "password" && number.Match(line[g[2]:g[3]]) || filePath.Match(line[g[2]:g[3]]) {
			return nil, nil
		}
		return foundAt(kind, line, g[2], g[3]), nil
	}
}

var (
	dataPair  = lazyregexp.New(`^[ \t]*["']?[\w.-]+["']?[ \t]*:[ \t]*["']?([^\s"',]+)["']?[ \t\r,}]*$`)
	plainPair = lazyregexp.New(`^[ \t]*["']?[\w.-]+["']?[ \t]*:[ \t]*(?:"((?:[^"\\]|\\.)+)"?|'([^']+)'?|([^\s"'|>][^\r\n]*))`)
	blockPair = lazyregexp.New(`^[ \t]*["']?[\w.-]+["']?[ \t]*:[ \t]*(?:[|>][+-]?\d?[+-]?)[ \t\r]*$`)
)

// pairs takes out the values under the data or, plain, the stringData of a Kubernetes Secret.
func pairs(depth int, plain bool) follow {
	var next follow
	var deeper func(at int) follow
	next = func(line []byte) (*match, follow) {
		from, to := indent(line)
		if from == to {
			return nil, next
		}
		if from <= depth || line[from] == '}' {
			return nil, nil
		}
		return deeper(from)(line)
	}
	deeper = func(at int) follow {
		var same follow
		same = func(line []byte) (*match, follow) {
			from, to := indent(line)
			switch {
			case from == to:
				return nil, same
			case from <= depth || line[from] == '}' || from < at:
				return nil, nil
			case from > at: // of a block
				if plain {
					return foundAt("secret", line, from, to), same
				}
				return nil, same
			case plain && blockPair.Match(line):
				return nil, same
			}
			if plain {
				if g := plainPair.FindSubmatchIndex(line); g != nil {
					m := &match{win: line, group: g}
					m.pick(1)
					if v := line[m.from:m.to]; !placeholder(v) {
						return foundAt("secret", line, m.from, m.from+len(bytes.TrimRight(v, " \t\r,"))), same
					}
				}
				return nil, same
			}
			if g := dataPair.FindSubmatchIndex(line); g != nil && secretData(line[g[2]:g[3]]) {
				return foundAt("secret", line, g[2], g[3]), same
			}
			return nil, same
		}
		return same
	}
	return next
}

var inlinePair = lazyregexp.New(`^(?:\\?")?[,{ \t]*\\?"[\w.-]+\\?"[ \t]*:[ \t]*\\?"((?:[^"\\]|\\[^"])*)\\?"`)

// inline takes out the values of a JSON object on one line, under data or, plain, under stringData.
func inline(plain bool) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		for at := 0; ; {
			g := inlinePair.FindSubmatchIndex(line[at:])
			if g == nil {
				return nil, nil
			}
			v := line[at+g[2] : at+g[3]]
			if plain && len(v) > 2 && !placeholder(v) || secretData(v) {
				m := foundAt("secret", line, at+g[2], at+g[3])
				m.again, m.tail = true, nil
				return m, next
			}
			at += g[3]
		}
	}
	return next
}

// tokenRest takes out the next lines of a token that a terminal broke: words that no language has.
func tokenRest(kind string) follow {
	var next follow
	next = func(line []byte) (*match, follow) {
		n := 0
		for n < len(line) && tokenBytes[line[n]] {
			n++
		}
		if n < 16 || !mixed(line[:n]) {
			return nil, nil
		}
		m := foundAt(kind, line, 0, n)
		m.tail = tokenBytes
		return m, next
	}
	return next
}

// mixed reports whether b has upper and lower case and digits in it as chance mixes them, and names made of words do not.
func mixed(b []byte) bool {
	var n [4]int
	turns, pairs, last := 0, 0, -1
	for _, c := range b {
		k := 3
		switch {
		case c >= 'a' && c <= 'z':
			k = 0
		case c >= 'A' && c <= 'Z':
			k = 1
		case c >= '0' && c <= '9':
			k = 2
		}
		n[k]++
		if k != last {
			turns++
		} else if k == 1 {
			pairs++
		}
		last = k
	}
	return n[2] > 0 && 3*n[1] >= n[0] && 3*n[0] >= n[1] && turns*5 >= len(b)*2 && (pairs > 1 || turns*5 >= len(b)*3)
}

// each takes out what the groups of re find in the rest of a command, one after the other, each of them at most so far after the one
// before it, and no further than [firstCommands] says of own (nil: as far as that).
func each(kind string, re *lazyregexp.Regexp, look int, own []byte) follow {
	return func(line []byte) (*match, follow) {
		line = firstCommands(line, own)
		whole := line
		line = line[:min(len(line), look)]
		if i := bytes.IndexAny(line, ";|&"); i >= 0 {
			line, whole = line[:i], line[:i]
		}
		for at := 0; at < len(line); {
			g := re.FindSubmatchIndex(line[at:])
			if g == nil {
				break
			}
			in := match{win: line[at:], group: g}
			if in.pick(1); at+in.to == look && look < len(whole) { // it may go on
				if i := bytes.IndexAny(whole, ";|&"); i >= 0 {
					whole = whole[:i]
				}
				line = whole
				continue
			}
			if from, to := at+in.from, at+in.to; !placeholder(line[from:to]) && !bytes.EqualFold(line[from:to], []byte("public")) {
				m := foundAt(kind, line, from, to)
				m.again, m.tail = true, nil
				return m, each(kind, re, look, own)
			}
			at += in.to
		}
		return nil, nil
	}
}

// inTurn takes out what the expressions find in the rest of a command, each of them once and after what the one before it found.
func inTurn(kind string, all ...*lazyregexp.Regexp) follow {
	return func(line []byte) (*match, follow) {
		line = line[:min(len(line), commandLook)]
		for k, re := range all {
			g := re.FindSubmatchIndex(line)
			if g == nil {
				return nil, nil
			}
			in := match{win: line, group: g}
			if in.pick(1); placeholder(line[in.from:in.to]) || bytes.EqualFold(line[in.from:in.to], []byte(kind)) {
				continue
			}
			m := foundAt(kind, line, in.from, in.to)
			m.again, m.tail = true, nil
			if k+1 == len(all) {
				return m, nil
			}
			return m, inTurn(kind, all[k+1:]...)
		}
		return nil, nil
	}
}

// within takes out what the first group of re finds on one of the lines of a block in braces.
func within(kind string, re *lazyregexp.Regexp, lines int) follow {
	return func(line []byte) (*match, follow) {
		if from, to := indent(line); lines == 0 || from < to && line[from] == '}' {
			return nil, nil
		}
		g := re.FindSubmatchIndex(line)
		if g == nil {
			return nil, within(kind, re, lines-1)
		}
		if v := line[g[2]:g[3]]; placeholder(v) || filePath.Match(v) || kind != "password" && number.Match(v) {
			return nil, nil
		}
		return foundAt(kind, line, g[2], g[3]), nil
	}
}

// between returns the next match in data[at:end], which stands between the keyword of a match at from and its secret, and where its keyword
// is: a token in a header of a command that gives a password after it. It ends before end does, and nothing before done is of it. No rule
// looks further than that one could.
func (x *pattern) between(data []byte, from, at, end, done int) (m *match, keyword int) {
	if at >= end {
		return nil, 0
	}
	next, nextAt := x.next, x.nextAt
	defer func() { x.next, x.nextAt = next, nextAt }() // what it would expect of the next line is not asked for
	for {
		if at = x.book.next(data, at); at >= end {
			return nil, 0
		}
		if n := markAt(data[at:]); n > 0 {
			at += n
			continue
		}
		if found, _ := x.book.at(data, at); found {
			win, _ := x.ahead.window(data, at, true)
			win = win[:min(len(win), from+Window-at)]
			if _, r, m, _ := x.tryAt(data, at, done, win, nil); m != nil && r.end == nil && at+m.from >= done && at+m.to < end {
				return m, at
			}
		}
		at++
	}
}

// takeBetween takes out what between finds, and returns how much of data is written then.
func (x *pattern) takeBetween(data []byte, from, at, end, done int) int {
	for {
		m, keyword := x.between(data, from, at, end, done)
		if m == nil {
			return done
		}
		x.show(data, done, keyword+m.from)
		x.enter(nil, m, data[keyword+m.from:keyword+m.to], keyword+m.from)
		x.close()
		done = keyword + m.to
		at = max(done, keyword+1)
	}
}

// mark shows data[done:from], and what stands for the secret after it, for a silence.
func (x *pattern) mark(data []byte, done, from, to int, kind string) {
	x.show(data, done, from)
	if left := to - max(x.shown, from); left > 0 {
		x.out = appendMark(x.out, kind, idOf(x.key, data[from:to]))
		x.note.one(kind, int64(left))
	}
}
