package redact

import (
	"bytes"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// place is where a keyword stands, with what rules may look at there.
type place struct {
	before []byte // what precedes the keyword, up to lookback bytes
	plain  []byte // before without control sequences
	view   view   // from the keyword to the end of the line, without control sequences
	key    int    // bytes of the keyword
	name   int    // where in the view the word ends that begins with the keyword
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

// frame is what programs write before the lines of others: diff, docker compose, journalctl, grep and cat -n.
var frame = lazyregexp.New(`^(?:\+|-(?:\b\w\w|[ \t"'\[{<#;:%*.]|$)|[<>] |[ \t]*(?:#+|//|;)[ \t]?| *[\w.-]{1,40} +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)? |` +
	`[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: | *\d+(?:\t|:)|[\w./-]*[/.][\w./-]*[:-](?:\d+[:-])?)`)

// frameOf returns how many bytes of a line, or of its start, are none of it, but of the program that shows it.
func frameOf(line []byte) int {
	if len(line) == 0 || line[0] == '"' || line[0] == '{' || line[0] == '\t' {
		return 0
	}
	if line[0] == '+' || line[0] == '-' {
		return min(1, len(frame.Find(line)))
	}
	return len(frame.Find(line))
}

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
