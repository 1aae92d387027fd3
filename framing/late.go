package framing

import "bytes"

// hold returns what of a record's piece is surely the record's, and keeps the rest for the next piece. A supervisor that is
// killed while it writes a record leaves the shell behind, which says farewell past it, on the terminal: then the stream ends in a
// record that is not whole and ends with a farewell.
func (d *Decoder) hold(p []byte, last bool) []byte {
	if len(d.late) > 0 {
		p = append(d.late, p...)
		d.late = nil
	}
	if last || d.quiet {
		return p
	}
	for i := 0; ; i++ {
		j := bytes.IndexByte(p[i:], rs)
		if j < 0 {
			return p
		}
		if i += j; d.mayBeFarewell(p[i:]) {
			d.late = bytes.Clone(p[i:])
			return p[:i]
		}
	}
}

// mayBeFarewell reports whether p is a farewell or the beginning of one.
func (d *Decoder) mayBeFarewell(p []byte) bool {
	n := min(len(p), markLen)
	for i := 1; i < n; i++ {
		if i <= TokenLen && p[i] != d.out.nonce[i-1] || i > TokenLen && p[i] != 'C' {
			return false
		}
	}
	if len(p) > maxField {
		return false
	}
	for rest := p[n:]; ; {
		i := bytes.IndexByte(rest, rs)
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
		if bytes.HasPrefix(rest, d.out.nonce[:]) && len(rest) > TokenLen && rest[TokenLen] == 'c' {
			return len(rest) == TokenLen+1
		}
	}
}
