package registry

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// View is what one reader sees of a command: the Result with its output as a budget shows it. All counts and offsets are
// those of the redacted text.
type View struct {
	Result         session.Result
	Stdout, Stderr output.View
	Redacted       redact.Counts // what was taken out, also of the command, late output and messages
}

// Budgets say what is wanted of each stream.
type Budgets struct{ Stdout, Stderr output.Budget }

// View gives the Result as it is now: final once Done is closed, else with the output so far.
func (x *Exec) View(b Budgets) (View, error) {
	var v View
	over := !x.Running() // asked first, so that a final Result has all the output
	v.Result = x.sx.Result()
	if !over && v.Result.State == session.Done {
		v.Result = x.unfinished(v.Result)
	}
	var err error
	if v.Stdout, err = b.Stdout.Apply(x.stdout.spool); err != nil {
		return v, x.viewError(err)
	}
	if v.Stderr, err = b.Stderr.Apply(x.stderr.spool); err != nil {
		return v, x.viewError(err)
	}
	r := &v.Result
	r.Stdout, r.StdoutBytes, r.OmittedStdout, r.CutStdout = v.Stdout.Text, v.Stdout.Total, v.Stdout.Omitted, v.Stdout.CutAt
	r.Stderr, r.StderrBytes, r.OmittedStderr, r.CutStderr = v.Stderr.Text, v.Stderr.Total, v.Stderr.Omitted, v.Stderr.CutAt
	v.Redacted.Add(x.stdout.red.Counts())
	v.Redacted.Add(x.stderr.red.Counts())
	x.clean(&v)
	return v, nil
}

// unfinished is the Result of a command that ended a moment ago, and whose output is not complete here yet.
func (x *Exec) unfinished(r session.Result) session.Result {
	<-x.done // soon: nothing but our own work stands between
	return r
}

// clean takes the secrets out of what is not output.
func (x *Exec) clean(v *View) {
	set, who := x.secrets(), x.audience()
	if r := &v.Result; r.State == session.AwaitingApproval || r.Err != nil && !r.Err.Sent { // it has taught nothing
		set = set.With(x.cmd.Script)
	}
	text := func(s string) string {
		if s == "" {
			return s
		}
		clean, n := set.String(s, who)
		v.Redacted.Add(n)
		return clean
	}
	r := &v.Result
	r.Command, r.Dir, r.Decision.Reason = text(r.Command), text(r.Dir), text(r.Decision.Reason)
	if len(r.Stray) > 0 {
		var n redact.Counts
		r.Stray, n = set.Bytes(r.Stray, who)
		v.Redacted.Add(n)
	}
	if r.Err != nil {
		if msg := r.Err.Err.Error(); msg != "" {
			if clean := text(msg); clean != msg {
				e := *r.Err
				e.Err = textError{clean, r.Err.Err}
				r.Err = &e
			}
		}
	}
}

// textError is an error with another text.
type textError struct {
	text string
	err  error
}

func (e textError) Error() string { return e.text }
func (e textError) Unwrap() error { return e.err }

// The streams of a command.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Page returns at most limit bytes of a stream from an offset on, see output.Spool.Page.
func (x *Exec) Page(stream string, offset int64, limit int) (output.Page, error) {
	s := x.stdout
	switch stream {
	case Stdout, "":
	case Stderr:
		s = x.stderr
	default:
		return output.Page{}, fault("page", x.e.Host().Name, CodeInvalid, false, "%.40q is not a stream: stdout or stderr", stream)
	}
	p, err := s.spool.Page(offset, limit)
	if err != nil {
		return p, x.viewError(err)
	}
	return p, nil
}

// Printed is how many bytes there are of standard output so far: a place to wait from, see Wait.
func (x *Exec) Printed() int64 { return x.stdout.spool.Total() }

func (x *Exec) viewError(err error) error {
	x.mu.Lock()
	gone := x.gone
	x.mu.Unlock()
	if gone {
		return fault("page", x.e.Host().Name, CodeGone, false, "the output of %s is not kept any more", x.ID())
	}
	return fault("page", x.e.Host().Name, CodeInvalid, false, "%w", err)
}

// Screen draws the terminal of an interactive command.
func (x *Exec) Screen() (screen.View, error) {
	if x.screen == nil {
		return screen.View{}, fault("screen", x.e.Host().Name, CodeInvalid, false, "%s is not interactive: it has no screen", x.ID())
	}
	return x.screen.Render(), nil
}

// tailBytes is how much of an output's end is looked at for a prompt.
const tailBytes = 4 << 10

// Waiting says what a running command seems to wait for; the zero value once it has ended.
func (x *Exec) Waiting() screen.Waiting {
	if !x.Running() {
		return screen.Waiting{}
	}
	_, last := x.changed()
	silence := time.Since(last)
	if x.screen != nil {
		return x.screen.Watch(silence, false)
	}
	w := screen.Recognise(screen.Look{Tail: tail(x.stdout.spool), Silence: silence})
	if w.Kind != screen.Password {
		if e := screen.Recognise(screen.Look{Tail: tail(x.stderr.spool), Silence: silence}); e.Kind == screen.Password {
			return e
		}
	}
	return w
}

func tail(s *output.Spool) []byte {
	b := make([]byte, tailBytes)
	from := max(0, s.Total()-tailBytes)
	n, _ := s.ReadAt(b, from)
	return b[:n]
}

// Sum is a hash of all a stream's kept bytes and of how many there were, to find equal outputs.
func (x *Exec) Sum(stream string) ([sha256.Size]byte, error) {
	h := sha256.New()
	var at int64
	for {
		p, err := x.Page(stream, at, 64<<10)
		if err != nil {
			return [sha256.Size]byte{}, err
		}
		h.Write(p.Text)
		if p.Skipped > 0 || p.End || len(p.Text) == 0 {
			fmt.Fprintf(h, "\x00%d", p.Skipped)
		}
		if p.End || len(p.Text) == 0 {
			return [sha256.Size]byte(h.Sum(nil)), nil
		}
		at = p.Next
	}
}

// Redact takes secrets out of a text that is not output.
func (r *Registry) Redact(text string) (string, redact.Counts) {
	return r.cfg.Secrets.String(text, r.cfg.Audience)
}
