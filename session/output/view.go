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
		err = w.ends(v, limit)
	}
	if err != nil {
		return View{}, err
	}
	return w.done(v), nil
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

func (w *viewer) done(v *snapshot) View {
	w.skipTo(v.total)
	w.Total = v.total
	w.Omitted = v.total - w.Shown
	w.Lost = v.tailAt - v.kept
	w.CutAt = v.total
	if len(w.Gaps) > 0 {
		w.CutAt = w.Gaps[0].Offset
	}
	w.Binary = !utf8.Valid(w.Text)
	return w.View
}

// ends shows the first and the last bytes.
func (w *viewer) ends(v *snapshot, limit int64) error {
	if v.total <= limit && !v.gap() {
		p, err := v.read(0, v.total)
		w.piece(0, p)
		return err
	}
	kept, last := v.kept, v.total-v.tailAt
	if !v.gap() {
		kept, last = v.total, v.total
	}
	h, t := share(kept, last, limit)
	t = v.total - t
	h, err := v.borderBefore(h)
	if err != nil {
		return err
	}
	if t, err = v.borderAfter(t); err != nil {
		return err
	}
	head, err := v.read(0, h)
	if err != nil {
		return err
	}
	tail, err := v.read(t, v.total)
	w.piece(0, head)
	w.piece(t, tail)
	return err
}
