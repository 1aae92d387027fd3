package redact

import (
	"bytes"
	"slices"
)

// Owner learns secrets for one principal, within limits that are the principal's alone: what another one learns makes
// it forget nothing. All readers of the [Set] are kept from all that is learned.
type Owner struct {
	set  *Set
	name string
}

// Owner returns what learns for a principal.
func (s *Set) Owner(name string) Owner { return Owner{s, name} }

// Learn is [Owner.Learn] for values that belong to no principal.
func (s *Set) Learn(kind string, value []byte) bool { return s.Owner("").Learn(kind, value) }

// LearnFromCommand is [Owner.LearnFromCommand] for commands that belong to no principal.
func (s *Set) LearnFromCommand(text string) int { return s.Owner("").LearnFromCommand(text) }

// Learn is [Set.Add] for a value that turned up in a session. It reports whether the value is secret now: values shorter
// than [MinLearned] are not learned. Of one longer than [MaxLearnedValue] the first part is learned, and each further
// line by itself.
func (o Owner) Learn(kind string, value []byte) bool {
	return o.set.learn(o.name, false, parts(kind, value, 0)) > 0
}

// LearnTyped is Learn for what was typed at a prompt for a password. It has a limit of its own: only what is typed later
// makes an owner forget it. It reports false where there is no room for one that would be learned: it must not be sent then, for
// nothing would keep it from being shown.
func (o Owner) LearnTyped(value []byte) bool {
	all := parts("typed", value, 0)
	return len(all) == 0 || o.set.most.values < 0 || o.set.learn(o.name, true, all) > 0
}

// found is a value to be learned.
type found struct {
	kind  string
	value []byte
	rest  int
}

// parts cuts a value, which has so many more bytes, into what is learned of it.
func parts(kind string, value []byte, more int) []found {
	if more == 0 {
		value = bytes.TrimRight(value, "\r\n")
	}
	if len(value) < MinLearned || isMarks(value) {
		return nil
	}
	if len(value)+more <= MaxLearnedValue {
		return []found{{kind, value, 0}}
	}
	out := []found{{kind, value[:MaxLearnedValue], len(value) - MaxLearnedValue + more}}
	if bytes.IndexByte(value, '\n') < 0 {
		return out
	}
	left := maxLines
	for line := range bytes.Lines(value) {
		line = bytes.Trim(line, " \t\r\n")
		if len(line) < minLine || bytes.HasPrefix(line, []byte("-----")) {
			continue
		}
		n := min(len(line), MaxLearnedValue)
		if left -= n; left < 0 {
			break
		}
		out = append(out, found{kind, line[:n], len(line) - n})
	}
	return out
}

// maxLines is how many bytes of the lines of one long value are learned.
const maxLines = MaxSecret

// limit bounds a list. What costs are the forms of the values, which have 16 to 40 times as many bytes: it is these that are
// counted.
type limit struct{ values, bytes int }

const formsEach = 16 // bytes of forms per byte of the limit; no value has fewer

// ledger is what one owner has taught.
type ledger struct{ learned, typed list }

// list forgets first what has not come for the longest time. The mutex of the Set guards it.
type list struct {
	by    map[string]*secret
	order []came // some of them outdated
	last  uint64
	forms int // their bytes
}

// came says that a secret came, and that it was the at-th time that one did.
type came struct {
	of *secret
	at uint64
}

func (l *list) add(n *secret, most limit) {
	if l.by == nil {
		l.by = map[string]*secret{}
	}
	l.by[string(n.value)] = n
	l.forms += n.size
	l.touch(n)
	for len(l.by) > 1 && l.over(most) {
		l.forgetFirst()
	}
}

func (l *list) over(most limit) bool {
	return len(l.by) > most.values || l.forms > most.bytes*formsEach
}

// forgetFirst forgets what has not come for the longest time.
func (l *list) forgetFirst() {
	for len(l.order) > 0 {
		first := l.order[0]
		l.order = l.order[1:]
		if !first.of.dead && first.of.at == first.at {
			l.remove(string(first.of.value))
			return
		}
	}
}

