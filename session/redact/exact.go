package redact

import "bytes"

// exact takes known secrets out of a stream. It sees every byte once, and holds back the longest end of what it saw
// that is the start of a known form. Offsets are counted in the stream, but for bytes of which nothing was held.
type exact struct {
	in    *search
	state []uint32 // of each automaton
	next  []int    // where each of them has to look next
	held  []byte   // the end of the stream that is not decided
	base  int64    // offset of held[0]
	shown int64    // a silence has shown the stream up to here
	skip  int64    // up to here, or to the end of the line, goes on what was taken out
	open  hit      // found, and may still become longer: then something is held
	buf   []byte   // held and the new bytes together
	out   []byte
	note  *Counts
}

// hit is a stretch that is to be taken out; of is the secret of the longest form in it.
type hit struct {
	from, to int64
	of       *secret
	length   int
	rest     int64 // how much longer the whole value is, in this form
}

// use switches to a newer automaton: what is held is looked at again.
func (x *exact) use(in *search) {
	if in == x.in {
		return
	}
	x.in = in
	x.state, x.next = make([]uint32, len(in.autos)), make([]int, len(in.autos))
	held := x.held
	x.held = nil
	x.out = x.out[:0]
	if len(held) > 0 {
		x.scan(held, 0)
	}
}

// feed takes the next bytes and returns what is decided. The result is p itself, or good until the next call.
func (x *exact) feed(p []byte) []byte {
	data, from := p, 0
	if len(x.held) > 0 {
		x.buf = append(append(x.buf[:0], x.held...), p...)
		data, from = x.buf, len(x.held)
	}
	// A switch may have decided something already: it stands in out.
	if len(x.out) == 0 && from == 0 && max(x.shown, x.skip) <= x.base {
		// The common case: nothing was held. Look first, and copy only when something was found. The offset stays as it is:
		// nothing ahead is measured by it.
		if n, ok := x.clear(p); ok {
			x.held = append(x.held[:0], p[n:]...)
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

// fewRuns is for how many automata it takes no memory to look.
const fewRuns = 16

// clear runs over p and reports how much of it is decided, if no form ends in it. Otherwise nothing has changed.
func (x *exact) clear(p []byte) (int, bool) {
	var few [fewRuns]uint32
	now := append(few[:0], x.state...)
	deep := uint32(0)
	for k, a := range x.in.autos {
		s := now[k]
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
		now[k] = s
		deep = max(deep, a.depth[s])
	}
	copy(x.state, now)
	return len(p) - int(deep), true
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
	done := 0 // of data, what is written or taken out
	n := len(data)
	for k := range x.next {
		x.next[k] = from
	}
	for i := x.ahead(data, from); i < n; i = x.ahead(data, i+1) {
		deep := uint32(0)
		for k, a := range x.in.autos {
			if x.next[k] == i {
				x.state[k] = a.move(x.state[k], data, i)
				deep = max(deep, a.depth[x.state[k]])
			}
		}
		if x.open.of != nil && x.base+int64(i+1-int(deep)) >= x.open.to {
			done = x.settle(data, done)
		}
		for k, a := range x.in.autos {
			if x.next[k] != i {
				continue
			}
			x.next[k] = i + 1
			if o := a.out[x.state[k]]; o >= 0 {
				f := a.forms[o]
				x.found(x.base+int64(i+1-len(f.text)), x.base+int64(i+1), f)
			}
		}
	}
	deep := uint32(0)
	for k, a := range x.in.autos {
		deep = max(deep, a.depth[x.state[k]])
	}
	safe := n - int(deep)
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

// ahead returns the first position from i on at which an automaton has to look; none has to look before i.
func (x *exact) ahead(data []byte, i int) int {
	first := len(data)
	for k, a := range x.in.autos {
		if x.next[k] == i && x.state[k] == 0 {
			x.next[k] = a.filter.next(data, i)
		}
		first = min(first, x.next[k])
	}
	return first
}

func (x *exact) found(from, to int64, f form) {
	h := hit{from, to, f.of, len(f.text), 0}
	if f.of.rest > 0 {
		h.rest = int64(f.of.rest)
		if whole := int64(len(f.of.value)); int64(len(f.text)) != whole {
			h.rest = h.rest*int64(len(f.text))/whole + 4 // which may be padding
		}
	}
	if x.open.of != nil {
		if x.open.from == from && x.open.to == to { // in two automata
			x.open.rest = max(h.rest, x.open.rest)
			return
		}
		h.from, h.rest = min(h.from, x.open.from), max(h.rest, x.open.rest)
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
	if left := h.to - max(h.from, x.shown, x.skip); left > 0 {
		x.out = appendMark(x.out, h.of.kind, h.of.id)
		x.note.one(h.of.kind, left)
	}
	if h.rest > 0 {
		x.skip = max(x.skip, h.to+h.rest)
	}
	return max(done, int(h.to-x.base))
}

// show writes data[from:to], without what was shown before and without the rest of a long value.
func (x *exact) show(data []byte, from, to int) {
	from = max(from, int(x.shown-x.base))
	if from < to && x.skip > x.base+int64(from) {
		end := min(to, int(x.skip-x.base))
		if i := bytes.IndexByte(data[from:end], '\n'); i >= 0 {
			end, x.skip = from+i, 0
		}
		x.note.Bytes += int64(end - from)
		from = end
	}
	if from < to {
		x.out = append(x.out, data[from:to]...)
	}
}

// silence decides what can be shown although more may follow: all but the start of a known form of at least minPrefix
// bytes.
func (x *exact) silence() []byte {
	if len(x.held) >= minPrefix {
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
	x.held = x.held[:0]
	return x.taken()
}
