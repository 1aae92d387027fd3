package redact

import (
	"bytes"
	"slices"
)

// automaton finds all forms of all secrets in one pass (Aho and Corasick, 1975). States are numbered breadth first, so
// that the children of one are neighbours and a step is a search in a short string of labels. It is immutable.
type automaton struct {
	forms  []form
	filter filter

	label []byte   // the byte that leads to a state
	first []uint32 // the first child
	kids  []uint16 // how many
	fail  []uint32 // the longest proper suffix that is a state
	depth []uint32
	out   []int32 // the longest form that ends here, or -1
	root  [256]uint32
}

// newAutomaton returns nil for no forms. Of equal forms the first one counts.
func newAutomaton(forms []form) *automaton {
	if len(forms) == 0 {
		return nil
	}
	forms = slices.Clone(forms)
	slices.SortStableFunc(forms, func(a, b form) int { return bytes.Compare(a.text, b.text) })
	forms = slices.CompactFunc(forms, func(a, b form) bool { return bytes.Equal(a.text, b.text) })
	a := &automaton{forms: forms, filter: newFilter(forms)}
	a.grow()
	a.link()
	return a
}

// grow makes the trie from the sorted forms: a state is a range of them that share a prefix.
func (a *automaton) grow() {
	type span struct{ lo, hi int }
	n := a.states()
	spans := append(make([]span, 0, n), span{0, len(a.forms)})
	a.label, a.first, a.kids = make([]byte, 0, n), make([]uint32, 0, n), make([]uint16, 0, n)
	a.fail, a.depth, a.out = make([]uint32, 0, n), make([]uint32, 0, n), make([]int32, 0, n)
	a.add(0, 0)
	for s := 0; s < len(spans); s++ {
		lo, hi, depth := spans[s].lo, spans[s].hi, int(a.depth[s])
		if len(a.forms[lo].text) == depth {
			if depth > 0 {
				a.out[s] = int32(lo)
			}
			lo++
		}
		a.first[s] = uint32(len(spans))
		for lo < hi {
			c, end := a.forms[lo].text[depth], lo+1
			for end < hi && a.forms[end].text[depth] == c {
				end++
			}
			a.add(c, uint32(depth+1))
			a.kids[s]++
			spans = append(spans, span{lo, end})
			lo = end
		}
	}
	for i := range uint32(a.kids[0]) {
		a.root[a.label[1+i]] = 1 + i
	}
}

// states counts the states: the prefixes of the forms.
func (a *automaton) states() int {
	n := 1
	var before []byte
	for _, f := range a.forms {
		same := 0
		for same < len(before) && same < len(f.text) && before[same] == f.text[same] {
			same++
		}
		n += len(f.text) - same
		before = f.text
	}
	return n
}

func (a *automaton) add(label byte, depth uint32) {
	a.label = append(a.label, label)
	a.first = append(a.first, 0)
	a.kids = append(a.kids, 0)
	a.fail = append(a.fail, 0)
	a.depth = append(a.depth, depth)
	a.out = append(a.out, -1)
}

func (a *automaton) link() {
	for s := range uint32(len(a.label)) {
		for i := range uint32(a.kids[s]) {
			kid := a.first[s] + i
			if s != 0 {
				a.fail[kid] = a.step(a.fail[s], a.label[kid])
			}
			if a.out[kid] < 0 {
				a.out[kid] = a.out[a.fail[kid]]
			}
		}
	}
}

func (a *automaton) step(s uint32, c byte) uint32 {
	for s != 0 {
		first, n := a.first[s], uint32(a.kids[s])
		if n == 1 {
			if a.label[first] == c {
				return first
			}
		} else if n > 1 {
			if i := bytes.IndexByte(a.label[first:first+n], c); i >= 0 {
				return first + uint32(i)
			}
		}
		s = a.fail[s]
	}
	return a.root[c]
}
