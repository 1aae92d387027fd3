package redact

// textRun is a run of base64 that holds text. The text is looked at as it comes; what is taken out of it is taken out of
// the run.
type textRun struct {
	looks  pattern
	spans  []span
	bits   uint32
	nbits  int
	width  int   // of the line, so far
	fed    int   // of the bytes that are held, what has been decoded
	char   int64 // of the run, the first that is held
	base   int64 // of the text, the first byte in secret
	secret []bool
	marks  []spanMark
	taken  int
	hidden bool // the last byte was
}

// span is a stretch of text that a pattern has decided.
type span struct {
	n      int
	secret bool
	mark   *spanMark // ends here
}

type spanMark struct {
	kind, id string
	at       int64
}

func (x *encoded) startText() {
	t := &textRun{}
	none := &Counts{}
	t.looks = pattern{book: rulebook(), key: x.key, note: none, trace: &t.spans}
	x.text = t
}

const minWrapped = 32 // columns of a line after which base64 goes on in the next one

// decode looks at b, the held part of the run at data[at:], and returns how much of it is decided, and whether it ended.
func (x *encoded) decode(b []byte, at int, final bool) (n int, over bool) {
	t := x.text
	var plain []byte
	for !over && t.fed < len(b) {
		if v := runBytes[b[t.fed]]; v >= 0 {
			t.bits, t.nbits = t.bits<<6|uint32(v), t.nbits+6
			if t.nbits >= 8 {
				t.nbits -= 8
				plain = append(plain, byte(t.bits>>t.nbits))
			}
			t.fed++
			t.width++
			continue
		}
		j := t.fed
		if b[j] == '\r' {
			j++
		}
		if j < len(b) && b[j] != '\n' || t.width < minWrapped {
			over = true
			break
		}
		for j++; j < len(b) && (b[j] == ' ' || b[j] == '\t'); j++ {
		}
		if j >= len(b) {
			over = final
			break
		}
		if over = runBytes[b[j]] < 0; !over {
			t.fed, t.width = j, 0
		}
	}
	over = over || final
	t.looks.feed(plain)
	if over {
		t.looks.finish()
	}
	t.settle()
	n = x.emit(b[:t.fed], at, over)
	t.fed -= n
	return n, over
}

// settle takes over what the pattern has decided.
func (t *textRun) settle() {
	for _, s := range t.spans {
		for range s.n {
			t.secret = append(t.secret, s.secret)
		}
		if s.mark != nil {
			m := *s.mark
			m.at = t.base + int64(len(t.secret))
			t.marks = append(t.marks, m)
		}
	}
	t.spans = t.spans[:0]
}

// emit passes on what of b is decided, and returns how much that is.
func (x *encoded) emit(b []byte, at int, over bool) int {
	t := x.text
	i := 0
	for ; i < len(b); i++ {
		if runBytes[b[i]] < 0 {
			if !t.hidden {
				x.letter(b[i], at+i)
			}
			continue
		}
		from, to := t.char*6/8-t.base, (t.char*6+5)/8-t.base
		if to >= int64(len(t.secret)) && !over {
			for i > 0 && runBytes[b[i-1]] < 0 { // a newline belongs to what follows it
				i--
				if !t.hidden && at+i >= x.shown {
					x.out = x.out[:len(x.out)-1]
				}
			}
			break
		}
		t.hidden = t.secretAt(from) || t.secretAt(to)
		if t.hidden && t.char >= headShown {
			if at+i >= x.shown {
				t.taken++
			}
		} else {
			x.marks(t.char * 6 / 8)
			x.letter(b[i], at+i)
		}
		t.char++
	}
	if over {
		x.marks(1 << 62)
	} else if first := t.char*6/8 - t.base; first > 0 {
		first = min(first, int64(len(t.secret)))
		t.secret = t.secret[:copy(t.secret, t.secret[first:])]
		t.base += first
	}
	return i
}

func (x *encoded) letter(c byte, pos int) {
	if pos >= x.shown {
		x.out = append(x.out, c)
	}
}

func (t *textRun) secretAt(i int64) bool {
	if n := int64(len(t.secret)); i >= n {
		i = n - 1
	}
	return i >= 0 && t.secret[i]
}

// marks writes the marks of what ended before a byte of the text.
func (x *encoded) marks(before int64) {
	t := x.text
	for len(t.marks) > 0 && t.marks[0].at <= before {
		if t.taken > 0 {
			x.out = appendMark(x.out, t.marks[0].kind, t.marks[0].id)
			x.note.one(t.marks[0].kind, int64(t.taken))
		}
		t.marks, t.taken = t.marks[1:], 0
	}
}
