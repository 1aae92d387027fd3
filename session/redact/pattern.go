package redact

import "bytes"

// pattern takes out what looks like a secret. It holds back from the first keyword that is not decided: until the end
// of its line, or [Window] bytes.
type pattern struct {
	book  *index
	key   []byte
	data  []byte // held, and the new bytes
	look  []byte // what precedes data, up to lookback bytes
	shown int    // of data, what a silence has shown

	marked int // in data, where the last mark ends: it is decided

	next   follow // looks at the line, or the rest of one, that begins at nextAt
	nextAt int    // in data; -1: at the line after the secret that goes on

	in    *match // a secret that goes on past what was decided
	inEnd *blockEnd
	inSum sum
	inLen int64

	ahead ahead

	out   []byte
	note  *Counts
	found func(kind string, value []byte) // may be nil
	trace *[]span                         // what was decided, in order; may be nil
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
	if x.nextAt >= 0 {
		x.nextAt -= n
	}
}

// run decides what it can of data, and returns how much that is.
func (x *pattern) run(data []byte, final bool) int {
	i, done := 0, 0 // looked at; written or taken out
	x.ahead.reset()
	x.marked = 0
	for i < len(data) {
		if x.in != nil {
			n, over := x.swallow(data, i, final)
			i += n
			done = i
			if !over {
				break
			}
			x.close()
			x.afterLong(data, i)
			continue
		}
		from := i
		i = x.book.next(data, i)
		if x.next != nil && (x.nextAt < from || x.nextAt < 0) {
			x.next = nil // a key block has gone over it
		}
		if x.next != nil && x.nextAt <= i && x.nextAt < len(data) {
			i = x.nextAt
			win, whole := x.ahead.window(data, i, final)
			if !whole {
				return x.wait(data, done, i)
			}
			if m := x.followed(data, i, win); m != nil {
				done = x.takeBetween(data, i, i, i+m.from, done)
				x.show(data, done, i+m.from)
				x.enter(nil, m, data[i+m.from:i+m.to], i+m.from)
				i += m.to
				done = i
				if m.to < len(win) || m.tail == nil {
					x.close()
				} else {
					x.nextAt = -1
				}
			}
			continue
		}
		if i >= len(data) {
			break
		}
		if n := markAt(data[i:]); n > 0 {
			i += n
			x.marked = i
			continue
		}
		found, maybe := x.book.at(data, i)
		if !found && (!maybe || final) {
			i++
			continue
		}
		win, whole := x.ahead.window(data, i, final)
		if !whole && !deadMark(data[i:]) {
			return x.wait(data, done, i)
		}
		r, m, more := x.try(data, i, done, win, final)
		if more {
			return x.wait(data, done, i)
		}
		if m == nil {
			i++
			continue
		}
		done = x.takeBetween(data, i, i+1, i+m.from, done)
		x.show(data, done, i+m.from)
		x.enter(r, m, data[i+m.from:i+m.to], i+m.from)
		done = i + m.to
		i = max(done, i+1)
		if r.end == nil && (m.to < len(win) || m.tail == nil || m.joined) {
			x.close()
		}
	}
	if x.in == nil {
		if final {
			x.show(data, done, len(data))
			return len(data)
		}
		return x.wait(data, done, len(data))
	}
	if final {
		x.close()
	}
	return i
}

