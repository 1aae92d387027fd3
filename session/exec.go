package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/internal/capture"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/signum"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Exec is one run of one command in a session. All methods may be called concurrently.
type Exec struct {
	id       string
	s        *Session
	cmd      Command
	tok      framing.Token
	began    time.Time // monotonic
	stdout   io.Writer
	stderr   io.Writer
	done     chan struct{}  // closed when res is final
	begun    chan struct{}  // closed when the shell has said that the command starts
	steps    sync.WaitGroup // of the ladder: x does not end during one
	busyWith string         // the exec that the session was busy with; "" if it was not
	timer    *time.Timer    // of cmd.Timeout; nil without one
	due      time.Time      // when that goes off
	internal bool           // a frame of our own: no result, no record
	trial    *trial         // of a command that is tried first: what it does there; nil else
	ready    *time.Timer    // for the shell to accept the frame; nil without a limit
	idle     *time.Timer    // of cmd.Idle; nil without one
	feed     *feed          // standard input; nil without one
	bare     bool           // an action, and there is no shell because there is no terminal
	answer   policy.Answer  // the yes to it, if one was needed
	bond     bond           // what that was asked about

	held    bool     // it runs held to reading
	sockets []string // that are open for it while it is held
	ifItCan bool     // nothing is waited for, while it is found out whether it can be held
	unready error    // why the shell that holds it could not be started, where that is no reason to ask

	then   func()              // of a frame of our own: called at its end, by the pump
	errors func(framing.Event) // of one that others follow: called with errors, which may be those of the next; nil else
	forget func()              // wipes the passwords that it was given; nil where it needs none

	mu       sync.Mutex              // guards what follows until done
	abort    context.CancelCauseFunc // ends what comes before sending
	res      Result
	out, err capture.Capture
	aside    bool // what they keep is for Config.Outputs, and not for the Result
	stray    []byte
	refused  refusals
	started  bool
	recorded bool            // the request is on record
	asked    context.Context // of the request's record, whose values are the result's too
	values   context.Context // the caller's values, for Trace; nil once it is done
	sent     bool            // a byte has left
	sh       *shell          // where it was sent
	unframed *unframed       // instead of sh, where there is no terminal
	over     bool            // no more steps of the ladder
	why      Status          // why it is being stopped; "" if nobody asked for that
	cause    error           // what is behind why: the end of the caller's context; nil where that is all there is
	step     string          // the last step of the ladder
	werr     error           // the first failure of a caller's writer
	silent   bool            // it was cmd.Idle that ended it
	watch    *terminalWatch  // nil where nothing is to be found out
	needs    *needsTerminal  // it was stopped because of that
	frame    bool            // the shell waits for the next frame
	inErr    error           // why standard input could not be read
	lastAsk  *Typing         // what somebody had to approve last
	pending  time.Time       // since when it awaits approval; zero when it does not
	waited   time.Duration   // for an approval
	answered chan struct{}   // closed when it does not await approval any more; nil where it never did
}

// ID returns the exec's identifier, unique in this process and in the audit trail.
func (x *Exec) ID() string { return x.id }

// Done is closed when the command has ended and its Result is final.
func (x *Exec) Done() <-chan struct{} { return x.done }

// Result returns the Result as far as it is known: final once Done is closed, else with State Running and the output so
// far.
func (x *Exec) Result() Result {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.res
	if r.State != Done {
		r.Status, r.ExitCode, r.Signal, r.Dir = "", nil, "", ""
		r.StoppedBy, r.MayRun, r.Err = "", false, nil
		x.fill(&r)
		r.Stdout, r.Stderr, r.Stray = bytes.Clone(r.Stdout), bytes.Clone(r.Stderr), bytes.Clone(r.Stray)
	}
	return r
}

// note changes what is known of a command before it is sent; others may look at it by then, if it had to be approved.
func (x *Exec) note(f func(*Result)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(&x.res)
}

// Answered is closed once the command does not await approval any more, whatever the answer; nil where it never did.
func (x *Exec) Answered() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.answered
}

// asks notes that the command awaits approval from now on, and until the returned function is called. x.mu is held; not by
// that function's caller.
func (x *Exec) asks() (over func()) {
	x.res.State, x.pending, x.answered = AwaitingApproval, time.Now(), make(chan struct{})
	return sync.OnceFunc(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.waited, x.pending = x.waited+time.Since(x.pending), time.Time{}
		close(x.answered)
	})
}

// Wait waits for the end of the command, or of ctx, and returns what Result does then. The end of ctx does nothing to
// the command. The error is nil unless ctx ended first: what became of the command is in the Result, and its Err.
func (x *Exec) Wait(ctx context.Context) (Result, error) {
	select {
	case <-x.done:
		return x.res, nil
	case <-ctx.Done():
		return x.Result(), ctxerr.Of(ctx)
	}
}

