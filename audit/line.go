package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

const (
	prevMark = `,"prev":"`
	macMark  = `,"mac":"`
	hexLen   = 2 * sha256.Size
	prevLen  = len(prevMark) + hexLen + len(`"`)
	macLen   = len(macMark) + hexLen + len(`"}`)

	// maxLine bounds a record with its newline, and with it what a reader ever holds.
	maxLine = 16 << 20
)

// line is a record taken apart without decoding it; the slices point into the line.
type line struct {
	seq  uint64
	body []byte
	prev []byte
	mac  []byte
}

// parseLine takes apart one line with its newline. It checks the form only, never who wrote it.
func parseLine(raw []byte) (l line, ok bool) {
	n := len(raw) - 1
	if n < prevLen+macLen || raw[n] != '\n' {
		return line{}, false
	}
	body, tail := raw[:n-macLen], raw[n-macLen:n]
	mac, ok := between(tail, macMark, `"}`)
	if !ok {
		return line{}, false
	}
	prev, ok := between(body[len(body)-prevLen:], prevMark, `"`)
	if !ok {
		return line{}, false
	}
	rest, ok := bytes.CutPrefix(body, []byte(`{"v":`))
	if !ok {
		return line{}, false
	}
	if _, rest, ok = cutNumber(rest); !ok {
		return line{}, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`)); !ok {
		return line{}, false
	}
	seq, _, ok := cutNumber(rest)
	return line{seq: seq, body: body, prev: prev, mac: mac}, ok
}

func between(b []byte, open, end string) ([]byte, bool) {
	if !bytes.HasPrefix(b, []byte(open)) || !bytes.HasSuffix(b, []byte(end)) {
		return nil, false
	}
	return b[len(open) : len(b)-len(end)], true
}

// cutNumber reads the decimal digits at the start of b.
func cutNumber(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && i < 19 && b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + uint64(b[i]-'0')
	}
	return n, b[i:], i > 0
}

// signLine ends the record whose body begins at b[from:], and returns its hash.
func (k *keys) signLine(b []byte, from int) ([]byte, [sha256.Size]byte) {
	k.sum = sha256.Sum256(b[from:])
	b = append(b, macMark...)
	b = k.appendMAC(b, k.record, k.sum[:])
	b = append(b, '"', '}', '\n')
	return b, k.sum
}

// checkMAC reports whether l was written with this key, and gives its hash. The hexadecimal text is compared, not what
// it decodes to: there is one right spelling.
func (k *keys) checkMAC(l line) (sum [sha256.Size]byte, ok bool) {
	k.sum = sha256.Sum256(l.body)
	var text [hexLen]byte
	return k.sum, hmac.Equal(k.appendMAC(text[:0], k.record, k.sum[:]), l.mac)
}

func isHex(text []byte, sum [sha256.Size]byte) bool {
	var want [hexLen]byte
	hex.Encode(want[:], sum[:])
	return bytes.Equal(text, want[:])
}