// wait shows data[done:i], but for what may be the start of a secret that stands before its keyword, and returns how much
// of data is decided.
func (x *pattern) wait(data []byte, done, i int) int {
	i -= min(x.pendingWord(data[:i]), i-max(done, x.marked))
	x.show(data, done, i)
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
	x.ahead.reset()
	for i < len(data) {
		if x.next != nil && x.nextAt == i {
			win, _ := x.ahead.window(data, i, true)
			if m, _ := x.next(win); m != nil {
				x.show(data, done, i+m.from)
				x.shown = max(x.shown, i+m.from)
				return x.out
			}
		}
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
		win, _ := x.ahead.window(data, i, true)
		next, nextAt := x.next, x.nextAt
		r, m, _ := x.try(data, i, done, win, true)
		x.next, x.nextAt = next, nextAt // it will be found again
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
		for at := i + 1; ; {
			inner, from := x.between(data, i, at, i+m.from, done)
			if inner == nil {
				break
			}
			x.mark(data, done, from+inner.from, from+inner.to, inner.kind)
			done = from + inner.to
			at = max(done, from+1)
		}
		x.mark(data, done, i+m.from, i+m.to, m.kind)
		done = i + m.to
		i = max(done, i+1)
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

// try returns the first rule that holds at data[i:]; nothing before done may be taken out. more says that it takes
// further bytes to tell.
func (x *pattern) try(data []byte, i, done int, win []byte, final bool) (r *rule, m *match, more bool) {
	p, r, m, broken := x.tryAt(data, i, done, win, nil)
	if m == nil && p != nil {
		line := linePrefix(p.plain)
		if n := frameOf(line); n > 0 {
			p.inside(n)
			_, r, m, _ = x.tryAt(data, i, done, win, inFrame)
		} else if n := stringAt(line); n > 0 && p.inString(n) {
			_, r, m, _ = x.tryAt(data, i, done, win, inString)
		}
	}
	if m == nil {
		return x.tryBroken(data, i, p, win, broken, final)
	}
	return r, m, false
}

// tryAt returns the first rule that holds at data[i:], and the place, if a keyword is there. With within, the place is one on what the
// line holds, and within makes what looks at it look at lines like it. broken says that a token may go on after the newline.
func (x *pattern) tryAt(data []byte, i, done int, win []byte, within func(plain, inner follow) follow) (p *place, r *rule, m *match, broken bool) {
	if within != nil {
		p = &x.ahead.place
	}
	for _, w := range x.book.bucket(data, i) {
		if !w.begins(win) {
			if len(win) < len(w.text) && foldedPrefix(w.text, win) {
				broken = broken || holds(w.rules)
			}
			continue
		}
		if p == nil {
			p = x.place(data, i, win)
		}
		p.key = len(w.text)
		for _, r := range w.rules {
			if r.next != "" && !p.goesOn(r.next) || !r.left.allows(p.before, win[0]) {
				continue
			}
			m, ok := r.find(p)
			if !ok {
				broken = broken || r.hold && (r.long || len(win) < shortToken)
				continue
			}
			v := p.view
			if r.then != nil {
				x.expect(inDiff(m.before, r.then(m)), i+p.end(win), within)
				continue
			}
			if r.here != nil {
				x.expect(r.here(m), i+v.to(m.group[1]), nil)
				continue
			}
			if r.back {
				if m.from, m.to = max(-m.behind, done-i), -m.until; m.from >= m.to {
					continue
				}
				return p, r, m, broken
			}
			m.from, m.to, m.win = v.from(m.from), max(v.from(m.from), v.to(m.to)), win
			if r.hold && len(bytes.TrimSuffix(win[m.to:], []byte("\r"))) == 0 && i+len(win) < len(data) {
				x.expect(tokenRest(m.kind), i+p.end(win), within)
			}
			return p, r, m, broken
		}
	}
	return p, nil, nil, broken
}

// tryBroken returns the rule that holds for a token at data[i:] that newlines broke.
func (x *pattern) tryBroken(data []byte, i int, p *place, win []byte, broken, final bool) (r *rule, m *match, more bool) {
	if !broken {
		return nil, nil, false
	}
	if p == nil {
		p = x.place(data, i, win)
	}
	if !p.startsToken() || !p.allToken(win) {
		return nil, nil, false
	}
	v, breaks, whole := x.ahead.joined(data[i:], final)
	if !whole {
		return nil, nil, true
	}
	if !x.mayJoin(data, i, len(v.text)) {
		return nil, nil, false
	}
	for k := range breaks { // the fewest lines that make a token
		to := len(v.text)
		if k+1 < len(breaks) {
			to = breaks[k+1]
		}
		if r, m := x.tryJoined(data, i, p.before, view{text: v.text[:to], at: v.at[:to]}, breaks[k]); m != nil {
			if next := i + m.to; m.to == v.at[to-1]+1 {
				if next < len(data) && data[next] == '\r' {
					next++
				}
				x.expect(tokenRest(m.kind), next+1, nil)
			}
			return r, m, false
		}
	}
	return nil, nil, false
}

// expect lets f look at data[at:], if nothing waits there already; with within, also at what the lines there hold.
func (x *pattern) expect(f follow, at int, within func(plain, inner follow) follow) {
	switch here := x.next != nil && x.nextAt == at; {
	case f == nil:
	case within != nil && here:
		x.next = within(x.next, f)
	case within != nil:
		x.next, x.nextAt = within(nil, f), at
	case !here:
		x.next, x.nextAt = f, at
	}
}

// followed asks what waits for the line at data[i:], and returns what is secret there.
func (x *pattern) followed(data []byte, i int, win []byte) *match {
	v, _, _ := x.ahead.view(data, i, win)
	m, next := x.next(v.text)
	x.next = next
	if m != nil {
		m.from, m.to = v.from(m.from), max(v.from(m.from), v.to(m.to))
		if isMarks(win[m.from:m.to]) {
			m = nil
		} else if m.again {
			x.nextAt = i + m.to
			return m
		}
	}
	if x.nextAt = i + len(win) + 1; len(win) == Window && (m == nil || m.to < len(win)) {
		x.next = nil
	}
	return m
}

// afterLong lets what waits for the line after a long secret look there.
func (x *pattern) afterLong(data []byte, i int) {
	if x.next == nil || x.nextAt >= 0 {
		return
	}
	if data[i] == '\n' {
		x.nextAt = i + 1
	} else {
		x.next = nil
	}
}

// enter begins to take out; value is its first part, at data[at].
func (x *pattern) enter(r *rule, m *match, value []byte, at int) {
	x.in, x.inEnd, x.inSum = &match{kind: m.kind, tail: m.tail}, nil, x.inSum.again(x.key)
	if r != nil {
		x.inEnd = r.end
	}
	x.inSum.add(value)
	x.inLen = hidden(len(value), at, x.shown)
	x.traced(span{n: len(value), secret: true})
	if x.found != nil && x.inEnd == nil {
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
	x.traced(span{n: n, secret: true})
	x.inLen += hidden(n, at, x.shown)
	return n, over
}

// hidden is how many of n bytes at a position nobody has seen.
func hidden(n, at, shown int) int64 { return int64(max(0, n-max(0, shown-at))) }

// close writes the mark of the secret that ended.
func (x *pattern) close() {
	if x.inLen > 0 {
		if x.trace != nil {
			x.traced(span{mark: &spanMark{kind: x.in.kind, id: x.inSum.id()}})
		}
		x.out = appendMark(x.out, x.in.kind, x.inSum.id())
		x.note.one(x.in.kind, x.inLen)
	}
	x.in, x.inEnd = nil, nil
}

func (x *pattern) show(data []byte, from, to int) {
	from = max(from, x.shown)
	if from < to {
		x.out = append(x.out, data[from:to]...)
		x.traced(span{n: to - from})
	}
}

func (x *pattern) traced(s span) {
	if x.trace != nil {
		*x.trace = append(*x.trace, s)
	}
}
