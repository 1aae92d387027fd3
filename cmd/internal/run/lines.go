package run

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// maxLine is the length from which a line is broken, so that a host that never ends one costs no memory.
const maxLine = 64 << 10

// lines writes what one stream of one host prints as whole lines with a prefix, so that lines of several hosts never mix.
// It is used by one goroutine at a time.
type lines struct {
	dst    io.Writer  // takes any number of whole lines in one Write
	prefix string     // before a line
	cont   string     // before the rest of a line that was broken
	shown  bool       // on a terminal: control characters are shown, not obeyed
	width  func() int // of the terminal, where control characters are shown; nil means that lines are not broken

	buf    []byte // the line that has no end yet
	broken bool   // its beginning has been written
}

// Write takes the next piece of the stream. The error is that of dst.
func (l *lines) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	var out []byte
	rest := l.buf
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 && len(rest) <= maxLine {
			break
		}
		if i < 0 || i > maxLine {
			n := l.piece(rest)
			out = l.line(out, rest[:n])
			rest = rest[n:]
			l.broken = true
			continue
		}
		out = l.line(out, rest[:i])
		rest = rest[i+1:]
		l.broken = false
	}
	l.buf = append(l.buf[:0], rest...)
	if len(out) == 0 {
		return len(p), nil
	}
	_, err := l.dst.Write(out)
	return len(p), err
}

// Flush ends a last line that has no end.
func (l *lines) Flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	out := l.line(nil, l.buf)
	l.buf, l.broken = nil, false
	_, err := l.dst.Write(out)
	return err
}

func (l *lines) line(out, text []byte) []byte {
	if l.shown {
		r := rows{prefix: l.prefix, cont: l.cont}
		if l.width != nil {
			r.width = l.width()
		}
		return r.append(out, text, l.broken)
	}
	if l.broken {
		out = append(out, l.cont...)
	} else {
		out = append(out, l.prefix...)
	}
	return append(append(out, text...), '\n')
}

// piece is how much of a line that is too long is written at a time. On a terminal it ends with a character: half of one
// would be shown as what it is not.
func (l *lines) piece(text []byte) int {
	n := maxLine
	for l.shown && n > maxLine-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
