package redact

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// ErrClosed is returned by [Writer.Write] after [Writer.Close].
var ErrClosed = errors.New("redact: writer is closed")

// Writer takes secrets out of what is written to it and passes the rest on. What it passes on does not depend on how the
// input is cut into writes. It may be used from many goroutines; they wait for each other, also while the underlying
// writer is busy.
type Writer struct {
	mu     sync.Mutex
	set    *Set
	who    Audience
	to     io.Writer
	known  exact
	coded  encoded
	looks  pattern
	counts Counts
	err    error
}

// Writer returns a Writer to w for an audience. Closing it does not close w.
func (s *Set) Writer(w io.Writer, who Audience) *Writer {
	x := &Writer{set: s, who: who, to: w}
	x.known = exact{in: &search{}, note: &x.counts}
	x.coded = encoded{key: s.key, note: &x.counts}
	x.looks = pattern{book: rulebook(), key: s.key, note: &x.counts}
	return x
}

// Write takes the next bytes. It passes on what is certain, in at most one write, and keeps the rest. An error of the
// underlying writer is returned by this and all later calls.
func (x *Writer) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		return 0, x.err
	}
	x.known.use(x.set.search(x.who))
	b := x.known.feed(p)
	if x.who == Guarded {
		b = x.coded.feed(x.looks.feed(b))
	}
	if err := x.pass(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush passes on what is held back, because the source has fallen silent and somebody waits to see it. These stay held:
// the start of a known secret, if it is 4 bytes or longer; what would be taken out if the text ended here; and the
// start of a token. The price of a Flush in the middle of a secret that no one knows yet is that its first part shows.
func (x *Writer) Flush() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		return x.err
	}
	x.known.use(x.set.search(x.who))
	b := x.known.silence()
	if x.who != Guarded {
		return x.pass(b)
	}
	if len(b) > 0 {
		if err := x.pass(x.coded.feed(x.looks.feed(b))); err != nil {
			return err
		}
	}
	if err := x.pass(x.coded.feed(x.looks.silence())); err != nil {
		return err
	}
	return x.pass(x.coded.silence())
}

// Close passes on all that is held back: the text is over. A second Close does nothing.
func (x *Writer) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if errors.Is(x.err, ErrClosed) {
		return nil
	}
	if x.err != nil {
		return x.err
	}
	x.known.use(x.set.search(x.who))
	err := x.finish()
	if err == nil {
		x.err = ErrClosed
	}
	return err
}

func (x *Writer) finish() error {
	b := x.known.finish()
	if x.who != Guarded {
		return x.pass(b)
	}
	if err := x.pass(x.coded.feed(x.looks.feed(b))); err != nil {
		return err
	}
	if err := x.pass(x.coded.feed(x.looks.finish())); err != nil {
		return err
	}
	return x.pass(x.coded.finish())
}

// Counts returns what was taken out so far.
func (x *Writer) Counts() Counts {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.counts.clone()
}

func (x *Writer) pass(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := x.to.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	x.err = err
	return err
}

// Idle reports whether nothing is held back and nothing goes on that is being taken out: what comes next is redacted by a
// new Writer as it is by this one, but for what names before it say.
func (x *Writer) Idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	k, l := &x.known, &x.looks
	return len(k.held) == 0 && len(k.out) == 0 && k.open.of == nil && max(k.shown, k.skip) <= k.base && x.coded.idle() && len(l.data) == 0 && l.in == nil && l.next == nil
}

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