// fill puts in what grows while the command runs. x.mu is held.
func (x *Exec) fill(r *Result) {
	r.Duration = time.Since(x.began) - x.waited
	if !x.pending.IsZero() {
		r.Duration -= time.Since(x.pending)
	}
	r.StdoutBytes, r.StderrBytes = x.out.Total(), x.err.Total()
	r.Stdout, r.CutStdout, r.OmittedStdout = x.out.Bytes()
	r.Stderr, r.CutStderr, r.OmittedStderr = x.err.Bytes()
	if x.aside {
		r.Stdout, r.CutStdout, r.OmittedStdout = nil, 0, r.StdoutBytes
		r.Stderr, r.CutStderr, r.OmittedStderr = nil, 0, r.StderrBytes
	}
	r.Stray = x.stray
	r.Refused, r.RefusedMore = x.refused.list[:len(x.refused.list):len(x.refused.list)], x.refused.more
}

// event takes one event from the shell's pump.
func (x *Exec) event(sh *shell, ev framing.Event) {
	if x.trial != nil {
		x.trial.event(ev)
		return
	}
	if x.internal {
		switch ev.Kind {
		case framing.Stdout:
			x.out.Write(ev.Data)
		case framing.Stderr:
			if x.errors != nil {
				x.errors(ev)
			}
		case framing.Stray:
			if len(x.stray) < maxStray {
				x.stray = append(x.stray, ev.Data...)
			}
		case framing.Refused:
			x.refused.add(ev.Data)
		case framing.Started:
			x.dropEcho(sh)
		case framing.Ended, framing.Exited, framing.Broken:
			if x.then != nil && ev.Kind == framing.Ended {
				x.then()
			}
			close(x.done)
		}
		return
	}
	switch ev.Kind {
	case framing.Stdout, framing.Stderr:
		x.output(ev)
	case framing.Stray:
		x.mu.Lock()
		if len(x.stray) < maxStray {
			x.stray = append(x.stray, ev.Data...)
		}
		x.mu.Unlock()
	case framing.Refused:
		x.mu.Lock()
		x.refused.add(ev.Data)
		x.mu.Unlock()
	case framing.Started:
		if x.ready != nil {
			x.ready.Stop()
		}
		x.mu.Lock()
		x.started = true
		close(x.begun)
		x.dropEcho(sh)
		x.watchTerminal(sh)
		x.mu.Unlock()
		if x.feed != nil {
			go x.feed.run() // ends with the input, or the feed's stream
		}
	case framing.Ended:
		if ev.Trailer.Cooked {
			sh.cooked.Store(true)
		}
		x.s.frameEnded(x.res.Lane, ev.Trailer)
		x.closeSockets(sh)
		x.frame = true
		x.ended(ev.Trailer.ExitCode, 0, ev.Trailer.Dir)
	case framing.Exited:
		x.s.stands(x.res.Lane, ev.Exit.Dir)
		x.ended(ev.Exit.Code, ev.Exit.Signal, ev.Exit.Dir)
	case framing.Broken:
		x.fail(StatusLost, "broken", fmt.Errorf("%w: %w", ErrUnknownOutcome, ev.Err))
	}
}

// dropEcho takes the frame itself out of what came before it: a terminal that echoes was not raw any more.
func (x *Exec) dropEcho(sh *shell) {
	if len(x.stray) == 0 {
		return
	}
	if i := framing.EchoOf(x.stray, x.tok); i >= 0 {
		x.stray = x.stray[:i]
		sh.cooked.Store(true)
	}
}

// output keeps, counts and passes on one piece of a stream.
func (x *Exec) output(ev framing.Event) {
	c, w := &x.out, &x.stdout
	if ev.Kind == framing.Stderr {
		c, w = &x.err, &x.stderr
	}
	x.mu.Lock()
	first := x.out.Total()+x.err.Total() == 0
	x.s.sumUp(c)
	c.Write(ev.Data)
	x.watch.printed(ev.Data)
	held := x.lastAsk != nil && x.lastAsk.Awaiting() // and the clocks with it
	x.mu.Unlock()
	if x.idle != nil && !held {
		x.idle.Reset(x.cmd.Idle)
	}
	if first && x.s.cfg.Trace.FirstByte != nil {
		x.s.cfg.Trace.FirstByte(x.caller(), x.s.host, x.id)
	}
	if *w == nil {
		return
	}
	n, err := (*w).Write(ev.Data)
	if err == nil && n != len(ev.Data) {
		err = io.ErrShortWrite // what is left would be lost, and nothing would say so
	}
	if err != nil {
		*w = nil
		x.mu.Lock()
		x.werr = errors.Join(x.werr, err)
		x.mu.Unlock()
	}
}

// ended is the host's answer: a code, or the signal that killed the shell.
func (x *Exec) ended(code, signal int, dir string) {
	x.s.exited(x, cmp.Or(code, signum.Exit(signal)))
	name := ""
	if signal != 0 {
		name = signum.Name(signal)
	}
	x.endedBy(code, name, dir)
}

