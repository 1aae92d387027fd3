package output

// ring holds the last size bytes written to it. It takes no memory before the first.
type ring struct {
	size int
	buf  []byte
	at   int // where the oldest byte is, once buf is full
}

func (r *ring) write(p []byte) {
	if len(p) >= r.size {
		r.buf, r.at = append(r.buf[:0], p[len(p)-r.size:]...), 0
		return
	}
	n := min(r.size-len(r.buf), len(p))
	r.buf = append(r.buf, p[:n]...)
	for p = p[n:]; len(p) > 0; {
		n = copy(r.buf[r.at:], p)
		r.at = (r.at + n) % r.size
		p = p[n:]
	}
}

// bytes returns a copy, oldest first.
func (r *ring) bytes() []byte {
	if len(r.buf) == 0 {
		return nil
	}
	p := make([]byte, 0, len(r.buf))
	return append(append(p, r.buf[r.at:]...), r.buf[:r.at]...)
}
