// Package capture keeps the first and the last bytes of a stream.
package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"unicode/utf8"
)

// Capture keeps the first and the last bytes of a stream, and counts all. The zero value counts, and keeps nothing. It is for
// one goroutine at a time.
type Capture struct {
	head  []byte
	tail  []byte // a ring once it is full
	at    int    // where the ring's oldest byte is
	limit int    // of each half
	total int64
	sum   hash.Hash // of all; nil where nobody wants to know
}

// Limit says how many bytes are kept of each end. It is called before the first Write.
func (c *Capture) Limit(n int) { c.limit = n }

// Total is how many bytes came.
func (c *Capture) Total() int64 { return c.total }

// Sum adds up the bytes that come from now on.
func (c *Capture) Sum() {
	if c.sum == nil {
		c.sum = sha256.New()
	}
}

// Digest is the SHA-256 of all that came, in hexadecimal; "" where nothing came, or nobody has asked for the Sum.
func (c *Capture) Digest() string {
	if c.sum == nil {
		return ""
	}
	var b [sha256.Size]byte
	return hex.EncodeToString(c.sum.Sum(b[:0]))
}

// Head is the beginning, as far as it is kept. It is only valid until the next Write.
func (c *Capture) Head() []byte { return c.head }

// Write takes what comes next.
func (c *Capture) Write(p []byte) {
	c.total += int64(len(p))
	if c.sum != nil {
		c.sum.Write(p)
	}
	if n := min(c.limit-len(c.head), len(p)); n > 0 {
		c.head = append(c.head, p[:n]...)
		p = p[n:]
	}
	if len(p) == 0 || c.limit == 0 {
		return
	}
	if len(p) >= c.limit {
		c.tail = append(c.tail[:0], p[len(p)-c.limit:]...)
		c.at = 0
		return
	}
	if n := min(c.limit-len(c.tail), len(p)); n > 0 {
		c.tail = append(c.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(c.tail[c.at:], p)
		c.at = (c.at + n) % c.limit
		p = p[n:]
	}
}

// Bytes returns what is kept as one slice, the offset of the cut and the count of what is left out there. The cut falls
// between characters where the stream is UTF-8.
func (c *Capture) Bytes() (kept []byte, cut, omitted int64) {
	omitted = c.total - int64(len(c.head)) - int64(len(c.tail))
	tail := c.tail
	if c.at > 0 {
		tail = append(append(make([]byte, 0, len(tail)), tail[c.at:]...), tail[:c.at]...)
	}
	head := c.head
	if omitted > 0 {
		h, t := wholeAtEnd(head), wholeAtStart(tail)
		omitted += int64(len(head) - len(h) + len(tail) - len(t))
		head, tail = h, t
	}
	cut = int64(len(head))
	if len(tail) == 0 {
		return head[:len(head):len(head)], cut, omitted
	}
	return append(head[:len(head):len(head)], tail...), cut, omitted
}

// wholeAtEnd drops a character that p's end cuts.
func wholeAtEnd(p []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(p)); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-i:]) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// wholeAtStart drops the rest of a character that p's start cuts.
func wholeAtStart(p []byte) []byte {
	for i := range min(utf8.UTFMax, len(p)) {
		if utf8.RuneStart(p[i]) {
			return p[i:]
		}
	}
	if len(p) < utf8.UTFMax { // nothing but such a rest
		return nil
	}
	return p
}
