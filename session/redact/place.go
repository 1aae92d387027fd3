package redact

import (
	"bytes"
	"slices"
	"strings"
)

// place is where a keyword stands, with what rules may look at there.
type place struct {
	before []byte // what precedes the keyword, up to lookback bytes
	plain  []byte // before without control sequences
	view   view   // from the keyword to the end of the line, without control sequences
	key    int    // bytes of the keyword
	name   int    // where in the view the word ends that begins with the keyword
	past   int    // of a line in a string: where the next one begins, from the keyword on
}

// ahead keeps what is known of the text after a place: it holds for the places that follow, so that text full of keywords is
// not looked through once for each. It forgets when other data comes.
type ahead struct {
	line, sequence next
	word           struct{ of, from, to int }
	bare           bareText
	past, strip    []byte
	text           []byte // of what was joined
	at, breaks     []int
	place          place
}

// next is where a byte comes next.
type next struct{ from, at int }

func (x *next) find(data []byte, i int, c byte) int {
	if i < x.from || i > x.at {
		x.from, x.at = i, len(data)
		if n := bytes.IndexByte(data[i:], c); n >= 0 {
			x.at = i + n
		}
	}
	return x.at
}

func (x *ahead) reset() {
	x.line, x.sequence = next{0, -1}, next{0, -1}
	x.word.from, x.word.to = 0, -1
	x.bare.reset()
}

// window is what rules at data[i] may look at, and whether all of it is here.
func (x *ahead) window(data []byte, i int, final bool) ([]byte, bool) {
	end := x.line.find(data, i, '\n')
	if end-i >= Window {
		return data[i : i+Window], true
	}
	return data[i:end], end < len(data) || final
}

// view returns a window without control sequences, and where it stands in what.
func (x *ahead) view(data []byte, i int, win []byte) (v view, at, of int) {
	if end := i + len(win); x.sequence.find(data, i, 0x1b) < end {
		v, at = x.bare.window(data, i, end)
		return v, at, x.bare.times
	}
	return view{text: win}, i, 0
}

// place returns the place data[i], good until the next call.
func (x *pattern) place(data []byte, i int, win []byte) *place {
	a := &x.ahead
	p := &a.place
	p.past = 0
	p.before = x.before(data, i)
	p.plain = p.before
	if bytes.IndexByte(p.before, 0x1b) >= 0 {
		var rest int
		a.strip, rest = strip(a.strip[:0], p.before)
		a.strip = append(a.strip, p.before[len(p.before)-rest:]...)
		p.plain = a.strip
	}
	v, at, of := a.view(data, i, win)
	p.view = v
	if at < 0 {
		p.name = wordEnd(v.text, 0)
		return p
	}
	if w := &a.word; w.of != of || at < w.from || at > w.to {
		w.of, w.from, w.to = of, at, at
	}
	p.name = wordEnd(v.text, min(a.word.to-at, len(v.text)))
	a.word.to = max(a.word.to, at+p.name)
	return p
}

// goesOn reports whether one of a set of bytes comes after the word.
func (p *place) goesOn(set string) bool {
	return p.name < len(p.view.text) && strings.IndexByte(set, p.view.text[p.name]) >= 0
}

// wordEnd returns where the bytes of names and tokens end that go on at b[i].
func wordEnd(b []byte, i int) int {
	for i < len(b) && tokenBytes[b[i]] {
		i++
	}
	return i
}

// allToken reports whether a line, or what is left of it, has nothing but bytes of tokens.
func (p *place) allToken(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte("\r"))
	return p.view.raw == nil && p.name == len(line) && len(line) < Window
}

// startsToken reports whether a token that newlines broke may begin here: near the start of a word.
func (p *place) startsToken() bool {
	b := p.before[max(0, len(p.before)-40):]
	for _, c := range b {
		if !tokenBytes[c] {
			return true
		}
	}
	return len(b) < 40
}

// frameOf returns how many bytes of a line, or of its start, are none of it, but of the program that shows it: diff, docker compose,
// journalctl, grep or cat -n. Each keyword of a line asks, so it looks at bytes and tries no expression.
func frameOf(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	switch c := line[0]; c {
	case '"', '{', '\t':
		return 0
	case '+':
		return 1
	case '<', '>':
		if len(line) > 1 && line[1] == ' ' {
			return 2
		}
		return 0
	case '-':
		if dashed(line) {
			return 1
		}
		return min(1, max(beforeBar(line), placeFrame(line)))
	}
	if n := commentFrame(line); n > 0 {
		return n
	}
	if n := beforeBar(line); n > 0 {
		return n
	}
	if n := numberFrame(line); n > 0 {
		return n
	}
	if n := timeFrame(line); n > 0 {
		return n
	}
	return placeFrame(line)
}

// dashed reports whether a line of a diff, and no option, begins with a dash.
func dashed(line []byte) bool {
	return len(line) == 1 || strings.IndexByte(" \t\"'[{<#;:%*.", line[1]) >= 0 || len(line) > 2 && nameByte(line[1]) && nameByte(line[2])
}

