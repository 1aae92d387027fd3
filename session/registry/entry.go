package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// Entry is a session in a Registry.
type Entry struct {
	r         *Registry
	s         *session.Session
	name      string
	principal string
	place     *Place // nil outside of sandboxes
	opened    time.Time
	listed    hosts.Host    // see Config.Listed
	once      bool          // for a single command, and not listed
	closeOnce sync.Once     // of close
	gone      chan struct{} // closed when it is

	mu     sync.Mutex // guards what follows; never held while the session is called
	used   time.Time  // when the last command began or ended
	cur    *Exec      // running
	last   *Exec      // the last one that was started
	coming starting
	more   chan struct{} // closed with the next command; nil when nobody waits
	timer  *time.Timer
	over   bool
}

// ID is the session's; unique.
func (e *Entry) ID() string { return e.s.ID() }

// Name is as given to Open; "" for a session without one.
func (e *Entry) Name() string { return e.name }

// Host is the session's, with what Open was asked to add.
func (e *Entry) Host() hosts.Host { return e.s.Host() }

// Sandbox says what holds the session in its sandbox: kernel, account or checked; "" means that it is in none.
func (e *Entry) Sandbox() string {
	if e.place == nil {
		return ""
	}
	return e.place.Level
}

// Single reports whether the session is for a single command.
func (e *Entry) Single() bool { return e.once }

// Opened is when.
func (e *Entry) Opened() time.Time { return e.opened }

// Dir is the working directory after the last command.
func (e *Entry) Dir() string { return e.s.Dir() }

// Session is the session itself. What runs in it past the Entry is neither kept nor counted as use.
func (e *Entry) Session() *session.Session { return e.s }

// Current is the command that runs; nil when none does.
func (e *Entry) Current() *Exec {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cur
}