// touch makes x the one that came last.
func (l *list) touch(x *secret) {
	l.last++
	x.at = l.last
	l.order = append(l.order, came{x, x.at})
	if len(l.order) > 2*len(l.by)+16 {
		l.order = slices.DeleteFunc(l.order, func(c came) bool { return c.of.dead || c.of.at != c.at })
	}
}

func (l *list) remove(value string) {
	old := l.by[value]
	if old == nil {
		return
	}
	delete(l.by, value)
	l.forms -= old.size
	old.forget()
}

// learn takes values for an owner and returns how many of them are secret now.
func (s *Set) learn(owner string, typed bool, all []found) int {
	if s.most.values < 0 || len(all) == 0 {
		return 0
	}
	mine := func() *list { // under the mutex
		l := s.owners[owner]
		if l == nil {
			l = &ledger{}
			s.owners[owner] = l
		}
		if typed {
			return &l.typed
		}
		return &l.learned
	}
	known := func(l *list, f found) bool {
		old := l.by[string(f.value)]
		return s.given[string(f.value)] != nil || old != nil && old.rest >= f.rest
	}
	n, left := 0, s.most
	seen := map[string]bool{}
	var fresh []*secret
	var again []found
	s.mu.Lock()
	l := mine()
	for i := len(all) - 1; i >= 0; i-- { // of more than the limit, the last ones
		f := all[i]
		if seen[string(f.value)] {
			n++
			continue
		}
		seen[string(f.value)] = true
		if s.given[string(f.value)] != nil {
			n++
			continue
		}
		if left.values, left.bytes = left.values-1, left.bytes-len(f.value); left.values < 0 || left.bytes < 0 {
			break
		}
		n++
		if known(l, f) {
			again = append(again, f)
			continue
		}
		x := s.secret(f.kind, f.value)
		x.rest = f.rest
		fresh = append(fresh, x)
	}
	for i := len(again) - 1; i >= 0; i-- {
		l.touch(l.by[string(again[i].value)])
	}
	s.forgetEmpty(owner)
	s.mu.Unlock()
	if len(fresh) == 0 {
		return n
	}
	r := s.newRun(fresh)
	s.mu.Lock()
	l = mine()
	for i := len(fresh) - 1; i >= 0; i-- {
		x := fresh[i]
		if known(l, found{value: x.value, rest: x.rest}) { // somebody else was faster
			x.forget()
			continue
		}
		l.remove(string(x.value))
		l.add(x, s.most)
		if !s.bound(l, typed) {
			n--
		}
	}
	s.take(r)
	s.forgetEmpty(owner)
	s.mu.Unlock()
	s.tidy()
	return n
}

// ownersInFull is how many owners may teach all that one may: the number of owners has no limit, and their secrets do.
const ownersInFull = 4

// bound keeps what all owners have taught within the limit of all, after l has grown. What was learned from commands and their
// output is forgotten where there is most of it, the oldest first. What was typed is forgotten by nobody else's: l makes room
// itself, and where it has none but the newest, that is not kept, and bound returns false. The mutex of the Set is held.
func (s *Set) bound(l *list, typed bool) bool {
	most := limit{ownersInFull * s.most.values, ownersInFull * s.most.bytes}
	for {
		largest, whose := l, ""
		values, forms := 0, 0
		for name, each := range s.owners {
			one := &each.learned
			if typed {
				one = &each.typed
			}
			values, forms = values+len(one.by), forms+one.forms
			if one.forms > largest.forms {
				largest, whose = one, name
			}
		}
		if values <= most.values && forms <= most.bytes*formsEach {
			return true
		}
		if typed {
			largest = l
		}
		last := largest == l && len(l.by) == 1
		largest.forgetFirst()
		if last {
			return false
		}
		if largest != l {
			s.forgetEmpty(whose)
		}
	}
}

// forgetEmpty forgets an owner of whom nothing is known. The mutex of the Set is held.
func (s *Set) forgetEmpty(owner string) {
	if l := s.owners[owner]; l != nil && len(l.learned.by)+len(l.typed.by) == 0 {
		delete(s.owners, owner)
	}
}