func nameByte(c byte) bool { return isAlnum(c) || c == '_' }

// commentFrame is a sign of a comment, and blanks around it.
func commentFrame(line []byte) int {
	i := skip(line, 0, " \t")
	switch {
	case i == len(line):
		return 0
	case line[i] == '#':
		i = skip(line, i, "#")
	case line[i] == ';':
		i++
	case bytes.HasPrefix(line[i:], []byte("//")):
		i += 2
	default:
		return 0
	}
	if i < len(line) && blank(line[i]) {
		i++
	}
	return i
}

// beforeBar is a name of docker compose, and a bar.
func beforeBar(line []byte) int {
	from := skip(line, 0, " ")
	to := wordEnd(line[:min(len(line), from+41)], from)
	bar := skip(line, to, " ")
	if to == from || to-from > 40 || bar == to || bar+1 >= len(line) || line[bar] != '|' || line[bar+1] != ' ' {
		return 0
	}
	return bar + 2
}

// numberFrame is the number of a line.
func numberFrame(line []byte) int {
	from := skip(line, 0, " ")
	to := skip(line, from, "0123456789")
	if to == from || to == len(line) || line[to] != '\t' && line[to] != ':' {
		return 0
	}
	return to + 1
}

// timeFrame is the time of a log, and what syslog writes after it.
func timeFrame(line []byte) int {
	if like(line, "0000-00-00") && len(line) > 10 && (line[10] == 'T' || line[10] == ' ') && like(line[11:], "00:00:00") {
		i := skip(line, 19, "0123456789.,")
		switch {
		case i < len(line) && line[i] == 'Z':
			i++
		case i < len(line) && (line[i] == '+' || line[i] == '-') && like(line[i+1:], "0000"):
			i += 5
		case i < len(line) && (line[i] == '+' || line[i] == '-') && like(line[i+1:], "00:00"):
			i += 6
		}
		if i < len(line) && line[i] == ' ' {
			return i + 1
		}
		return 0
	}
	if len(line) < 16 || line[0] < 'A' || line[0] > 'Z' || line[4] != ' ' && (line[4] < '0' || line[4] > '9') || !like(line[5:], "0 00:00:00 ") ||
		line[3] != ' ' || line[1] < 'a' || line[1] > 'z' || line[2] < 'a' || line[2] > 'z' {
		return 0
	}
	host := 16
	for host < len(line) && (nameByte(line[host]) || line[host] == '.' || line[host] == '-') {
		host++
	}
	if host == 16 || host == len(line) || line[host] != ' ' {
		return 0
	}
	i := host + 1
	for i < len(line) && framing[line[i]] {
		i++
	}
	if i == host+1 {
		return 0
	}
	if i < len(line) && line[i] == '[' {
		if to := skip(line, i+1, "0123456789"); to > i+1 && to < len(line) && line[to] == ']' {
			i = to + 1
		}
	}
	if i+1 < len(line) && line[i] == ':' && line[i+1] == ' ' {
		return i + 2
	}
	return 0
}

// like reports whether b begins as a text whose zeros stand for any digits.
func like(b []byte, text string) bool {
	if len(b) < len(text) {
		return false
	}
	for i := range len(text) {
		if text[i] == '0' && (b[i] < '0' || b[i] > '9') || text[i] != '0' && b[i] != text[i] {
			return false
		}
	}
	return true
}

// placeFrame is the path of a file with a colon, or the last dash that stands in it, after it, and maybe a number.
func placeFrame(line []byte) int {
	path, dash, i := false, 0, 0
	for ; i < len(line) && framing[line[i]]; i++ {
		switch line[i] {
		case '/', '.':
			path = true
		case '-':
			if path {
				dash = i + 1
			}
		}
	}
	if !path || i == len(line) || line[i] != ':' {
		return dash
	}
	i++
	if to := skip(line, i, "0123456789"); to > i && to < len(line) && (line[to] == ':' || line[to] == '-') {
		i = to + 1
	}
	return i
}

// framing are the bytes of paths.
var framing = classOf("A-Za-z0-9_./-")

// inFrame lets one look at lines as they are, and the other at what lines frame.
func inFrame(plain, inner follow) follow {
	return func(line []byte) (*match, follow) {
		n := frameOf(line)
		if n == 0 {
			if plain == nil {
				return nil, nil
			}
			return plain(line)
		}
		m, next := inner(line[n:])
		if m != nil {
			m.from, m.to = m.from+n, m.to+n
		}
		switch {
		case next == nil:
			return m, nil
		case m != nil && m.again:
			return m, inFrame(next, next)
		}
		return m, inFrame(nil, next)
	}
}

// inside makes the place one on what its line frames, whose start has n bytes of the frame.
func (p *place) inside(n int) {
	p.plain = linePrefix(p.plain)[n:]
	p.before = p.plain
}

// end returns where the line after the one of the place begins, from the keyword on.
func (p *place) end(win []byte) int {
	if p.past > 0 {
		return p.past
	}
	return len(win) + 1
}

