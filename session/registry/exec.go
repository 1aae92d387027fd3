package registry

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// flushAfter is the silence after which what redaction holds back is shown as far as may be.
const flushAfter = 100 * time.Millisecond

// Exec is a command in a Registry, running or ended.
type Exec struct {
	e              *Entry
	cmd            Command
	sx             *session.Exec
	stdout, stderr *stream
	screen         *screen.Screen // of an interactive command
	known          chan struct{}  // closed when its Entry tells of it
	done           chan struct{}  // closed when it has ended and all output is in
	began          time.Time
	dir            string // where the session was then
	n              uint64 // its place among all of the Registry, from 1; set by the shelf
	counted        int64  // bytes that the shelf counts for it; guarded by the Registry's mu

	quiet  sync.Mutex // held while a silence is used to flush
	mu     sync.Mutex // guards what follows
	last   time.Time  // of the last output
	armed  bool       // the timer is set
	timer  *time.Timer
	ended  bool
	more   chan struct{} // closed with the next output; nil when nobody waits
	expiry *time.Timer
	gone   bool // the output has been freed
}

func newExec(e *Entry, cmd Command, live Live) *Exec {
	now := time.Now()
	x := &Exec{e: e, cmd: cmd, known: make(chan struct{}), done: make(chan struct{}), began: now, dir: e.s.Dir(), last: now}
	if cmd.Interactive {
		x.screen = screen.New(screen.Config{Cols: cmd.Size.Cols, Rows: cmd.Size.Rows, Render: e.r.cfg.Render})
	}
	x.stdout, x.stderr = newStream(x, live.Stdout), newStream(x, live.Stderr)
	return x
}

// ID is the command's; unique, and the same in the record.
func (x *Exec) ID() string { return x.sx.ID() }

// Entry is the session it runs in, which may be closed.
func (x *Exec) Entry() *Entry { return x.e }

// Command is what was asked for.
func (x *Exec) Command() Command { return x.cmd }

// Done is closed when the command has ended and all its output is here.
func (x *Exec) Done() <-chan struct{} { return x.done }

// Running reports whether it has not ended.
func (x *Exec) Running() bool {
	select {
	case <-x.done:
		return false
	default:
		return true
	}
}

// Withdraw stops a command that still waits for an approval: nothing was sent. One that runs goes on.
func (x *Exec) Withdraw() {
	if x.sx.Result().State == session.AwaitingApproval {
		x.Stop()
	}
}

// Wait waits for the end of the command, or for that of ctx, whose cause it returns then. The command goes on.
func (x *Exec) Wait(ctx context.Context) error {
	select {
	case <-x.done:
		return nil
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}

// Stop stops the command step by step, see session.Exec.Stop, and returns when it has ended.
func (x *Exec) Stop() {
	x.sx.Stop()
	<-x.done
}

// follow waits for the end and completes the output.
func (x *Exec) follow() {
	defer x.e.r.wg.Done()
	<-x.sx.Done()
	x.mu.Lock()
	x.ended = true
	if x.timer != nil {
		x.timer.Stop()
	}
	x.mu.Unlock()
	x.quiet.Lock() // a flush that is under way
	x.stdout.finish()
	x.stderr.finish()
	x.quiet.Unlock()
	x.e.ended(x)
	close(x.done)
	x.tell()
	x.e.r.expire(x)
}

// wrote notes that output came.
func (x *Exec) wrote() {
	x.mu.Lock()
	x.last = time.Now()
	if !x.armed && !x.ended {
		x.armed = true
		if x.timer == nil {
			x.timer = time.AfterFunc(flushAfter, x.silent)
		} else {
			x.timer.Reset(flushAfter)
		}
	}
	x.mu.Unlock()
	x.tell()
}

// silent flushes when no output came for a while. What is written waits until the command is known, and so does this, which would
// wait for a writer that does.
func (x *Exec) silent() {
	<-x.known
	x.quiet.Lock()
	defer x.quiet.Unlock()
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		return
	}
	if left := flushAfter - time.Since(x.last); left > 0 {
		x.timer.Reset(left)
		x.mu.Unlock()
		return
	}
	x.armed = false
	x.mu.Unlock()
	x.stdout.red.Flush()
	x.stderr.red.Flush()
	x.tell()
}

// tell wakes who waits for output.
func (x *Exec) tell() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.more != nil {
		close(x.more)
		x.more = nil
	}
}

// changed returns what is closed with the next output, and when the last one came.
func (x *Exec) changed() (<-chan struct{}, time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.more == nil {
		x.more = make(chan struct{})
	}
	return x.more, x.last
}

// discard frees an Exec that never was.
func (x *Exec) discard() {
	x.stdout.spool.Close()
	x.stderr.spool.Close()
}

// drop frees the output of a command that has ended.
func (x *Exec) drop() {
	x.mu.Lock()
	x.gone = true
	if x.expiry != nil {
		x.expiry.Stop()
	}
	x.mu.Unlock()
	x.discard()
}

// Forget takes a command that has ended off the shelf, for a caller who has all of its output: it cannot be looked at any
// more.
func (x *Exec) Forget() { x.e.r.forget(x) }

// Awaiting reports whether somebody has yet to approve the command. It holds as soon as Start has returned, which may be
// before the question is put.
func (x *Exec) Awaiting() bool {
	r := x.sx.Result()
	return r.State != session.Done && r.Decision.Verdict == policy.Ask
}

// Answered is closed once the command does not await approval any more; nil where it never did.
func (x *Exec) Answered() <-chan struct{} { return x.sx.Answered() }

// Unsent reports whether the command has ended and no byte of it has left.
func (x *Exec) Unsent() bool {
	r := x.sx.Result()
	return r.Err != nil && !r.Err.Sent
}

// stored is how many bytes are kept of it.
func (x *Exec) stored() int64 { return x.stdout.spool.Kept() + x.stderr.spool.Kept() }

// said is the end of what the command printed on standard error, for a message.
func (x *Exec) said() string {
	p, err := x.stderr.spool.Page(0, 300)
	if err != nil {
		return ""
	}
	text, _ := screen.Clean(string(p.Text))
	return oneLine(text)
}

func (x *Exec) secrets() *redact.Set      { return x.e.r.cfg.Secrets }
func (x *Exec) audience() redact.Audience { return x.e.r.cfg.Audience }