// Last is the command that was started last; nil before the first.
func (e *Entry) Last() *Exec {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// Latest is Last, after a wait for a command that is just being started, until ctx ends: it may run before Start says so.
func (e *Entry) Latest(ctx context.Context) *Exec {
	e.mu.Lock()
	none := e.coming.none
	e.mu.Unlock()
	if none != nil {
		select {
		case <-none:
		case <-ctx.Done():
		}
	}
	return e.Last()
}

// starting counts the commands that are on their way.
type starting struct {
	n    int
	none chan struct{} // closed when there are none any more; nil when there are none
}

func (e *Entry) starts() (stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := &e.coming
	if st.n++; st.n == 1 {
		st.none = make(chan struct{})
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if st.n--; st.n == 0 {
			close(st.none)
			st.none = nil
		}
	}
}

// begin starts the shell, in the directory that was asked for. That of another account, which an agent needs an approval for,
// starts with the first command: one approval is for both.
func (e *Entry) begin(ctx context.Context, req OpenRequest) error {
	if req.Dir == "" && req.Host.Become.User != "" && hosts.RoleOf(req.Principal) == hosts.RoleAgent {
		return nil
	}
	script := ":"
	if req.Dir != "" {
		dir, err := framing.Quote(req.Dir)
		if err != nil {
			return fault("open", req.Host.Name, CodeInvalid, false, "cwd: %w", err)
		}
		script = "cd -- " + dir
	}
	x, err := e.start(ctx, Command{Script: script, Reason: req.Reason, own: true})
	if err != nil {
		return err
	}
	defer e.r.forget(x) // it was ours, not the caller's
	if err := x.Wait(ctx); err != nil {
		x.Stop()
		return fault("open", req.Host.Name, "canceled", true, "the shell was not ready in time: %w", err)
	}
	res := x.sx.Result()
	switch {
	case res.Err != nil:
		return res.Err
	case res.Status != session.StatusOK:
		return fault("open", req.Host.Name, CodeInvalid, false, "cannot start in %q: %s", req.Dir, x.said())
	}
	e.mu.Lock()
	e.last = nil
	e.mu.Unlock()
	return nil
}

// Go changes the session's directory, before its first command.
func (e *Entry) Go(ctx context.Context, dir, reason string) error {
	return e.begin(ctx, OpenRequest{Host: e.Host(), Dir: dir, Reason: reason})
}

// Reset replaces the shell by a new one in the same directory, stopping what runs. It starts with the next command.
func (e *Entry) Reset() {
	e.s.Reset()
	if x := e.Current(); x != nil {
		select {
		case <-x.done:
		case <-e.r.closing.Done():
		}
	}
}

// Leaves returns the programs that Close leaves running, as session.Session's does, and with names that are fit to be shown. What a sandbox has
// started ends with it.
func (e *Entry) Leaves(ctx context.Context) []framing.Process {
	if e.Sandbox() != "" {
		return nil
	}
	left := e.s.Leaves(ctx)
	for i := range left {
		name, _ := e.r.Redact(left[i].Name)
		left[i].Name = printable.Line(name)
	}
	return left
}

// Close ends the session with all that runs in its terminal. Its commands can still be looked at. It is idempotent.
func (e *Entry) Close() { e.close("it was closed") }

func (e *Entry) close(why string) {
	e.closeOnce.Do(func() {
		e.mu.Lock()
		e.over = true
		if e.timer != nil {
			e.timer.Stop()
		}
		e.mu.Unlock()
		r := e.r
		r.mu.Lock()
		if r.entries[e.ID()] == e {
			delete(r.entries, e.ID())
			if !e.once {
				r.kept--
			}
		}
		r.ended.bury(e.principal+"\x00"+e.ID(), why)
		if mine := (owned{e.principal, e.name}); r.names[mine] == e {
			delete(r.names, mine)
			r.ended.bury(e.principal+"\x00"+e.name, why)
		}
		r.mu.Unlock()
		e.s.Close()
		if x := e.Current(); x != nil {
			<-x.done
		}
		if f := r.cfg.Closed; f != nil {
			f(e)
		}
		close(e.gone)
	})
}

// arm sets the timer to when the first of the limits is reached.
func (e *Entry) arm() {
	e.mu.Lock()
	defer e.mu.Unlock()
	wait, _ := e.remaining(time.Now())
	if wait < 0 || e.over {
		return
	}
	if e.timer == nil {
		e.timer = time.AfterFunc(wait, e.limit)
		return
	}
	e.timer.Reset(wait)
}

// remaining is how long the session may stay, and whether it is idleness that ends it; negative without a limit. e.mu is
// held.
func (e *Entry) remaining(now time.Time) (wait time.Duration, idleness bool) {
	wait = -1
	if idle := e.r.cfg.Idle; idle > 0 {
		wait, idleness = max(0, idle-now.Sub(e.used)), true
	}
	if life := e.r.cfg.Lifetime; life > 0 {
		if left := max(0, life-now.Sub(e.opened)); wait < 0 || left < wait {
			wait, idleness = left, false
		}
	}
	return wait, idleness
}

// limit closes the session when a limit is reached; while a command runs, its end does.
func (e *Entry) limit() {
	e.mu.Lock()
	wait, idleness := e.remaining(time.Now())
	busy, over := e.cur != nil, e.over
	e.mu.Unlock()
	switch {
	case over || busy:
	case wait > 0:
		e.arm()
	default:
		r := e.r
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return // Close closes it
		}
		r.wg.Add(1)
		r.mu.Unlock()
		defer r.wg.Done()
		why := fmt.Sprintf("it was open for %v", r.cfg.Lifetime)
		if idleness {
			why = fmt.Sprintf("no command came for %v", r.cfg.Idle)
		}
		e.close(why)
	}
}

// old reports whether the session takes no more commands because of its age.
func (e *Entry) old() bool {
	return e.r.cfg.Lifetime > 0 && time.Since(e.opened) >= e.r.cfg.Lifetime
}

// ended notes that x has, and looks at the limits again.
func (e *Entry) ended(x *Exec) {
	e.mu.Lock()
	if e.cur == x {
		e.cur = nil
	}
	e.used = time.Now()
	e.mu.Unlock()
	e.arm()
}

var errOld = errors.New("the session has reached its age limit and takes no more commands: open another one")

// Shell is the shell that was asked for, by Open or the host; "" where the account's own decides.
func (e *Entry) Shell() string {
	if sh := e.Host().Shell; sh != "auto" {
		return sh
	}
	return ""
}