// stringAt returns where a line begins in a string of JSON that line, the start of a whole one, ends in, or 0: after an escaped newline,
// or after the quote that opens the string.
func stringAt(line []byte) int {
	if bytes.IndexByte(line, '"') < 0 {
		return 0
	}
	if bytes.IndexByte(line, '\\') >= 0 {
		if i := bytes.LastIndex(line, []byte(`\n`)); i > 0 && line[i-1] != '\\' {
			return i + 2
		}
	}
	for i := len(line) - 1; i > 0; i-- {
		if line[i] == '"' && line[i-1] != '\\' {
			before := bytes.TrimRight(line[:i], " ")
			if n := len(before); n > 0 && (before[n-1] == ':' || before[n-1] == '[' || before[n-1] == ',' && i+1 < len(line)) {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// inString makes the place one on a line in a string of JSON, that begins at n in the line, if that is more than a word.
func (p *place) inString(n int) bool {
	if p.view.raw != nil || p.view.at != nil {
		return false
	}
	v, past := unescaped(p.view.text)
	if past == 0 {
		return false
	}
	before, _ := unescaped(linePrefix(p.plain)[n:])
	p.plain, p.view, p.past = before.text, v, past
	p.before, p.name = p.plain, wordEnd(v.text, 0)
	return true
}

// inString lets one look at lines as they are, and the other at lines in a string of JSON.
func inString(plain, inner follow) follow {
	return linesOfString(plain, inner, false)
}

func linesOfString(plain, f follow, goesOn bool) follow {
	return func(line []byte) (*match, follow) {
		if plain != nil {
			if m, next := plain(line); m != nil {
				return m, next
			}
		}
		next := f
		for at := 0; next != nil && at < len(line); {
			v, past := unescaped(line[at:])
			if goesOn { // the rest of a line of which something was taken out
				if goesOn = false; past <= 0 || line[at+past-1] != 'n' {
					return nil, nil
				}
				at += past
				continue
			}
			var m *match
			if m, next = next(v.text); m != nil {
				again := m.again
				m.from, m.to = at+v.from(m.from), at+max(v.from(m.from), v.to(m.to))
				m.again, m.tail = true, nil
				if next == nil {
					return m, nil
				}
				return m, linesOfString(nil, next, !again)
			}
			if past <= 0 || line[at+past-1] != 'n' {
				return nil, nil
			}
			at += past
		}
		return nil, nil
	}
}

// maxString is how much of a line in a string of JSON is looked at.
const maxString = 1 << 10

// unescaped returns the line at the start of b, which is in a string of JSON, and where it ends: after the newline, or at the quote that ends the
// string. past is 0 if none of both is there.
func unescaped(b []byte) (v view, past int) {
	b = b[:min(len(b), maxString)]
	v.text, v.at, v.ends = make([]byte, 0, len(b)), make([]int, 0, len(b)), make([]int, 0, len(b))
	put := func(c byte, from, to int) {
		v.text, v.at, v.ends = append(v.text, c), append(v.at, from), append(v.ends, to)
	}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return v, i
		case c != '\\' || i+1 == len(b):
			put(c, i, i+1)
			continue
		}
		n := 2
		switch c := b[i+1]; c {
		case 'n':
			return v, i + 2
		case 't':
			put('\t', i, i+n)
		case 'r':
			put('\r', i, i+n)
		case 'u':
			if i+6 > len(b) || b[i+2] != '0' || b[i+3] != '0' {
				put(c, i, i+n)
				break
			}
			n = 6
			high, low := strings.IndexByte(hexDigits, lower(b[i+4])), strings.IndexByte(hexDigits, lower(b[i+5]))
			put(byte(max(high, 0)<<4|max(low, 0)), i, i+n)
		default:
			put(c, i, i+n)
		}
		i += n - 1
	}
	return v, 0
}

// mayJoin reports whether n bytes are enough for a token whose keyword begins at data[i].
func (x *pattern) mayJoin(data []byte, i, n int) bool {
	for _, w := range x.book.bucket(data, i) {
		for _, r := range w.rules {
			if r.hold && n >= r.least() {
				return true
			}
		}
	}
	return false
}

// shortToken is more than a token needs to be recognised as one, if not its rule says that it is long.
const shortToken = 160

// tryJoined returns the first rule that holds for a token that newlines broke; with the text up to known none did.
func (x *pattern) tryJoined(data []byte, i int, before []byte, v view, known int) (*rule, *match) {
	p := &place{before: before, plain: before, view: v, name: len(v.text)}
	for _, w := range x.book.bucket(data, i) {
		if !foldedPrefix(v.text, w.text) {
			continue
		}
		for _, r := range w.rules {
			if !r.hold || !r.long && known >= shortToken || !r.left.allows(before, data[i]) {
				continue
			}
			if m, ok := r.find(p); ok {
				m.from, m.to, m.joined = v.from(m.from), max(v.from(m.from), v.to(m.to)), true
				return r, m
			}
		}
	}
	return nil, nil
}

func holds(rules []*rule) bool {
	return slices.ContainsFunc(rules, func(r *rule) bool { return r.hold })
}
