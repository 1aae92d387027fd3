package redact

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Window is the most that a rule looks at, in bytes from its keyword on, and so the most that a [Writer] holds back for
// one. A rule never looks past the end of the line, except into key blocks, which are not held but dropped as they
// come.
const Window = 4 << 10

// lookback is how much of what precedes a keyword a rule may look at.
const lookback = 128

// rule takes out one kind of thing.
type rule struct {
	kind string
	keys []string                                // see keyword
	re   *lazyregexp.Regexp                      // anchored at the keyword; its first group, or all of it, is where the secret stands
	left edge                                    // what may stand before the keyword
	look int                                     // how far the expression looks, 0: the whole of Window
	need string                                  // what must stand within that; it saves time, as pre does
	pre  func(before, win []byte, name int) bool // name is where in win the word ends that begins with the keyword
	next string                                  // what may come right after the word that begins with the keyword; "": anything. It saves time as well
	// name means that the keyword is one of secretNames, and that the expression begins after the name, whose parts are the
	// groups 1 and 2.
	name bool
	scan func(b []byte) []int // does what the expression does, where there is no control sequence
	tail *class               // the secret goes on while these come, over any distance; nil: the group is all of it
	end  *blockEnd            // set for blocks: the secret goes on to this
	ok   func(m *match) bool
	// then and here make the match a name only: what they return looks at the next line, or at what follows the match.
	then, here func(m *match) follow
	// back means that the secret stands before the keyword; see match.behind.
	back bool
	// hold means that a silence may not show the start of what could become a match.
	hold bool
	// own means that the match begins with the name of a program, and is sought no further than [firstCommands] says: else a line of nothing
	// but such commands is read from each of them on.
	own   bool
	long  bool       // such a match may take any number of bytes to be one
	least func() int // no match has fewer bytes; worked out from the expression, when it is first asked for
}

// edge is a condition on the byte before a keyword.
type edge int

const (
	anyLeft  edge = iota
	wordLeft      // no letter, digit or underscore
	nameLeft      // not inside a word: "dbPass" and "DB_PASS" are fine, "bypass" is not
)

// match is what the expression of a rule found.
type match struct {
	kind   string
	before []byte // up to lookback bytes
	win    []byte // from the keyword to the end of the line
	group  []int
	from   int    // of the secret, in win
	to     int    //
	tail   *class // may be changed by ok
	behind int    // how many bytes before the keyword the secret begins
	until  int    // and ends
	again  bool   // a follow wants to see what follows this one on its line
	joined bool   // found over several lines
}

func (m *match) text(n int) []byte {
	if 2*n+1 >= len(m.group) || m.group[2*n] < 0 {
		return nil
	}
	return m.win[m.group[2*n]:m.group[2*n+1]]
}

// pick makes the first group from n on that took part the secret.
func (m *match) pick(n int) {
	for ; 2*n+1 < len(m.group); n++ {
		if m.group[2*n] >= 0 {
			m.from, m.to = m.group[2*n], m.group[2*n+1]
			return
		}
	}
}

// find looks for the rule at p.
func (r *rule) find(p *place) (*match, bool) {
	win, before := p.view.text, p.plain
	near, name := win, p.name
	if r.look > 0 {
		near = win[:min(len(win), r.look)]
		name = min(name, len(near))
	}
	if r.own {
		own := commandName(near)
		near = near[:len(own)+len(firstCommands(near[len(own):], own))]
		name = min(name, len(near))
	}
	if len(near) < r.least() {
		return nil, false
	}
	if r.need != "" && !bytes.Contains(near, []byte(r.need)) || r.pre != nil && !r.pre(before, near, name) {
		return nil, false
	}
	var g []int
	if r.name {
		if g = r.afterName(near, p.key, name); g == nil {
			return nil, false
		}
	} else if g = r.re.FindSubmatchIndex(near); g == nil {
		return nil, false
	}
	m := &match{kind: r.kind, before: before, win: win, group: g, from: g[0], to: g[1], tail: r.tail}
	m.pick(1)
	if r.ok != nil && !r.ok(m) {
		return nil, false
	}
	if r.then != nil || r.here != nil {
		return m, true
	}
	if m.tail == nil && m.to == len(near) && g[1] == m.to && (len(near) < len(win) || len(win) == Window) {
		m.tail = unquoted // the look ended before the secret did
	}
	for m.tail != nil && m.to < len(win) && m.tail[win[m.to]] {
		m.to++
	}
	if isMarks(win[m.from:m.to]) || markAt(win[m.from:]) > m.to-m.from {
		return nil, false
	}
	return m, true
}

// firstCommands returns what of b stands before name for the third time. Where it does, the rule looks again; but a command may name its
// program once more itself, as htpasswd -b htpasswd kim x does.
func firstCommands(b, name []byte) []byte {
	at := 0
	for range 3 {
		i := bytes.Index(b[at:], name)
		if i < 0 || len(name) == 0 {
			return b
		}
		at += i + len(name)
	}
	return b[:at-len(name)]
}

// commandName returns the first word of b, with the byte after it.
func commandName(b []byte) []byte { return b[:bytes.IndexAny(b, " \t\x00")+1] }

// least returns a function that tells how many bytes a match of an expression has at least.
func least(re *lazyregexp.Regexp) func() int {
	return sync.OnceValue(func() int {
		parsed, err := syntax.Parse(re.String(), syntax.Perl)
		if err != nil {
			return 0 // its first use says why
		}
		return leastOf(parsed)
	})
}

