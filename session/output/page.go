package output

import "unicode/utf8"

// Page is a piece of a stream.
type Page struct {
	Text    []byte
	Offset  int64 // of Text's first byte
	Next    int64 // where to go on
	Skipped int64 // bytes between the offset that was asked for and Offset that were not kept
	End     bool  // nothing comes after this page, now or later
}

// Page returns at most limit bytes (but always a whole character) from offset on, cut back to the border of a
// character. While the stream is still written, a character that has come in part is left for the next page. Pages
// from zero to the End, laid end to end, are the kept bytes. An offset past the end gives an empty page there.
func (s *Spool) Page(offset int64, limit int) (Page, error) {
	v, err := s.snapshot()
	if err != nil {
		return Page{}, err
	}
	p := Page{Offset: min(max(offset, 0), v.total)}
	end := v.total
	if v.gap() {
		switch {
		case p.Offset < v.kept:
			end = v.kept
		case p.Offset < v.tailAt:
			p.Skipped = v.tailAt - p.Offset
			p.Offset = v.tailAt
		}
	}
	limit = max(limit, 1)
	if int64(limit) < end-p.Offset-utf8.UTFMax {
		end = p.Offset + int64(limit) + utf8.UTFMax
	}
	if p.Text, err = v.read(p.Offset, end); err != nil {
		return Page{}, err
	}
	open := !v.finished && p.Offset+int64(len(p.Text)) == v.total
	n := cutPage(p.Text, limit, open)
	p.Text = p.Text[:n:n]
	p.Next = p.Offset + int64(n)
	p.End = v.finished && p.Next == v.total
	return p, nil
}

// cutPage says how many bytes of p make a page. open says that more may follow p.
func cutPage(p []byte, limit int, open bool) int {
	if len(p) <= limit {
		if !open {
			return len(p)
		}
		back, _ := inside(p, nil)
		return len(p) - back
	}
	back, forth := inside(p[:limit], p[limit:])
	switch {
	case back == 0:
		return limit
	case back < limit:
		return limit - back
	case open && !utf8.FullRune(p):
		return 0
	default:
		return limit + forth
	}
}
