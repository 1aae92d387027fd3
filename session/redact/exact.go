package redact

// exact takes known secrets out of a stream. It sees every byte once, and holds back the longest end of what it saw
// that is the start of a known form. Offsets are counted from the start of the stream.
type exact struct {
	auto  *automaton
	state uint32
	held  []byte // the end of the stream that is not decided
	base  int64  // offset of held[0]
	shown int64  // a silence has shown the stream up to here
	open  hit    // found, and may still become longer
	buf   []byte // held and the new bytes together
	out   []byte
	note  *Counts
}

// hit is a stretch that is to be taken out; of is the secret of the longest form in it.
type hit struct {
	from, to int64
	of       *secret
	length   int
}

// use switches to a newer automaton: what is held is looked at again.
func (x *exact) use(a *automaton) {
	if a == x.auto {
		return
	}
	x.auto, x.state = a, 0
	held := x.held
	x.held = nil
	x.out = x.out[:0]
	if len(held) > 0 {
		x.scan(held, 0)
	}
}

// feed takes the next bytes and returns what is decided. The result is p itself, or good until the next call.
func (x *exact) feed(p []byte) []byte {
	// A switch may have decided something already: it stands in out.
	if x.auto == nil && len(x.held) == 0 && len(x.out) == 0 && x.open.of == nil {
		x.base += int64(len(p))
		return p
	}
	data, from := p, 0
	if len(x.held) > 0 {
		x.buf = append(append(x.buf[:0], x.held...), p...)
		data, from = x.buf, len(x.held)
	}
	quiet := len(x.out) == 0 && from == 0 && x.open.of == nil
	start := x.base
	if quiet && x.shown <= x.base {
		// The common case: nothing was held. Look first, and copy only when something was found.
		if n, ok := x.clear(p); ok {
			x.held = append(x.held[:0], p[n:]...)
			x.base = start + int64(n)
			return p[:n]
		}
	}
	x.scan(data, from)
	return x.taken()
}

func (x *exact) taken() []byte {
	out := x.out
	x.out = x.out[:0]
	return out
}

// clear runs over p and reports how much of it is decided, if no form ends in it. Otherwise nothing has changed.
func (x *exact) clear(p []byte) (int, bool) {
	a, s := x.auto, x.state
	for i := 0; i < len(p); {
		if s == 0 {
			if i = a.filter.next(p, i); i >= len(p) {
				break
			}
		}
		s = a.move(s, p, i)
		i++
		if a.out[s] >= 0 {
			return 0, false
		}
	}
	x.state = s
	return len(p) - int(a.depth[s]), true
}

// move is step, and gives up early on a state that the filter knows to lead nowhere.
func (a *automaton) move(s uint32, b []byte, i int) uint32 {
	next := a.step(s, b[i])
	if d := a.depth[next]; d > a.depth[s] || d >= gram {
		return next
	}
	for next != 0 && a.depth[next] < gram {
		start := i + 1 - int(a.depth[next])
		if start < 0 || start+gram > len(b) || a.filter.has(b, start) {
			break
		}
		next = a.fail[next]
	}
	return next
}

// scan runs over data[from:]; data begins with what was held.
func (x *exact) scan(data []byte, from int) {
	a := x.auto
	done := 0 // of data, what is written or taken out
	n := len(data)
	safe := n
	if a != nil {
		s := x.state
		for i := from; i < n; {
			if s == 0 {
				if i = a.filter.next(data, i); i >= n {
					break
				}
			}
			s = a.move(s, data, i)
			i++
			if x.open.of != nil && x.base+int64(i-int(a.depth[s])) >= x.open.to {
				done = x.settle(data, done)
			}
			if o := a.out[s]; o >= 0 {
				f := a.forms[o]
				x.found(x.base+int64(i-len(f.text)), x.base+int64(i), f)
			}
		}
		x.state = s
		safe = n - int(a.depth[s])
	}
	if x.open.of != nil && (x.base+int64(safe) >= x.open.to) {
		done = x.settle(data, done)
	}
	upto := safe
	if x.open.of != nil {
		upto = min(safe, int(x.open.from-x.base))
	}
	x.show(data, done, upto)
	x.held = append(x.held[:0], data[safe:]...)
	x.base += int64(safe)
}

func (x *exact) found(from, to int64, f form) {
	h := hit{from, to, f.of, len(f.text)}
	if x.open.of != nil {
		h.from = min(h.from, x.open.from)
		if x.open.length > h.length {
			h.of, h.length = x.open.of, x.open.length
		}
	}
	x.open = h
}

// settle writes what precedes the open hit, and its mark, and returns where data goes on.
func (x *exact) settle(data []byte, done int) int {
	h := x.open
	x.open = hit{}
	x.show(data, done, int(h.from-x.base))
	if left := h.to - max(h.from, x.shown); left > 0 {
		x.out = appendMark(x.out, h.of.kind, h.of.id)
		x.note.one(h.of.kind, left)
	}
	return max(done, int(h.to-x.base))
}

func (x *exact) show(data []byte, from, to int) {
	from = max(from, int(x.shown-x.base))
	if from < to {
		x.out = append(x.out, data[from:to]...)
	}
}

// silence decides what can be shown although more may follow: all but the start of a known form of at least minPrefix
// bytes.
func (x *exact) silence() []byte {
	if len(x.held) == 0 && x.open.of == nil || len(x.held) >= minPrefix {
		return x.taken()
	}
	end := x.base + int64(len(x.held))
	done := 0
	if x.open.of != nil {
		done = x.settle(x.held, done)
	}
	x.show(x.held, done, len(x.held))
	x.shown = end
	return x.taken()
}

// finish decides all.
func (x *exact) finish() []byte {
	done := 0
	if x.open.of != nil {
		done = x.settle(x.held, done)
	}
	x.show(x.held, done, len(x.held))
	x.base += int64(len(x.held))
	x.held, x.state = x.held[:0], 0
	return x.taken()
}