// endedBy is ended with the signal's name; "" is none.
func (x *Exec) endedBy(code int, signal, dir string) {
	x.mu.Lock()
	r := &x.res
	r.Dir = dir
	switch {
	case signal != "":
		r.Status, r.Signal = StatusSignal, signal
	case code == 0:
		r.Status, r.ExitCode = StatusOK, &zero
	default:
		r.Status, r.ExitCode = StatusExit, &code
	}
	if x.why != "" {
		r.Status, r.StoppedBy = x.why, x.step
		if r.MayRun = x.step == "shell"; r.MayRun || x.unframed != nil { // the signal was ours
			r.Signal = ""
		}
		r.Err = x.stopError()
	} else if x.werr != nil {
		r.Status = StatusError
		r.Err = x.error("write", false, fmt.Errorf("the output could not be written: %w", x.werr))
	}
	x.mu.Unlock()
	x.finish()
}

// zero is what every ExitCode of 0 points to. Nobody may write through a Result's pointer.
var zero int

// streamEnded is the end of the shell's stream without an answer. stream, where it is not nil, is asked how it ended.
func (x *Exec) streamEnded(err error, stream Stream) {
	if x.trial != nil {
		x.trial.ends(nil)
		return
	}
	if x.internal {
		close(x.done)
		return
	}
	x.mu.Lock()
	why, started := x.why, x.started
	x.mu.Unlock()
	x.s.exited(x, signum.Exit(9)) // with its shell
	switch {
	case why != "":
		x.mu.Lock()
		x.res.Status, x.res.StoppedBy, x.res.MayRun = why, x.step, true
		x.res.Err = x.stopError()
		x.mu.Unlock()
		x.finish()
	case !started:
		x.fail(StatusLost, "lost", fmt.Errorf("%w: the shell ended before it said that the command starts; the command may have run%s", ErrUnknownOutcome, howEnded(stream)))
	case errors.Is(err, io.EOF):
		x.fail(StatusLost, "lost", fmt.Errorf("%w: the connection or the shell ended while the command ran%s", ErrUnknownOutcome, howEnded(stream)))
	default:
		x.fail(StatusLost, "lost", fmt.Errorf("%w: %w", ErrUnknownOutcome, err))
	}
}

// stopError says who stopped the command. One that has been sent may have done things, so it is not to be sent again.
// x.mu is held.
func (x *Exec) stopError() *Error {
	again := !x.sent
	switch x.why {
	case StatusTimeout:
		if x.needs != nil {
			return x.error("needs_terminal", false, x.needs)
		}
		if x.silent {
			return x.error("idle", again, fmt.Errorf("the command was stopped because it printed nothing for %v", x.cmd.Idle))
		}
		return x.error("timeout", again, fmt.Errorf("the command was stopped after %v", x.cmd.Timeout))
	case StatusError:
		return x.error("stdin", again, fmt.Errorf("the command was stopped because its standard input could not be read: %w", x.inErr))
	}
	if x.cause != nil {
		return x.error(string(x.why), again, fmt.Errorf("the command was stopped because its caller left: %w", x.cause))
	}
	return x.error(string(x.why), again, errors.New("the command was stopped because it was asked for"))
}

func (x *Exec) error(code string, retriable bool, err error) *Error {
	return &Error{Op: "run", Host: x.s.host.Name, Code: code, Exec: x.busyWith, Sent: x.sent, Retriable: retriable, Err: err}
}

// fail ends the exec without an answer from the host.
func (x *Exec) fail(status Status, code string, err error) {
	x.mu.Lock()
	x.res.Status = status
	x.res.Err = x.error(code, !x.sent && mayHelp(code), err)
	x.mu.Unlock()
	x.finish()
}

// mayHelp says whether the same command may fare better another time. A person's no holds; where nobody has answered,
// somebody may.
func mayHelp(code string) bool {
	switch code {
	case "denied", "not_held", "no_terminal", "rejected", "auth", "become", "hostkey", "invalid", "closed":
		return false
	case "not_found", "permission", "directory", "special", "too_large": // what an action finds on the host
		return false
	}
	return true
}

// finish records the result, frees the session and closes done. It is called once, when res has its status.
func (x *Exec) finish() {
	x.stopClocks()
	x.mu.Lock()
	x.over = true
	x.mu.Unlock()
	x.takeBack(errEnded)
	x.steps.Wait() // none may hit the next command
	x.wears()
	x.stopClocks() // which one may have set going
	x.mu.Lock()
	r := x.res
	x.fill(&r)
	recorded := x.recorded
	x.mu.Unlock()
	r.State = Done
	if x.feed != nil {
		r.StdinBytes, r.StdinSHA256 = x.feed.close()
	}
	if x.unframed != nil && x.cmd.Stdin != nil {
		r.StdinBytes, r.StdinSHA256 = x.unframed.given()
	}
	if recorded {
		x.s.recordResult(x, &r)
	}
	x.mu.Lock()
	x.res = r
	halfway := x.started && !x.frame && x.why != "" // stopped with its shell
	x.mu.Unlock()
	if f := x.s.cfg.Trace.Done; f != nil {
		f(x.caller(), r)
	}
	x.mu.Lock()
	x.values = nil // they may hold much
	x.mu.Unlock()
	switch {
	case x.frame && x.s.wantsSnapshot(x):
		x.s.snapshot(x.sh)
	case halfway && x.res.Lane == laneSession:
		x.s.outdate(x)
	}
	x.changes()
	if x.forget != nil {
		x.forget()
	}
	x.s.release(x)
	close(x.done)
}
