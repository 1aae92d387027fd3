package framing

import "bytes"

// A supervisor that is killed while it writes a record leaves the shell behind, which says farewell past it, on the terminal:
// then the stream ends with a farewell of which all, or the beginning, stands inside the record.

// hold returns what of a record's piece is surely the record's, and keeps the rest for what comes next.
func (d *Decoder) hold(p []byte) []byte {
	if len(d.late) > 0 {
		p = append(d.late, p...)
		d.late = nil
	}
	i := d.surely(p, len(p))
	if i < len(p) {
		d.late = bytes.Clone(p[i:])
	}
	return p[:i]
}

// pastRecord goes on behind a record whose end was kept, with the text that follows: what is no farewell after all is what it
// was before, the record's and text.
func (d *Decoder) pastRecord() {
	held := len(d.late) - d.over
	p := append(d.late, d.in...)
	d.late = nil
	i := d.surely(p, d.over)
	d.payload = p[:i]
	if i == d.over {
		d.in = p[i:]
		d.pos -= int64(held)
		return
	}
	d.late, d.over = p[i:], d.over-i
	d.use(len(d.in))
}

// surely returns how many of the first n bytes of p are the record's, if p is all that has come of it and after it.
func (d *Decoder) surely(p []byte, n int) int {
	if d.quiet {
		return n
	}
	for i := 0; i < n; i++ {
		j := bytes.IndexByte(p[i:n], rs)
		if j < 0 {
			return n
		}
		if i += j; d.mayBeFarewell(p[i:]) {
			return i
		}
	}
	return n
}

// mayBeFarewell reports whether p is a farewell or the beginning of one. A directory with RS in its name is not thought of, so
// that the next mark of any kind decides.
func (d *Decoder) mayBeFarewell(p []byte) bool {
	i := bytes.IndexByte(p[1:], rs) + 1
	switch {
	case len(p) > maxField || !d.beginsMark(p, 'C'):
		return false
	case i == 0:
		return true
	}
	return i >= markLen && len(p)-i <= markLen && d.beginsMark(p[i:], 'c')
}

// beginsMark reports whether p begins with the nonce's mark of that letter, or is the beginning of it.
func (d *Decoder) beginsMark(p []byte, letter byte) bool {
	for i := 1; i < min(len(p), markLen); i++ {
		if i <= TokenLen && p[i] != d.out.nonce[i-1] || i > TokenLen && p[i] != letter {
			return false
		}
	}
	return true
}
