package output

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"unicode/utf8"
)

// line is a line of the stream, of which text holds at most MaxLine bytes.
type line struct {
	off, size int64 // with the newline
	text      []byte
}

// eachLine calls f with every line that is kept whole. text is valid during the call only.
func (v *snapshot) eachLine(f func(line)) error {
	if !v.gap() {
		return v.eachLineIn(0, v.total, false, false, f)
	}
	if err := v.eachLineIn(0, v.kept, false, true, f); err != nil {
		return err
	}
	return v.eachLineIn(v.tailAt, v.total, true, false, f)
}

// eachLineIn does it for the bytes from lo to hi; tornStart and tornEnd say that the first or last line is a part.
func (v *snapshot) eachLineIn(lo, hi int64, tornStart, tornEnd bool, f func(line)) error {
	r := bufio.NewReaderSize(io.NewSectionReader(v, lo, hi-lo), MaxLine)
	var long []byte
	for at := lo; at < hi; {
		l := line{off: at}
		p, err := r.ReadSlice('\n')
		l.text, l.size = p, int64(len(p))
		for errors.Is(err, bufio.ErrBufferFull) {
			if l.size == int64(len(p)) { // the first part: the next read takes its place
				long = append(long[:0], p...)
				l.text = long
			}
			p, err = r.ReadSlice('\n')
			l.size += int64(len(p))
		}
		at += l.size
		switch {
		case err == nil && !tornStart:
			f(l)
		case err == nil:
			tornStart = false
		case !errors.Is(err, io.EOF):
			return err
		case l.size == 0:
			return io.ErrUnexpectedEOF // cannot be: the bytes are kept
		case !tornStart && !tornEnd:
			f(l)
		}
	}
	return nil
}

// match says whether re is found in the line's text without its end.
func (l line) match(re *regexp.Regexp, shown func([]byte) []byte) bool {
	t := bytes.TrimSuffix(l.text, []byte{'\n'})
	t = bytes.TrimSuffix(t, []byte{'\r'})
	if shown != nil {
		t = shown(t)
	}
	return re.Match(t)
}

// grep shows the lines in which re is found, with their context.
func (w *viewer) grep(v *snapshot, b Budget, re *regexp.Regexp, limit int64) error {
	c := newChoice(b, limit)
	before := queue{lines: b.Context, bytes: limit}
	after := 0
	err := v.eachLine(func(l line) {
		switch {
		case l.match(re, b.Shown):
			w.Matched++
			for _, e := range before.all() {
				c.add(e)
			}
			before.clear()
			c.add(l.keep(limit, c.tail.take()))
			after = b.Context
		case after > 0:
			after--
			c.add(l.keep(limit, c.tail.take()))
		case b.Context > 0:
			before.add(l.keep(limit, before.take()))
		}
	})
	if err != nil {
		return err
	}
	for _, e := range c.chosen(limit) {
		w.group(e, b.Context > 0)
	}
	return nil
}

// group shows an excerpt, parted from the one before where lines are missing between them.
func (w *viewer) group(e excerpt, part bool) {
	if len(w.Text) > 0 && e.off > w.at {
		if w.Text[len(w.Text)-1] != '\n' {
			w.Text = append(w.Text, '\n') // the line before was cut
		}
		if part && !w.cutLine(e) {
			w.Text = append(w.Text, "--\n"...)
		}
	}
	if e.cut {
		w.LineCut = true
	}
	w.next = e.off + e.size
	w.piece(e.off, e.text)
}

// cutLine says whether all that is missing before e is the rest of a line that was cut.
func (w *viewer) cutLine(e excerpt) bool { return w.next == e.off }

// excerpt is a line to show, cut where it is too long.
type excerpt struct {
	off, size int64
	text      []byte
	cut       bool
}

// keep copies the line into buf, as much as is shown of it.
func (l line) keep(limit int64, buf []byte) excerpt {
	n := int(min(int64(len(l.text)), limit))
	e := excerpt{off: l.off, size: l.size, cut: int64(n) < l.size}
	if e.cut {
		back, _ := inside(l.text[:n], l.text[n:])
		if n == len(l.text) && back == 0 {
			back = partial(l.text)
		}
		n -= back
	}
	e.text = append(buf[:0], l.text[:n]...)
	return e
}

// partial says how many bytes at p's end are the beginning of a character.
func partial(p []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		if c := p[len(p)-k]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-k:]) {
				return k
			}
			break
		}
	}
	return 0
}

// queue holds the last lines, bounded in number and bytes.
type queue struct {
	lines int
	bytes int64
	q     []excerpt
	from  int
	sum   int64
	spare []byte // of a line that was dropped: a flood of lines is no flood of allocations
}

func (q *queue) take() []byte {
	p := q.spare
	q.spare = nil
	return p
}

func (q *queue) add(e excerpt) {
	q.q = append(q.q, e)
	q.sum += int64(len(e.text))
	for len(q.q)-q.from > q.lines || q.sum > q.bytes {
		q.sum -= int64(len(q.q[q.from].text))
		q.spare = q.q[q.from].text
		q.q[q.from] = excerpt{}
		q.from++
	}
	if q.from > 64 && q.from > len(q.q)/2 {
		q.q, q.from = append(q.q[:0], q.q[q.from:]...), 0
	}
}

func (q *queue) all() []excerpt { return q.q[q.from:] }
func (q *queue) clear()         { q.q, q.from, q.sum = q.q[:0], 0, 0 }

// choice keeps of the lines that come those that can still be shown: the first ones and the last ones.
type choice struct {
	head   []excerpt
	lines  int   // how many more the head may have
	bytes  int64 // and how many bytes
	closed bool
	tail   queue
}

func newChoice(b Budget, limit int64) *choice {
	c := &choice{lines: b.Head, bytes: limit, tail: queue{lines: b.Tail, bytes: limit}}
	if b.Head == 0 && b.Tail == 0 {
		c.lines, c.tail.lines = math.MaxInt, math.MaxInt
	}
	return c
}

func (c *choice) add(e excerpt) {
	n := int64(len(e.text))
	if !c.closed && c.lines > 0 && n <= c.bytes {
		c.lines--
		c.bytes -= n
		c.head = append(c.head, e)
		return
	}
	c.closed = true
	if c.tail.lines > 0 {
		c.tail.add(e)
	}
}

// chosen returns what fits the limit.
func (c *choice) chosen(limit int64) []excerpt {
	head, tail := c.head, c.tail.all()
	if len(head) == 0 && len(tail) == 0 {
		return nil
	}
	hs, ts := size(head), size(tail)
	hn, tn := share(hs, ts, limit)
	h, t := head, tail
	for ; hs > hn; h = h[:len(h)-1] {
		hs -= int64(len(h[len(h)-1].text))
	}
	for ; ts > tn; t = t[1:] {
		ts -= int64(len(t[0].text))
	}
	if len(h)+len(t) == 0 { // no line fits half of the limit: one fits the whole
		if len(head) > 0 {
			return head[:1]
		}
		return tail[len(tail)-1:]
	}
	return append(h[:len(h):len(h)], t...)
}

func size(l []excerpt) (n int64) {
	for _, e := range l {
		n += int64(len(e.text))
	}
	return n
}
