package output

import "bytes"

// lines shows the first and the last lines. No more than limit bytes from either end can matter, so no more are read.
func (w *viewer) lines(v *snapshot, b Budget, limit int64) error {
	first, last := v.total, int64(0) // how far the two ends reach
	if v.gap() {
		first, last = v.kept, v.tailAt
	}
	head, err := v.read(0, min(limit, first))
	if err != nil {
		return err
	}
	from := max(v.total-limit, last)
	tail, err := v.read(from, v.total)
	if err != nil {
		return err
	}
	headAll, tailAll := int64(len(head)) == v.total, from == 0

	h := firstLines(head, b.Head)
	if !headAll {
		h = wholeLines(h)
	}
	skip := 0
	if !tailAll {
		skip = w.firstStart(v, from, tail)
	}
	t := lastLines(tail[skip:], b.Tail)
	start := v.total - int64(len(t))
	if start < int64(len(h)) { // the two meet
		t = t[int64(len(h))-start:]
	}
	h1, t1 := firstLines(h, 1), lastLines(t, 1)
	h, t = fitLines(h, t, limit)
	if len(h) == 0 && len(t) == 0 { // no line fits half of the limit
		switch {
		case len(h1) > 0:
			h = h1
		case len(t1) > 0:
			t = t1
		default:
			return w.partOfLine(v, b, limit)
		}
	}
	w.piece(0, h)
	w.piece(v.total-int64(len(t)), t)
	return nil
}

// firstStart says where in tail, which begins at from, the first line begins that is there whole.
func (w *viewer) firstStart(v *snapshot, from int64, tail []byte) int {
	if from > v.tailAt || !v.gap() {
		var before [1]byte
		if _, err := v.ReadAt(before[:], from-1); err == nil && before[0] == '\n' {
			return 0
		}
	}
	i := bytes.IndexByte(tail, '\n')
	if i < 0 {
		return len(tail)
	}
	return i + 1
}

// partOfLine shows the start of the first line, or the end of the last one, because no line fits the limit.
func (w *viewer) partOfLine(v *snapshot, b Budget, limit int64) error {
	if v.total == 0 {
		return nil
	}
	lo, hi := int64(0), min(limit, v.kept)
	var err error
	if b.Head == 0 {
		lo, hi = max(v.total-limit, 0), v.total
		if v.gap() {
			lo = max(lo, v.tailAt)
		}
		lo, err = v.borderAfter(lo)
	} else {
		hi, err = v.borderBefore(hi)
	}
	if err != nil || hi <= lo {
		return err
	}
	p, err := v.read(lo, hi)
	if err != nil {
		return err
	}
	w.LineCut = true
	w.piece(lo, p)
	return nil
}

func firstLines(p []byte, n int) []byte {
	end := 0
	for ; n > 0 && end < len(p); n-- {
		i := bytes.IndexByte(p[end:], '\n')
		if i < 0 {
			return p
		}
		end += i + 1
	}
	return p[:end]
}

func lastLines(p []byte, n int) []byte {
	start := len(p)
	for ; n > 0 && start > 0; n-- {
		start = bytes.LastIndexByte(p[:start-1], '\n') + 1
	}
	return p[start:]
}

// wholeLines drops what follows the last newline.
func wholeLines(p []byte) []byte { return p[:bytes.LastIndexByte(p, '\n')+1] }

// fitLines drops whole lines from the end of h and the start of t until both fit: each gets half of the limit, and what
// the other does not need.
func fitLines(h, t []byte, limit int64) (head, tail []byte) {
	hn, tn := share(int64(len(h)), int64(len(t)), limit)
	if int64(len(h)) > hn {
		h = wholeLines(h[:hn])
	}
	if cut := int64(len(t)) - tn; cut > 0 {
		if t[cut-1] != '\n' {
			i := bytes.IndexByte(t[cut:], '\n')
			if i < 0 {
				return h, nil
			}
			cut += int64(i) + 1
		}
		t = t[cut:]
	}
	return h, t
}

// share parts limit between two that want h and t.
func share(h, t, limit int64) (forH, forT int64) {
	half := limit / 2
	switch {
	case h+t <= limit:
		return h, t
	case h <= limit-half:
		return h, limit - h
	case t <= half:
		return limit - t, t
	default:
		return limit - half, half
	}
}
