// Package censor takes secrets out of what one command prints and of its Result, for a reader who must not see them, or does
// not want to. Nothing in it is global.
package censor

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// flushAfter is the silence after which what is held back is shown as far as may be: it may be a question.
const flushAfter = 100 * time.Millisecond

// Censor is for one command.
type Censor struct {
	set      *redact.Set
	who      redact.Audience
	out, err *redact.Writer
	silence  *time.Timer
	kept     [2]*headTail // nil where nobody looks at the Result's output
}

// New returns a Censor whose writers pass on to these, which may be nil, without what who must not see. Its Result keeps as
// much of each stream as keep says; see session.Command.Keep. The command itself need keep nothing. Close it.
func New(set *redact.Set, who redact.Audience, stdout, stderr io.Writer, keep int) *Censor {
	c := &Censor{set: set, who: who}
	c.out = set.Writer(c.onto(0, stdout, keep), who)
	c.err = set.Writer(c.onto(1, stderr, keep), who)
	c.silence = time.AfterFunc(flushAfter, func() {
		_ = c.out.Flush() // an error comes again with the next bytes
		_ = c.err.Flush()
	})
	return c
}

// Writers take what the command prints. Each is used by one goroutine at a time.
func (c *Censor) Writers() (stdout, stderr io.Writer) {
	return awake{c.out, c.silence}, awake{c.err, c.silence}
}

// awake puts off what is to happen in silence.
type awake struct {
	io.Writer
	silence *time.Timer
}

func (a awake) Write(p []byte) (int, error) {
	n, err := a.Writer.Write(p)
	a.silence.Reset(flushAfter)
	return n, err
}

func (c *Censor) onto(i int, w io.Writer, keep int) io.Writer {
	if keep < 0 {
		if w == nil {
			return io.Discard
		}
		return w
	}
	if keep == 0 {
		keep = session.DefaultKeep
	}
	c.kept[i] = &headTail{limit: keep / 2}
	if w == nil {
		return c.kept[i]
	}
	return io.MultiWriter(w, c.kept[i])
}

// Close passes on what was held back, and says what was taken out. No bytes come any more; a flush that is under way
// ends before, and a later one finds closed writers.
func (c *Censor) Close() (counts redact.Counts) {
	c.silence.Stop()
	for _, w := range []*redact.Writer{c.out, c.err} {
		_ = w.Close() // the views take everything
		counts.Add(w.Counts())
	}
	return counts
}

// Result returns r without secrets, and says there what was taken out: of its output, which counts tells, and the rest.
func (c *Censor) Result(r session.Result, counts redact.Counts) session.Result {
	r.Redacted = map[string]int{}
	maps.Copy(r.Redacted, counts.Kinds)
	text := func(s string) string {
		clean, n := c.set.String(s, c.who)
		addKinds(r.Redacted, n)
		return clean
	}
	r.Command, r.Dir, r.Decision.Reason = text(r.Command), text(r.Dir), text(r.Decision.Reason)
	r.Refused = slices.Clone(r.Refused)
	for i, call := range r.Refused {
		r.Refused[i].Path, r.Refused[i].To = text(call.Path), text(call.To)
	}
	var n redact.Counts
	r.Stray, n = c.set.Bytes(r.Stray, c.who)
	addKinds(r.Redacted, n)
	if r.Err != nil {
		said := r.Err.Err.Error()
		if clean := text(said); clean != said {
			e := *r.Err
			e.Err = errors.New(clean)
			r.Err = &e
		}
	}
	if k := c.kept[0]; k != nil {
		r.Stdout, r.CutStdout, r.OmittedStdout = k.bytes()
	}
	if k := c.kept[1]; k != nil {
		r.Stderr, r.CutStderr, r.OmittedStderr = k.bytes()
	}
	return r
}

func addKinds(to map[string]int, counts redact.Counts) {
	for kind, n := range counts.Kinds {
		to[kind] += n
	}
}

// headTail keeps the first and the last bytes of a stream.
type headTail struct {
	limit      int // of each
	head, tail []byte
	total      int64
}

func (k *headTail) Write(p []byte) (int, error) {
	n := len(p)
	k.total += int64(n)
	if room := min(k.limit-len(k.head), len(p)); room > 0 {
		k.head = append(k.head, p[:room]...)
		p = p[room:]
	}
	k.tail = append(k.tail, p[max(0, len(p)-k.limit):]...)
	if len(k.tail) > 2*k.limit { // now and then, so that it costs little
		k.tail = append(k.tail[:0], k.tail[len(k.tail)-k.limit:]...)
	}
	return n, nil
}

// bytes returns what is kept, the offset of the cut and how much is left out there. The cut falls between characters.
func (k *headTail) bytes() (kept []byte, cut, omitted int64) {
	head, tail := k.head, k.tail[max(0, len(k.tail)-k.limit):]
	if k.total > int64(len(head)+len(tail)) {
		for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
			tail = tail[1:]
		}
		for i := 1; i <= min(utf8.UTFMax-1, len(head)); i++ {
			if c := head[len(head)-i]; utf8.RuneStart(c) {
				if !utf8.FullRune(head[len(head)-i:]) {
					head = head[:len(head)-i]
				}
				break
			}
		}
	}
	return bytes.Join([][]byte{head, tail}, nil), int64(len(head)), k.total - int64(len(head)+len(tail))
}
