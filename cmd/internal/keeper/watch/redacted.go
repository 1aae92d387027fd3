package watch

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// passage is an output on its way to a reader who must not see its secrets, whoever its first reader is.
type passage struct {
	set     *redact.Set
	name    string
	at      int64 // of the output, what has been taken
	red     *redact.Writer
	held    bool   // red may hold something back that a silence shows
	blind   bool   // after a gap, until the end of the line: it may be the rest of a secret
	over    bool   // nothing more comes
	behind  bool   // there is more that could be taken
	buf     []byte // is decided
	skipped int64  // bytes before buf that were left out
}

func (ws *Watching) passage(name string) *passage {
	p := &passage{set: ws.Secrets, name: name}
	p.red = p.set.Writer(decided{p}, redact.Guarded)
	return p
}

// decided takes what redaction lets through.
type decided struct{ p *passage }

func (d decided) Write(b []byte) (int, error) {
	p := d.p
	p.buf = append(p.buf, b...)
	return len(b), nil
}

// add takes the next bytes.
func (p *passage) add(b []byte) {
	if p.blind {
		i := bytes.IndexByte(b, '\n') + 1
		if p.blind = i == 0; p.blind {
			i = len(b)
		}
		p.skipped += int64(i)
		b = b[i:]
	}
	if len(b) > 0 {
		_, _ = p.red.Write(b) // which never fails: decided does not
		p.held = true
	}
}

// take takes what there is of a command's output; of one that comes faster than it is taken, a good deal. All of it passes
// redaction, also what nobody will see, since a secret may begin there.
func (p *passage) take(ctx context.Context, x *registry.Exec) error {
	for end := p.at + maxTaken; ctx.Err() == nil; {
		page, err := x.Page(p.name, p.at, route.DefaultPage)
		if err != nil {
			return err
		}
		p.at = page.Next
		if page.Skipped > 0 {
			// What was held back is left out with what it led to.
			p.skipped += page.Skipped + int64(len(p.buf))
			p.red, p.buf, p.blind = p.set.Writer(decided{p}, redact.Guarded), p.buf[:0], true
		}
		p.add(page.Text)
		if len(p.buf) > 2*maxBacklog {
			p.trim(maxBacklog)
		}
		if page.End || len(page.Text) == 0 {
			p.behind = false
			return nil
		}
		if p.behind = p.at >= end && x.Running(); p.behind {
			return nil
		}
	}
	return context.Cause(ctx)
}

// hush shows what is held back as far as may be.
func (p *passage) hush() {
	_ = p.red.Flush()
	p.held = false
}

// finish shows all that is held back: the output is over.
func (p *passage) finish() {
	_ = p.red.Close()
	p.over = true
}

// trim leaves out all but the last bytes, from the beginning of a character on.
func (p *passage) trim(most int) {
	n := len(p.buf) - most
	if n <= 0 {
		return
	}
	for i := 0; i < utf8.UTFMax && n < len(p.buf) && !utf8.RuneStart(p.buf[n]); i++ {
		n++
	}
	p.skipped += int64(n)
	p.buf = p.buf[:copy(p.buf, p.buf[n:])]
}

// piece is how many bytes are sent next: whole characters, as far as they can be told.
func (p *passage) piece() int {
	n := min(len(p.buf), stream.ChunkBytes)
	if p.over && n == len(p.buf) {
		return n
	}
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(p.buf[n-back]) {
			if !utf8.FullRune(p.buf[n-back : n]) {
				return n - back
			}
			break
		}
	}
	return n
}
