package shell

import (
	"bytes"
	"io"
	"time"
)

// queries notices when output asks the terminal something. Answers come in as if they were typed, perhaps after the shell
// there has ended, and must then not be typed at the shell here. It errs on the side of seeing a query where there is none.
type queries struct {
	last time.Time // when something was asked; zero if nothing was

	in   byte // 0, or what a sequence has begun with: ESC, '[' for CSI, ']' for strings that ST or BEL ends
	mark bool // the sequence holds what only queries hold
}

// see looks at the next piece of output (ECMA-48, and xterm's ctlseqs for which sequences ask).
func (q *queries) see(p []byte, now time.Time) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch q.in {
		case 0:
			next := bytes.IndexAny(p[i:], "\x1b\x05")
			if next < 0 {
				return
			}
			i += next
			if p[i] == 0x05 { // ENQ
				q.last = now
				continue
			}
			q.in, q.mark = 0x1b, false
		case 0x1b:
			switch c {
			case '[':
				q.in = '['
			case ']', 'P':
				q.in = ']'
			case 0x1b:
			default:
				if c == 'Z' { // DECID
					q.last = now
				}
				q.in = 0
			}
		case '[':
			switch {
			case c == 'n', c == 'c', c == 't', c == 'x', q.mark && (c == 'p' || c == 'u'):
				q.last, q.in = now, 0
			case c == '$', c == '?':
				q.mark = true
			case c == 0x1b:
				q.in, q.mark = 0x1b, false
			case c >= 0x40:
				q.in = 0
			}
		case ']':
			switch c {
			case '?', 'q':
				q.mark = true
			case 0x07, 0x1b:
				if q.mark {
					q.last = now
				}
				q.in, q.mark = 0, false
				if c == 0x1b {
					q.in = 0x1b
				}
			}
		}
	}
}

// How long ago a query may have been that is not answered yet, and how long an answer is awaited.
const (
	queryAge   = 2 * time.Second
	answerWait = 300 * time.Millisecond
)

// primaryDA asks a terminal what it is. Terminals answer in order, so its answer is the last of all: ESC [ ? … c.
const primaryDA = "\x1b[c"

// settle waits until the terminal has answered what it was asked, and throws the answers away. It asks one thing more, to
// know which answer is the last.
func (q *queries) settle(t *terminal, out io.Writer, now time.Time) {
	if q.last.IsZero() || now.Sub(q.last) > queryAge || !t.isRaw() {
		return
	}
	if _, err := io.WriteString(out, primaryDA); err != nil {
		return
	}
	end := now.Add(answerWait)
	var seen []byte
	buf := make([]byte, 256)
	for {
		n, err := t.readFor(buf, time.Until(end))
		if err != nil {
			return
		}
		seen = append(seen, buf[:n]...)
		if i := bytes.LastIndex(seen, []byte("\x1b[?")); i >= 0 && bytes.IndexByte(seen[i:], 'c') > 0 {
			return
		}
		seen = seen[max(0, len(seen)-len(buf)):]
	}
}
