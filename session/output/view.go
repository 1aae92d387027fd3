package output

import "unicode/utf8"

// View is what a Budget shows of an output. Shown plus Omitted is always Total.
type View struct {
	Text    []byte // exact bytes of the stream, and the lines that part groups of context
	Total   int64  // bytes of the stream so far
	Shown   int64  // bytes of the stream in Text
	Omitted int64  // bytes of the stream that are not
	CutAt   int64  // offset in the stream of the first byte left out; Total when none is
	Gaps    []Gap  // where bytes are left out, in order
	Lost    int64  // those of the omitted bytes that were not kept and cannot be paged either
	Matched int64  // lines in which Grep's pattern was found, shown or not
	LineCut bool   // a line was too long to be shown whole
	Binary  bool   // Text is not valid UTF-8
}

// Gap is a place where bytes are left out.
type Gap struct {
	At     int   // where in Text
	Offset int64 // of the first byte left out
	Bytes  int64
}

// Apply shows what the budget asks for of what was written so far. Memory is bounded by MaxBytes and MaxLine. Errors
// are those of Validate, ErrClosed, and those of the disk.
func (b Budget) Apply(s *Spool) (View, error) {
	re, err := b.compile()
	if err != nil {
		return View{}, err
	}
	v, err := s.snapshot()
	if err != nil {
		return View{}, err
	}
	var w viewer
	limit := b.bytes(v.total)
	switch {
	case re != nil:
		err = w.grep(v, b, re, limit)
	case b.Head > 0 || b.Tail > 0:
		err = w.lines(v, b, limit)
	default:
		err = w.ends(v, min(b.From, v.total), limit)
	}
	if err != nil {
		return View{}, err
	}
	return w.done(v, min(b.From, v.total)), nil
}

// viewer puts a View together from pieces of the stream, in order.
type viewer struct {
	View
	at   int64 // where in the stream
	next int64 // where the line after the last one shown begins; of grep only
}

// piece shows the bytes from off on.
func (w *viewer) piece(off int64, p []byte) {
	if len(p) == 0 {
		return
	}
	w.skipTo(off)
	w.Text = append(w.Text, p...)
	w.Shown += int64(len(p))
	w.at = off + int64(len(p))
}

func (w *viewer) skipTo(off int64) {
	if off > w.at {
		w.Gaps = append(w.Gaps, Gap{At: len(w.Text), Offset: w.at, Bytes: off - w.at})
		w.at = off
	}
}

func (w *viewer) done(v *snapshot, from int64) View {
	w.skipTo(v.total)
	w.Total = v.total
	w.Omitted = v.total - from - w.Shown
	w.Lost = v.tailAt - v.kept
	w.CutAt = v.total
	if len(w.Gaps) > 0 {
		w.CutAt = w.Gaps[0].Offset
	}
	w.Binary = !utf8.Valid(w.Text)
	return w.View
}

// ends shows the first and the last bytes from an offset on.
func (w *viewer) ends(v *snapshot, from, limit int64) error {
	w.at = from
	if v.total-from <= limit && !v.gap() {
		p, err := v.read(from, v.total)
		w.piece(from, p)
		return err
	}
	kept, tailAt := v.kept, v.tailAt
	if !v.gap() {
		kept, tailAt = v.total, 0
	}
	h, t := share(max(0, kept-from), v.total-max(tailAt, from), limit)
	if h > 0 {
		head, err := v.borderBefore(from + h)
		if err != nil {
			return err
		}
		first, err := v.read(from, max(from, head))
		if err != nil {
			return err
		}
		w.piece(from, first)
	}
	tail, err := v.borderAfter(v.total - t)
	if err != nil {
		return err
	}
	last, err := v.read(tail, v.total)
	w.piece(tail, last)
	return err
}