func leastOf(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) // of one byte each, or more
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return leastOf(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * leastOf(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			n += leastOf(sub)
		}
	case syntax.OpAlternate:
		n = leastOf(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, leastOf(sub))
		}
	}
	return n
}

// afterName matches the expression after the name at the start of b, whose keyword has key bytes.
func (r *rule) afterName(b []byte, key, name int) []int {
	var rest []int
	if r.scan != nil && bytes.IndexByte(b[name:], 0x1b) < 0 {
		rest = r.scan(b[name:])
	} else {
		rest = r.re.FindSubmatchIndex(b[name:])
	}
	if rest == nil {
		return nil
	}
	word := key + wordEnding(b[key:name], b[:key])
	g := append(make([]int, 0, len(rest)+4), 0, name+rest[1], 0, word, word, name)
	for _, at := range rest[2:] {
		if at >= 0 {
			at += name
		}
		g = append(g, at)
	}
	return g
}

// wordEnding returns how many of the bytes after a keyword of secretNames belong to its word.
func wordEnding(b, key []byte) int {
	switch lower(key[0]) {
	case 'c':
		if len(b) > 0 && lower(b[0]) == 's' {
			return 1
		}
	case 'p':
		if len(key) == len("pass") {
			for _, end := range []string{"word", "wd", "wort", "phrase", "code"} {
				if foldedPrefix(b, []byte(end)) {
					return len(end)
				}
			}
		}
	}
	return 0
}

func (e edge) allows(before []byte, first byte) bool {
	if e == anyLeft || len(before) == 0 || afterControl(before) {
		return true
	}
	c := before[len(before)-1]
	if e == wordLeft {
		return !isAlnum(c) && c != '_'
	}
	letter := isAlnum(c) && (c < '0' || c > '9')
	return !letter || c >= 'a' && first < 'a'
}

// afterControl reports whether b ends with a control sequence of terminals, as for a colour: its last letter is part of no
// word.
func afterControl(b []byte) bool {
	i := len(b) - 2
	for i >= 0 && b[i] >= 0x20 && b[i] <= 0x3f {
		i--
	}
	return i >= 1 && b[i] == '[' && b[i-1] == 0x1b
}

// class is a set of bytes.
type class [256]bool

// classOf takes ranges, as "a-z0-9_"; a dash stands first or last.
func classOf(ranges string) *class {
	c := &class{}
	for i := 0; i < len(ranges); i++ {
		lo, hi := ranges[i], ranges[i]
		if i+2 < len(ranges) && ranges[i+1] == '-' {
			hi = ranges[i+2]
			i += 2
		}
		for b := int(lo); b <= int(hi); b++ {
			c[b] = true
		}
	}
	return c
}

// but returns all visible bytes except those given, and bytes of multi-byte characters.
func but(excluded string) *class {
	c := &class{}
	for b := '!'; b < 256; b++ {
		c[b] = b != 0x7f && !bytes.ContainsRune([]byte(excluded), b)
	}
	return c
}

// blockEnd is how a key block ends: with a text, and up to most bytes of more that the expression describes.
type blockEnd struct {
	text []byte
	re   *lazyregexp.Regexp // anchored after text; nil: the text is all
	most int
}

// in returns how much of b belongs to the block, and whether the block ends there.
func (e *blockEnd) in(b []byte, final bool) (n int, over bool) {
	for at := 0; ; {
		i := bytes.Index(b[at:], e.text)
		if i < 0 {
			if final {
				return len(b), false
			}
			return len(b) - startOf(e.text, b[at:]), false
		}
		at += i + len(e.text)
		if e.re == nil {
			return at, true
		}
		rest := b[at:min(len(b), at+e.most)]
		if loc := e.re.FindIndex(rest); loc != nil {
			return at + loc[1], true
		}
		if len(rest) < e.most && !final && lineEnd(rest) < 0 {
			return at - len(e.text), false
		}
	}
}

// startOf returns how long the longest end of b is that is a proper start of text.
func startOf(text, b []byte) int {
	for n := min(len(text)-1, len(b)); n > 0; n-- {
		if bytes.HasPrefix(text, b[len(b)-n:]) {
			return n
		}
	}
	return 0
}

// allRules returns the rules in the order in which they are tried at one place.
func allRules() []*rule {
	return slices.Concat(markRules(), keyRules(), tokenRules(), commandRules(), sqlRules(), windowsRules(), headerRules(), lineRules(), yamlRules(), callRules(), directiveRules(), deviceRules(), tableRules(), dumpRules(), dialogRules(), valueRules())
}

// markRules let the search see marks, which are left alone.
func markRules() []*rule {
	return []*rule{{kind: "mark", keys: []string{markOpen}, re: lazyregexp.New(`^\z.`)}}
}

var (
	tokenBytes  = classOf("A-Za-z0-9_.-")
	wordBytes   = classOf("A-Za-z0-9_-")
	alnumBytes  = classOf("A-Za-z0-9")
	base64Bytes = classOf("A-Za-z0-9+/=")
	// wrappedBytes are those of base64 that is broken into lines.
	wrappedBytes = classOf("A-Za-z0-9+/=\r\n")
	visible      = but("")
	unquoted     = but("\"'`")
	listed       = but("\"'`,;|<>)]}")
	queried      = but("\"'`,;&|<>)]}#")
)
