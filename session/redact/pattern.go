package redact

// pattern takes out what looks like a secret. It holds back from the first keyword that is not decided: until the end
// of its line, or [Window] bytes.
type pattern struct {
	book  *index
	key   []byte
	data  []byte // held, and the new bytes
	look  []byte // what precedes data, up to lookback bytes
	shown int    // of data, what a silence has shown

	in    *match // a secret that goes on past what was decided
	inEnd *blockEnd
	inSum sum
	inLen int64

	out   []byte
	note  *Counts
	found func(kind string, value []byte) // may be nil
}

// feed takes the next bytes and returns what is decided, good until the next call.
func (x *pattern) feed(p []byte) []byte {
	x.out = x.out[:0]
	if len(x.data) > 0 {
		x.data = append(x.data, p...)
		n := x.run(x.data, false)
		x.keep(x.data, n)
		return x.out
	}
	n := x.run(p, false)
	x.keep(p, n)
	return x.out
}

// keep drops the first n bytes of data, and holds the rest.
func (x *pattern) keep(data []byte, n int) {
	if n >= lookback {
		x.look = append(x.look[:0], data[n-lookback:n]...)
	} else if n > 0 {
		x.look = append(x.look, data[:n]...)
		if over := len(x.look) - lookback; over > 0 {
			x.look = x.look[:copy(x.look, x.look[over:])]
		}
	}
	x.data = append(x.data[:0], data[n:]...)
	x.shown = max(0, x.shown-n)
}

// run decides what it can of data, and returns how much that is.
func (x *pattern) run(data []byte, final bool) int {
	i, done := 0, 0 // looked at; written or taken out
	for i < len(data) {
		if x.in != nil {
			n, over := x.swallow(data, i, final)
			i += n
			done = i
			if !over {
				break
			}
			x.close()
			continue
		}
		if i = x.book.next(data, i); i >= len(data) {
			break
		}
		if n := markAt(data[i:]); n > 0 {
			i += n
			continue
		}
		found, maybe := x.book.at(data, i)
		if !found && (!maybe || final) {
			i++
			continue
		}
		win, whole := window(data[i:], final)
		if !whole && !deadMark(data[i:]) {
			x.show(data, done, i)
			return i
		}
		r, m := x.try(data, i, win)
		if m == nil {
			i++
			continue
		}
		x.show(data, done, i+m.from)
		x.enter(r, m, data[i+m.from:i+m.to], i+m.from)
		i += m.to
		done = i
		if r.end == nil && (m.to < len(win) || m.tail == nil) {
			x.close()
		}
	}
	if x.in == nil {
		x.show(data, done, len(data))
		return len(data)
	}
	if final {
		x.close()
	}
	return i
}

// silence shows what is not secret as far as one can see, although more may come. What it shows stays held, so that the
// rest of a secret is still recognised.
func (x *pattern) silence() []byte {
	x.out = x.out[:0]
	data, i, done := x.data, 0, 0
	if x.in != nil {
		return x.out
	}
	for i < len(data) {
		if i = x.book.next(data, i); i >= len(data) {
			break
		}
		if n := markAt(data[i:]); n > 0 {
			i += n
			continue
		}
		if found, _ := x.book.at(data, i); !found {
			i++
			continue
		}
		win, _ := window(data[i:], true)
		r, m := x.try(data, i, win)
		if m == nil && !x.growing(data, i) {
			i++
			continue
		}
		if m == nil || r.end != nil || i+m.to == len(data) {
			if m != nil {
				i += m.from
			}
			x.show(data, done, i)
			x.shown = max(x.shown, i)
			return x.out
		}
		x.show(data, done, i+m.from)
		if left := i + m.to - max(x.shown, i+m.from); left > 0 {
			x.out = appendMark(x.out, m.kind, idOf(x.key, data[i+m.from:i+m.to]))
			x.note.one(m.kind, int64(left))
		}
		i += m.to
		done = i
	}
	x.show(data, done, len(data))
	x.shown = len(data)
	return x.out
}

// growing reports whether data[i:] may be the start of a token.
func (x *pattern) growing(data []byte, i int) bool {
	for _, c := range data[i:] {
		if !tokenBytes[c] {
			return false
		}
	}
	for _, w := range x.book.bucket(data, i) {
		if !foldedPrefix(data[i:], w.text) {
			continue
		}
		for _, r := range w.rules {
			if r.hold && r.left.allows(x.before(data, i), data[i]) {
				return true
			}
		}
	}
	return false
}

// finish decides all.
func (x *pattern) finish() []byte {
	x.out = x.out[:0]
	x.keep(x.data, x.run(x.data, true))
	if x.in != nil {
		x.close()
	}
	return x.out
}

// deadMark reports whether b begins as a mark but is none.
func deadMark(b []byte) bool {
	return len(b) >= maxMark && foldedPrefix(b, []byte(markOpen))
}

// window is what rules at the start of b may look at, and whether all of it is here.
func window(b []byte, final bool) ([]byte, bool) {
	w := b[:min(len(b), Window)]
	if n := lineEnd(w); n >= 0 {
		return w[:n], true
	}
	return w, len(w) == Window || final
}

// try returns the first rule that holds at data[i:].
func (x *pattern) try(data []byte, i int, win []byte) (*rule, *match) {
	var before []byte
	for _, w := range x.book.bucket(data, i) {
		if !foldedPrefix(win, w.text) {
			continue
		}
		if before == nil {
			before = x.before(data, i)
		}
		for _, r := range w.rules {
			if m, ok := r.find(before, win); ok {
				return r, m
			}
		}
	}
	return nil, nil
}

// before returns up to lookback bytes that precede data[i].
func (x *pattern) before(data []byte, i int) []byte {
	if i >= lookback || len(x.look) == 0 {
		return data[max(0, i-lookback):i]
	}
	all := append(append(make([]byte, 0, len(x.look)+i), x.look...), data[:i]...)
	return all[max(0, len(all)-lookback):]
}

// enter begins to take out; value is its first part, at data[at].
func (x *pattern) enter(r *rule, m *match, value []byte, at int) {
	x.in, x.inEnd, x.inSum = &match{kind: m.kind, tail: m.tail}, r.end, newSum(x.key)
	x.inSum.add(value)
	x.inLen = hidden(len(value), at, x.shown)
	if x.found != nil && r.end == nil {
		x.found(m.kind, value)
	}
}

// swallow takes the next part of a secret, and reports whether that was the last one.
func (x *pattern) swallow(data []byte, at int, final bool) (n int, over bool) {
	b := data[at:]
	if x.inEnd != nil {
		n, over = x.inEnd.in(b, final)
	} else {
		for n < len(b) && x.in.tail != nil && x.in.tail[b[n]] {
			n++
		}
		over = n < len(b)
	}
	x.inSum.add(b[:n])
	x.inLen += hidden(n, at, x.shown)
	return n, over
}

// hidden is how many of n bytes at a position nobody has seen.
func hidden(n, at, shown int) int64 { return int64(max(0, n-max(0, shown-at))) }

// close writes the mark of the secret that ended.
func (x *pattern) close() {
	if x.inLen > 0 {
		x.out = appendMark(x.out, x.in.kind, x.inSum.id())
		x.note.one(x.in.kind, x.inLen)
	}
	x.in, x.inEnd, x.inLen = nil, nil, 0
}

func (x *pattern) show(data []byte, from, to int) {
	from = max(from, x.shown)
	if from < to {
		x.out = append(x.out, data[from:to]...)
	}
}
