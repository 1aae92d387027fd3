package redact

import (
	"bytes"
	"regexp"
	"sync"
)

// Doors for the tests of how a search is made fast: each part is compared with what is slow and plain.

// Filter is the filter of some forms.
type Filter struct{ f filter }

// NewFilter returns that of these forms.
func NewFilter(texts ...string) Filter { return Filter{newFilter(formsOfTexts(texts))} }

// Bits is how large it is.
func (f Filter) Bits() int { return 64 * len(f.f.bits) }

// Next is the first position from i on where a form may begin.
func (f Filter) Next(b []byte, i int) int { return f.f.next(b, i) }

// Has reports whether a form may begin at b[i].
func (f Filter) Has(b []byte, i int) bool { return f.f.has(b, i) }

func formsOfTexts(texts []string) []form {
	var forms []form
	for _, t := range texts {
		forms = append(forms, form{text: []byte(t)})
	}
	return forms
}

// Automaton is one of some forms.
type Automaton struct{ a *automaton }

// NewAutomaton returns that of these forms.
func NewAutomaton(texts ...string) Automaton { return Automaton{newAutomaton(formsOfTexts(texts))} }

// States counts its states, and Room those that memory was taken for.
func (a Automaton) States() int { return len(a.a.label) }

// Room counts the states that memory was taken for.
func (a Automaton) Room() int { return a.a.states() }

// Read runs over b by step, or by move, and returns for each position the longest form that ends there, and how much of b's end
// begins a form.
func (a Automaton) Read(b []byte, early bool) (ends []string, deep []int) {
	s := uint32(0)
	for i := range b {
		if early {
			s = a.a.move(s, b, i)
		} else {
			s = a.a.step(s, b[i])
		}
		end := ""
		if o := a.a.out[s]; o >= 0 {
			end = string(a.a.forms[o].text)
		}
		ends, deep = append(ends, end), append(deep, int(a.a.depth[s]))
	}
	return ends, deep
}

// Ahead is the first position of b at which a Writer has to look.
func Ahead(s *Set, b []byte) int {
	x := exact{note: &Counts{}}
	x.use(s.search(Guarded))
	return x.ahead(b, 0)
}

// Keywords are those of all rules.
func Keywords() [][]byte {
	var out [][]byte
	for _, r := range allRules() {
		for _, k := range r.keys {
			out = append(out, []byte(k))
		}
	}
	return out
}

// KeywordNext is the first position from i on where a keyword may begin.
func KeywordNext(b []byte, i int) int { return rulebook().next(b, i) }

// KeywordMay reports whether a keyword may begin at b[i].
func KeywordMay(b []byte, i int) bool { return rulebook().may(b, i) }

// KeywordAt reports whether a keyword begins at b[i], or may with more bytes.
func KeywordAt(b []byte, i int) (found, maybe bool) { return rulebook().at(b, i) }

// KeywordBefore reports whether a rule of a keyword of three bytes may hold where a byte comes after it.
func KeywordBefore(k []byte, c byte) bool { return afterShort()[string(k)][c] }

var afterShort = sync.OnceValue(func() map[string]class {
	out := map[string]class{}
	for _, k := range Keywords() {
		if _, known := out[string(k)]; len(k) == trigram && !known {
			out[string(k)] = shortKeyword(k).before()
		}
	}
	return out
})

// RulesOfShortKeywords are the expressions of the keywords of three bytes.
func RulesOfShortKeywords() map[string][]*regexp.Regexp {
	out := map[string][]*regexp.Regexp{}
	for _, k := range Keywords() {
		if len(k) == trigram && out[string(k)] == nil {
			for _, r := range shortKeyword(k).rules {
				out[string(k)] = append(out[string(k)], r.re.Get())
			}
		}
	}
	return out
}

func shortKeyword(k []byte) *keyword {
	for _, w := range rulebook().bucket(k, 0) {
		if bytes.Equal(w.text, k) {
			return w
		}
	}
	return nil
}

// FormsSize is how many bytes the forms of a value have.
func FormsSize(value string) int {
	n := 0
	for _, f := range formsOf(&secret{value: []byte(value)}) {
		n += len(f.text)
	}
	return n
}

// RunSizes are the sizes of the runs of s and what of each has been forgotten.
func RunSizes(s *Set) (sizes, dead []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		sizes, dead = append(sizes, r.size), append(dead, r.dead)
	}
	return sizes, dead
}

// Turns is how many turns s remembers of what an owner has learned, outdated ones too.
func Turns(s *Set, owner string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.owners[owner].learned.order)
}

// ShellWords splits a command.
func ShellWords(text string) []string {
	var out []string
	shellWords(text, func(w wordOf) { out = append(out, string(w.text)) })
	return out
}

// StartOf is how much of the end of b begins a text.
func StartOf(text, b string) int { return startOf([]byte(text), []byte(b)) }

// ClassOf lists the bytes of a class.
func ClassOf(ranges string) string { return listOf(classOf(ranges)) }

// But lists the bytes of a class.
func But(excluded string) string { return listOf(but(excluded)) }

func listOf(c *class) string {
	var b bytes.Buffer
	for i, in := range c {
		if in {
			b.WriteByte(byte(i))
		}
	}
	return b.String()
}

// CleanKind makes a kind fit into a mark.
var CleanKind = cleanKind

// Limits of what is learned.
const (
	MinLine      = minLine
	MaxLines     = maxLines
	MinRun       = minRun
	OwnersInFull = ownersInFull
	FormsEach    = formsEach
)
