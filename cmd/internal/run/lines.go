package run

import (
	"bytes"
	"io"
)

// maxLine is the length from which a line is broken, so that a host that never ends one costs no memory.
const maxLine = 64 << 10

// lines writes what one stream of one host prints as whole lines with a prefix, so that lines of several hosts never mix.
// It is used by one goroutine at a time.
type lines struct {
	dst    io.Writer // takes any number of whole lines in one Write
	prefix string    // before a line
	cont   string    // before the rest of a line that was broken
	shown  bool      // on a terminal: control characters are shown, not obeyed

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
			out = l.line(out, rest[:maxLine])
			rest = rest[maxLine:]
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
	if l.broken {
		out = append(out, l.cont...)
	} else {
		out = append(out, l.prefix...)
	}
	if l.shown {
		out = appendShown(out, text)
	} else {
		out = append(out, text...)
	}
	return append(out, '\n')
}

// appendShown appends a line for a terminal. Colours stay; every other control sequence is spelled out, because with it a
// host could write over the names of others.
func appendShown(out, text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte("\r"))
	colored := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == 0x1b:
			if n := sgr(text[i:]); n > 0 {
				out = append(out, text[i:i+n]...)
				i += n - 1
				colored = true
				continue
			}
			out = append(out, "^["...)
		case c < ' ' && c != '\t':
			out = append(out, '^', c+'@')
		case c == 0x7f:
			out = append(out, "^?"...)
		case c == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] < 0xa0:
			// C1 in UTF-8: some terminals obey it.
			out = append(out, '^', '[', text[i+1]-0x40)
			i++
		default:
			out = append(out, c)
		}
	}
	if colored {
		out = append(out, "\x1b[0m"...)
	}
	return out
}

// sgr returns the length of the sequence that sets colours at the beginning of p; 0 if there is none.
func sgr(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
