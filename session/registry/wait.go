package registry

import (
	"context"
	"regexp"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/output"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// Wait says what to wait for besides the command's end.
type Wait struct {
	// Pattern is searched in what comes on Stream from the offset From on, control sequences taken out. Any is enough of
	// a pattern for any byte there.
	Pattern *regexp.Regexp
	Any     bool
	Stream  string // Stdout or Stderr; "" means Stdout
	From    int64
	// Silence is how long nothing came, counted from the call at the earliest. Zero means not to wait for that.
	Silence time.Duration
	// Prompt waits until the program seems to wait itself: for a line, a password, a key.
	Prompt bool
	// Typed is what was typed before, nil for nothing: that it was refused wakes, also when it came before the call.
	Typed *session.Typing
}

// Wake says why WaitFor returned.
type Wake string

// The reasons.
const (
	WokeEnd     Wake = "end"
	WokeMatch   Wake = "match"
	WokeSilence Wake = "silence"
	WokePrompt  Wake = "prompt"
	WokeRefused Wake = "refused" // what waited for an approval was not typed
	WokeTime    Wake = "time"    // ctx ended first
)

// Output that comes in many small pieces is looked at in larger ones.
const gather = 10 * time.Millisecond

// promptAt are the silences after which a prompt is looked for; see screen.Look.
var promptAt = []time.Duration{screen.DefaultSettle, 5 * screen.DefaultSettle, screen.DefaultSilentAfter}

// WaitFor waits for the first of what w names, for the command's end, or for that of ctx. Where something to be typed waits for
// an approval, it waits for that before: a no wakes.
func (x *Exec) WaitFor(ctx context.Context, w Wait) Wake {
	t := w.Typed
	if asked := x.sx.Asked(); t == nil && asked != nil && asked.Awaiting() {
		t = asked
	}
	if t != nil {
		select {
		case <-t.Done():
		case <-ctx.Done():
			return WokeTime
		}
		if t.Err() != nil && x.Running() {
			return WokeRefused
		}
	}
	began := time.Now()
	find := finder{s: x.stdout.spool, re: w.Pattern, any: w.Any, at: w.From}
	if w.Stream == Stderr {
		find.s = x.stderr.spool
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		more, last := x.changed()
		over := !x.Running()
		if find.found() {
			return WokeMatch
		}
		if over {
			return WokeEnd
		}
		if last.Before(began) {
			last = began
		}
		silence := time.Since(last)
		if w.Silence > 0 && silence >= w.Silence {
			return WokeSilence
		}
		if w.Prompt && silence >= promptAt[0] {
			switch x.Waiting().Kind {
			case screen.Running, screen.Silent, "":
			default:
				return WokePrompt
			}
		}
		timer.Reset(w.next(silence))
		select {
		case <-x.done:
		case <-timer.C:
		case <-ctx.Done():
			return WokeTime
		case <-more:
			timer.Reset(gather)
			select {
			case <-x.done:
			case <-timer.C:
			case <-ctx.Done():
				return WokeTime
			}
		}
	}
}

// next is how long to sleep after so long a silence.
func (w *Wait) next(silence time.Duration) time.Duration {
	next := time.Hour
	if w.Silence > 0 {
		next = w.Silence - silence
	}
	if w.Prompt {
		for _, at := range promptAt {
			if at > silence {
				return min(next, at-silence)
			}
		}
	}
	return next
}

// findWindow bounds the text in which a pattern is searched: matches are no longer than half of it.
const findWindow = 64 << 10

// finder looks for a pattern in a growing output.
type finder struct {
	s   *output.Spool
	re  *regexp.Regexp
	any bool
	at  int64 // what comes next
	buf []byte
}

func (f *finder) found() bool {
	return f.any && f.s.Total() > f.at || f.re != nil && f.search()
}

func (f *finder) search() bool {
	for {
		b := make([]byte, findWindow/2)
		n, err := f.s.ReadAt(b, f.at)
		if n > 0 {
			f.at += int64(n)
			if len(f.buf)+n > findWindow {
				f.buf = append(f.buf[:0], f.buf[len(f.buf)-findWindow/2:]...)
			}
			f.buf = append(f.buf, b[:n]...)
			if text, _ := screen.Clean(string(f.buf)); f.re.MatchString(text) {
				return true
			}
		}
		if gap, ok := err.(*output.NotKeptError); ok && n == 0 {
			f.at = gap.To
			continue
		}
		if n < len(b) {
			return false
		}
	}
}
