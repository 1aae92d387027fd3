package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/internal/terminalread"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// When a command that prints nothing is looked at.
const (
	promptAfter   = 300 * time.Millisecond // what was printed last may be a prompt
	quietAfter    = 3 * time.Second        // without one, and then ever less often
	quietMost     = time.Minute
	sureAfter     = 500 * time.Millisecond // a second look must see the same
	blindAfter    = 2 * time.Second        // a prompt on a host that cannot be looked at
	asksAfter     = 30 * time.Second       // a program that others cannot look into, without a prompt
	lookTimeLimit = 10 * time.Second
)

// tailKept is how much of the end of the output is kept to find a prompt in.
const tailKept = 512

// terminalWatch finds out whether a command that is not interactive waits for the terminal.
type terminalWatch struct {
	x     *Exec
	sh    *shell
	timer *time.Timer

	// Guarded by x.mu.
	last  time.Time // output came, or the command began
	tail  []byte    // the end of the output, both streams
	quiet time.Duration
	seen  int    // the process that waited when it was looked at before; 0 is none
	leave func() // ends a look; nil where there is none under way
}

// watchTerminal starts to watch x, which has begun in sh. x.mu is held.
func (x *Exec) watchTerminal(sh *shell) {
	if x.cmd.Interactive || x.internal || x.cmd.inner.action != nil {
		return
	}
	w := &terminalWatch{x: x, sh: sh, last: time.Now(), quiet: quietAfter}
	w.timer = time.AfterFunc(quietAfter, func() { w.tick() })
	x.watch = w
	if len(x.stray) > 0 { // what a program prints on the terminal itself may come before its start is known
		w.printed(x.stray)
	}
}

// printed notes output. x.mu is held.
func (w *terminalWatch) printed(p []byte) {
	if w == nil {
		return
	}
	w.last, w.quiet, w.seen = time.Now(), quietAfter, 0
	p = p[max(0, len(p)-tailKept):]
	if drop := len(w.tail) + len(p) - tailKept; drop > 0 {
		w.tail = append(w.tail[:0], w.tail[drop:]...)
	}
	w.tail = append(w.tail, p...)
	if !w.x.ending() {
		w.timer.Reset(promptAfter)
	}
}

// ending reports whether x takes no more steps. x.mu is held.
func (x *Exec) ending() bool { return x.over || x.why != "" }

// stop ends the watch: the command's end does not wait for a slow host. x.mu is held.
func (w *terminalWatch) stop() {
	if w == nil {
		return
	}
	w.timer.Stop()
	if w.leave != nil {
		w.leave()
	}
}

// tick looks at a command that has been silent for a while.
func (w *terminalWatch) tick() {
	x := w.x
	x.mu.Lock()
	if x.ending() {
		x.mu.Unlock()
		return
	}
	last, silence, seen := w.last, time.Since(w.last), w.seen
	prompt, line := promptAt(w.tail, silence)
	if !prompt && seen == 0 && silence < w.quiet {
		w.timer.Reset(w.quiet - silence)
		x.mu.Unlock()
		return
	}
	ctx, cancel := context.WithTimeout(x.s.closing, lookTimeLimit)
	w.leave = cancel
	x.mu.Unlock()
	p, how, known := terminalread.Process{}, terminalread.None, false
	x.during(func() { p, how, known = x.terminalReader(ctx, w.sh, prompt) })
	cancel()

	x.mu.Lock()
	if x.ending() || w.last != last {
		x.mu.Unlock()
		return
	}
	silence = time.Since(last)
	waits := how == terminalread.Reads || how == terminalread.Asks && (prompt || line || silence >= asksAfter) || how == terminalread.Hidden && prompt ||
		!known && prompt && silence >= blindAfter
	switch {
	case !waits && !known && prompt:
		w.timer.Reset(max(0, blindAfter-silence) + time.Millisecond)
	case !waits && how == terminalread.Asks:
		w.seen = 0
		w.timer.Reset(asksAfter - silence + time.Millisecond)
	case !waits:
		w.seen, w.quiet = 0, min(2*max(w.quiet, silence), quietMost+silence)
		w.timer.Reset(w.quiet - silence)
	case known && seen != p.PID:
		w.seen = p.PID
		w.timer.Reset(sureAfter)
	default:
		x.needs = &needsTerminal{host: x.s.host.Name, program: plainName(p.Name), password: prompt || how == terminalread.Asks}
		x.mu.Unlock()
		x.stop(StatusTimeout)
		return
	}
	x.mu.Unlock()
}

// promptAt says whether the output ends in a prompt for a password, and whether it ends in a line that may be any prompt.
func promptAt(tail []byte, silence time.Duration) (password, line bool) {
	if len(tail) == 0 {
		return false, false
	}
	w := screen.Recognise(screen.Look{Tail: tail, Silence: silence, SilentAfter: -1})
	return w.Kind == screen.Password && w.Known, w.Kind != screen.Running
}

// needsTerminal says why a command was stopped.
type needsTerminal struct {
	host, program string
	password      bool
}

var notPlain = lazyregexp.New(`[^A-Za-z0-9._+-]`)

// plainName is a program's name, which is text of the host.
func plainName(name string) string {
	if name = notPlain.ReplaceAllString(name, "?"); len(name) > 32 {
		name = name[:32]
	}
	return name
}

func (n *needsTerminal) Error() string {
	program, what := n.program, "input"
	if program == "" {
		program = "a program"
	}
	if n.password {
		what = "a password"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s waits for %s at the terminal, which this command does not have, so Fairlead stopped it; "+
		"use a terminal: fairlead shell %s (in a session: an interactive command)", program, what, printable.Word(n.host))
	if strings.HasPrefix(program, "sudo") {
		b.WriteString("; without a password: NOPASSWD in sudoers (sudo -n fails at once instead of waiting)")
	}
	return b.String()
}

// Unwrap returns ErrNeedsTerminal.
func (n *needsTerminal) Unwrap() error { return ErrNeedsTerminal }

// terminalReader looks for a process of the command that waits for the terminal. known says whether the host lets one look.
func (x *Exec) terminalReader(ctx context.Context, sh *shell, prompted bool) (best terminalread.Process, how terminalread.Evidence, known bool) {
	t := x.s.transport()
	if t == nil {
		return best, terminalread.None, false
	}
	stream, err := x.s.held(t).Open(become.Unasked(ctx), Program{Line: terminalread.Line(sh.hello.PID)})
	if err != nil {
		return best, terminalread.None, false
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	said, _ := io.ReadAll(io.LimitReader(stream, 1<<20))
	all, known := terminalread.Parse(string(said))
	for _, p := range all {
		if e := p.Waits(sh.hello.PID, prompted); e > how {
			best, how = p, e
		}
	}
	return best, how, known
}
