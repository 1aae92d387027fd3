package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// lines reads a file line by line and knows where it is.
type lines struct {
	br  *bufio.Reader
	off int64 // where the next line begins
	num int   // its number, from 1
	buf []byte
}

func newLines(r io.Reader, off int64) *lines {
	return &lines{br: bufio.NewReaderSize(r, 64<<10), off: off, num: 1}
}

// next returns one line with its newline, and its offset and number. A last line without newline comes as it is, a line
// longer than any record in pieces. At the end the error is io.EOF.
func (l *lines) next() (raw []byte, off int64, num int, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.br.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		if len(l.buf) == 0 && err != nil {
			return nil, l.off, l.num, err
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return nil, l.off, l.num, err
		}
		if errors.Is(err, bufio.ErrBufferFull) && len(l.buf) < maxLine {
			continue
		}
		off, num = l.off, l.num
		l.off += int64(len(l.buf))
		if err == nil {
			l.num++
		}
		return l.buf, off, num, nil
	}
}

// chain walks over the lines of one or more files and knows what the next one must be.
type chain struct {
	k     *keys
	count uint64
	hash  [sha256.Size]byte
	junk  *junk // set while behind a line that does not belong
}

// junk is a stretch of lines that do not continue the chain. It is forgiven if a seal follows.
type junk struct {
	from  int64
	bytes int64
	line  int
	kind  ProblemKind
	text  string
	sum   hash.Hash
	alien int // the first line that no crash leaves, from 1; 0 where there is none
}

// edited is the problem with a stretch that is more than what a crash leaves.
const edited = "this was added behind the end of the audit log by something else than Fairlead: it is not an entry, and not what a crash leaves"

// take judges the next line. ok means that it continues the chain; sealed is the stretch it closes, if any.
func (c *chain) take(raw []byte, off int64, num int) (l line, sealed *junk, ok bool) {
	l, sum, kind, text := c.check(raw)
	if kind == "" && (c.junk == nil || c.junk.sealedBy(l)) {
		sealed, c.junk = c.junk, nil
		c.count, c.hash = l.seq, sum
		return l, sealed, true
	}
	if c.junk == nil {
		c.junk = &junk{from: off, line: num, kind: kind, text: text, sum: sha256.New()}
	}
	if c.junk.alien == 0 && !c.tornLine(raw) {
		c.junk.alien = num
	}
	c.junk.sum.Write(raw)
	c.junk.bytes += int64(len(raw))
	return l, nil, false
}

func (c *chain) check(raw []byte) (l line, sum [sha256.Size]byte, kind ProblemKind, text string) {
	l, ok := parseLine(raw)
	if !ok {
		return l, sum, Edited, "this line is not a whole entry"
	}
	sum, ok = c.k.checkMAC(l)
	switch want := c.count + 1; {
	case !ok:
		return l, sum, Edited, "this entry was changed after it was written: its MAC does not match"
	case l.seq > want:
		return l, sum, Gap, fmt.Sprintf("%s missing before this entry, which is number %d", span(want, l.seq-1), l.seq)
	case l.seq < want:
		return l, sum, Reordered, misplaced(l.seq, want)
	case !isHex(l.prev, c.hash):
		return l, sum, Edited, fmt.Sprintf("entry %d does not follow the entry before it: that one is from another chain", l.seq)
	}
	return l, sum, "", ""
}

func (j *junk) sealedBy(l line) bool {
	var e struct {
		Kind Kind `json:"kind"`
		Torn Torn `json:"torn"`
	}
	if json.Unmarshal(closed(l), &e) != nil || e.Kind != ChainSeal {
		return false
	}
	return e.Torn == Torn{Offset: j.from, Bytes: j.bytes, SHA256: hex.EncodeToString(j.sum.Sum(nil))}
}

// closed is the whole JSON object of a line.
func closed(l line) []byte { return l.body[: len(l.body)+macLen : len(l.body)+macLen] }

func span(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("entry %d is", from)
	}
	return fmt.Sprintf("entries %d to %d are", from, to)
}

func misplaced(seq, want uint64) string {
	return fmt.Sprintf("entry %d is where entry %d belongs", seq, want)
}
