package redact

import "bytes"

// Bytes returns b without its secrets, and what was taken out. It does not keep b.
func (s *Set) Bytes(b []byte, who Audience) ([]byte, Counts) {
	var out bytes.Buffer
	out.Grow(len(b))
	w := s.Writer(&out, who)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes(), w.counts
}

// String is [Set.Bytes] for text.
func (s *Set) String(text string, who Audience) (string, Counts) {
	b, c := s.Bytes([]byte(text), who)
	return string(b), c
}
