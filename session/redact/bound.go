package redact

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
