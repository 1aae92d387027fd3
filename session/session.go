package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Session is a named place on one host: a shell with a working directory, variables and functions that stay from
// command to command. It runs one command at a time; a second one is refused, not queued, because it would run in a
// state that nobody foresaw. When the shell ends (exit, exec, kill), the next command gets a new one in the same
// directory, and its Result says so. Methods may be called concurrently.
type Session struct {
	id   string
	host hosts.Host
	cfg  Config
	wg   sync.WaitGroup // of short-lived writers
	pool *lender        // where the connection comes from; nil for a Session made with Open

	single bool // for one command

	closing context.Context // ends with Close
	shut    context.CancelFunc

	mu     sync.Mutex // guards what follows; never held while waiting or calling out
	t      Transport  // nil when there is none yet, or none any more
	lost   bool       // the connection before was lost
	cur    *Exec      // running, or about to
	sh     *shell     // nil before the first command
	dir    string     // where the shell stands; "" before the first command
	trace  bool       // xtrace is on
	typed  bool       // something may have been typed that no command read
	closed bool

	tainted bool     // something that may change what later commands mean has run in sh
	set     []string // names that commands have set there, as far as it was seen
	moved   bool     // sh does not stand in dir

	lane     *shell // of the clean lane; nil before it is needed
	freeLane func() // gives its connection back
	laneDir  string // where it stands

	state    string        // the last snapshot, as the shell printed it; "" without one
	stale    bool          // a snapshot after it was asked for, and has not come
	snapping chan struct{} // closed when the snapshot under way has been taken; nil without one
}

// Open returns a session on t for h. The shell starts with the first command. The Session does not own t: Close leaves it
// open. The error tells what cfg lacks.
func Open(t Transport, h hosts.Host, cfg Config) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return newSession(t, h, cfg, nil), nil
}

func newSession(t Transport, h hosts.Host, cfg Config, from *lender) *Session {
	s := &Session{id: newID("s_"), host: h, cfg: cfg, t: t, pool: from}
	s.closing, s.shut = context.WithCancel(context.Background())
	return s
}

func (s *Session) transport() Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.t
}

// ID is unique in this process and in the audit trail.
func (s *Session) ID() string { return s.id }

// Host is the host as given to Open.
func (s *Session) Host() hosts.Host { return s.host }

// Dir is the working directory after the last command; "" before the first.
func (s *Session) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// Run runs cmd until it ends. The Result is always filled. The error is nil exactly when the host answered (status ok,
// exit or signal); else it is the Result's *Error. When ctx ends first the command is stopped, see [Exec.Stop], and the
// status is canceled; the session stays usable.
func (s *Session) Run(ctx context.Context, cmd Command) (Result, error) {
	x := s.begin(ctx, cmd)
	if ctx.Done() == nil {
		<-x.done
	} else {
		select {
		case <-x.done:
		case <-ctx.Done():
			x.stop(StatusCanceled)
		}
	}
	if x.res.Err != nil {
		return x.res, x.res.Err
	}
	return x.res, nil
}

// Start begins cmd and returns while it runs. ctx bounds what comes before: policy, record, connecting, sending. The
// error is the *Error of a command that did not start.
func (s *Session) Start(ctx context.Context, cmd Command) (*Exec, error) {
	x := s.begin(ctx, cmd)
	select {
	case <-x.done:
		if x.res.Err != nil && !x.res.Err.Sent {
			return x, x.res.Err
		}
	default:
	}
	return x, nil
}

// begin takes a command through the gate: reserve, judge, record, send. The Exec it returns is done if that failed.
func (s *Session) begin(ctx context.Context, cmd Command) *Exec {
	x := &Exec{id: newID("e_"), s: s, cmd: cmd, tok: framing.NewToken(), began: time.Now(), done: make(chan struct{})}
	x.stdout, x.stderr = cmd.Stdout, cmd.Stderr
	keep := max(orDefault(cmd.Keep, DefaultKeep), 0)
	if keep == 0 && s.cfg.Outputs != nil {
		x.aside, keep = true, DefaultKeep
	}
	x.out.limit, x.err.limit = keep/2, keep/2
	x.res = Result{
		Host: s.host.Name, Session: s.id, Exec: x.id, Command: cmd.Script, State: Running, Started: x.began,
		Lane: laneSession, StderrMode: "live",
	}
	if cmd.Merged || cmd.Interactive {
		x.res.StderrMode = "merged"
	}
	caller := ctx
	ctx, abort := context.WithCancelCause(caller)
	defer abort(nil)
	x.abort = abort
	if !s.reserve(x) {
		return x
	}
	// The zero dialect will do to find out whether the script can be sent at all.
	if _, err := framing.Quote(cmd.Script); err != nil {
		x.fail(StatusError, "invalid", err)
		return x
	}
	switch s.judge(ctx, x) {
	case policy.Allow:
		s.proceed(ctx, x)
	case policy.Ask:
		// The caller may leave: whoever wants the answer holds the Exec, which holds the session.
		ctx, abort := context.WithCancelCause(context.WithoutCancel(caller))
		x.mu.Lock()
		x.abort = abort
		if x.why != "" || caller.Err() != nil {
			abort(context.Cause(caller))
		}
		x.mu.Unlock()
		s.wg.Go(func() {
			defer abort(nil)
			if s.await(ctx, x) {
				s.proceed(ctx, x)
			}
		})
	}
	return x
}

// proceed records and sends what has been allowed.
func (s *Session) proceed(ctx context.Context, x *Exec) {
	if !s.recordRequest(ctx, x) {
		return
	}
	if ctx.Err() != nil {
		s.failStart(ctx, x, context.Cause(ctx))
		return
	}
	if x.cmd.Action != nil {
		s.act(ctx, x)
		return
	}
	s.pickLane(x)
	for range maxShells {
		sh := s.laneOf(ctx, x)
		if sh == nil || !s.holds(x, sh) || !s.ready(ctx, x) || !s.input(ctx, x) || s.sendTo(ctx, sh, x) {
			return
		}
	}
	x.fail(StatusError, "shell", errors.New("every shell ended before the command was sent"))
}

// maxShells is how many shells a command tries. More than one is needed where a shell ends just before it takes the
// command.
const maxShells = 3

// reserve makes x the session's command.
func (s *Session) reserve(x *Exec) bool {
	s.mu.Lock()
	running, closed := s.cur, s.closed
	if running == nil && !closed {
		s.cur = x
	}
	s.mu.Unlock()
	switch {
	case closed:
		x.fail(StatusError, "closed", ErrClosed)
		return false
	case running != nil:
		x.busyWith = running.id
		x.fail(StatusError, "busy", fmt.Errorf("%w with %s: wait for it or stop it", ErrBusy, running.id))
		return false
	}
	return true
}

// release ends what reserve began.
func (s *Session) release(x *Exec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == x {
		s.cur = nil
	}
}

// laneOf returns the shell of x's lane, starting one where there is none, or fails x.
func (s *Session) laneOf(ctx context.Context, x *Exec) *shell {
	if x.res.Lane == laneClean {
		return s.laneFor(ctx, x)
	}
	return s.shellFor(ctx, x)
}

// shellFor returns the session's shell, starting one where there is none, or fails x.
func (s *Session) shellFor(ctx context.Context, x *Exec) *shell {
	s.settle(ctx)
	s.mu.Lock()
	sh, dir, moved := s.sh, s.dir, s.moved
	s.moved = false
	s.mu.Unlock()
	if sh != nil && sh.alive() {
		if (!sh.cooked.Load() || s.repair(ctx, sh)) && (!moved || s.moveTo(ctx, sh, dir)) {
			return s.usable(sh, x)
		}
	}
	if sh != nil {
		sh.close()
		x.note(func(r *Result) { r.ShellRestarted = true })
		if f := s.cfg.Trace.ShellRestarted; f != nil {
			f(s.host, s.id)
		}
	}
	began := time.Now()
	sh, err := s.newShell(ctx, x, dir)
	x.note(func(r *Result) { r.Dial = time.Since(began) - r.Queue })
	if err != nil {
		s.failStart(ctx, x, err)
		return nil
	}
	if x.res.ShellRestarted {
		var restored []string
		if dir != "" && sh.hello.Dir == dir {
			restored = append(restored, "cwd")
		}
		restored = append(restored, s.restore(ctx, sh)...)
		x.note(func(r *Result) { r.Restored = append(r.Restored, restored...) })
	}
	s.mu.Lock()
	s.sh, s.trace, s.typed = sh, false, false
	if s.dir == "" {
		s.dir = sh.hello.Dir
	}
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close has not seen this shell
		sh.close()
		s.failStart(ctx, x, ErrClosed)
		return nil
	}
	return s.usable(sh, x)
}

func (s *Session) usable(sh *shell, x *Exec) *shell {
	if !sh.hello.Exact && !x.cmd.Merged && !x.cmd.Interactive {
		x.note(func(r *Result) { r.StderrMode = "lines" })
	}
	return sh
}

// newShell starts a shell in dir. Where the connection is gone, or has no room, it goes on with another one, if the
// session has a pool to get it from: nothing has been sent yet.
func (s *Session) newShell(ctx context.Context, x *Exec, dir string) (*shell, error) {
	spec := framing.Shell{Name: s.host.Shell, Login: s.host.Login, Dir: dir, Env: s.host.Env, Clean: s.cfg.CleanEnv}
	for try := 0; ; {
		var sh *shell
		err := errNoConn
		if t := s.transport(); t != nil {
			sh, err = s.shellOn(ctx, t, spec)
		}
		if err == nil || s.pool == nil || try == maxConns-1 || !errors.Is(err, errNoConn) && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrFull) || ctx.Err() != nil {
			return sh, err
		}
		// What is given back must not be used again, not even when there is nothing instead.
		s.mu.Lock()
		s.t, s.lost = nil, s.lost || errors.Is(err, ErrClosed)
		s.mu.Unlock()
		t, queued, again, lerr := s.pool.exchange(ctx, err)
		if !again {
			try++
		}
		x.note(func(r *Result) { r.Queue += queued })
		if lerr != nil {
			return nil, lerr
		}
		s.mu.Lock()
		lost := s.lost
		s.t, s.lost = t, false
		s.mu.Unlock()
		x.note(func(r *Result) { r.Reconnected = r.Reconnected || r.ShellRestarted && lost })
	}
}

// shellOn starts a shell on one connection within the time that a shell has to become ready.
func (s *Session) shellOn(ctx context.Context, t Transport, spec framing.Shell) (*shell, error) {
	if s.cfg.Ready > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.Ready, fmt.Errorf(
			"no shell was ready within %v: the account's start files may wait for input", s.cfg.Ready))
		defer cancel()
	}
	return startShell(ctx, s.held(t), spec)
}

// failStart sorts out why there is no shell.
func (s *Session) failStart(ctx context.Context, x *Exec, err error) {
	var dialed *dialError
	switch {
	case s.closing.Err() != nil, errors.Is(err, errPoolClosed):
		x.fail(StatusCanceled, "closed", ErrClosed)
	case x.reason() != "":
		why := x.reason()
		x.fail(why, string(why), errors.New("stopped before anything was sent"))
	case ctx.Err() != nil:
		x.fail(StatusCanceled, "canceled", fmt.Errorf("stopped before anything was sent: %w", context.Cause(ctx)))
	case errors.As(err, &dialed):
		status, code := dialed.status()
		x.fail(status, code, dialed.Err)
	case errors.Is(err, ErrClosed):
		x.fail(StatusUnreachable, "unreachable", fmt.Errorf("the connection is gone: %w", err))
	case errors.Is(err, ErrFull):
		x.fail(StatusUnreachable, "full", err)
	default:
		x.fail(StatusError, "shell", err)
	}
}

// repair puts the terminal back as it was before a command changed it.
func (s *Session) repair(ctx context.Context, sh *shell) bool {
	_, ok := s.runOwn(ctx, sh, framing.Command{Script: framing.Repair, Mode: framing.Tty})
	sh.cooked.Store(false)
	return ok
}

// input gets the command's standard input ready, or fails x.
func (s *Session) input(ctx context.Context, x *Exec) bool {
	if x.cmd.Stdin == nil || x.cmd.Interactive || x.feed != nil {
		return true
	}
	if s.cfg.Ready > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.Ready, fmt.Errorf("the host was not ready for it within %v", s.cfg.Ready))
		defer cancel()
	}
	f, err := s.openFeed(ctx, x)
	if err != nil {
		x.fail(StatusError, "stdin", err)
		return false
	}
	x.feed = f
	return true
}

// shellName is the kind of shell that runs the commands; before the first, what was asked for.
func (s *Session) shellName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sh != nil {
		return s.sh.hello.Dialect.String()
	}
	return s.host.Shell
}

// longText is the length from which a frame is written by a goroutine of its own: the shell's first answers may have to
// be read before the last of it fits.
const longText = 2048

// sendTo sends x's frame, or fails x. It reports false when the shell had ended, and so nothing was sent.
func (s *Session) sendTo(ctx context.Context, sh *shell, x *Exec) bool {
	s.mu.Lock()
	cmd := framing.Command{Script: x.cmd.Script, Trace: s.trace && x.res.Lane == laneSession}
	text := make([]byte, 0, len(x.cmd.Script)+96)
	if s.typed { // ends what was typed past the end of a command: the shell passes over such a line
		text = append(text, '\n')
	}
	s.typed = x.cmd.Interactive
	s.mu.Unlock()
	switch {
	case x.cmd.Interactive:
		cmd.Mode, cmd.Rows, cmd.Cols = framing.Interactive, x.cmd.Size.Rows, x.cmd.Size.Cols
	case x.cmd.Merged:
		cmd.Mode = framing.Merged
	}
	if x.feed != nil {
		cmd.Stdin = x.feed.f.Path
	}
	text, err := framing.Append(text, sh.hello.Dialect, x.tok, cmd)
	if err != nil {
		x.fail(StatusError, "invalid", err)
		return true
	}
	x.mu.Lock()
	x.sent = x.why == "" && ctx.Err() == nil
	sent := x.sent
	x.sh = sh
	x.mu.Unlock()
	if !sent {
		s.failStart(ctx, x, context.Cause(ctx))
		return true
	}
	if x.res.Lane == laneSession {
		s.taint(x.res.Decision)
	}
	x.startClocks(sh, len(text))
	if !sh.take(x, x.tok) {
		x.mu.Lock()
		x.sent = false
		x.mu.Unlock()
		return false
	}
	if f := s.cfg.Trace.Sent; f != nil {
		f(s.host, x.id, len(text))
	}
	if len(text) <= longText {
		// A shell that takes nothing more must not hold a caller who has gone.
		unwatch := context.AfterFunc(ctx, func() { x.stop(StatusCanceled) })
		sh.write(text)
		unwatch()
	} else {
		s.wg.Go(func() { sh.write(text) })
	}
	return true
}

// frameEnded notes the state that a command leaves.
func (s *Session) frameEnded(lane string, t framing.Trailer) {
	if lane == laneSession {
		s.mu.Lock()
		s.trace = t.Trace
		s.mu.Unlock()
	}
	s.stands(lane, t.Dir)
}

// Reset replaces the shell by a new one in the same directory, stopping what runs. It starts with the next command, and
// has nothing of the old one.
func (s *Session) Reset() {
	s.mu.Lock()
	sh := s.sh
	s.state, s.tainted, s.set = "", false, nil
	s.mu.Unlock()
	if sh != nil {
		sh.retire() // what begins from here on gets another one
	}
	s.mu.Lock()
	x := s.cur
	s.mu.Unlock()
	if x != nil {
		x.abandon()
	}
	if sh != nil {
		sh.close()
	}
	s.closeLane()
	if x != nil {
		<-x.done
	}
}

// Close ends the shell with all that still runs in its terminal, and returns when our goroutines are gone. What left the
// terminal's session (setsid, nohup) goes on. Close is idempotent.
func (s *Session) Close() error {
	sh, x := s.seal()
	if sh != nil {
		sh.close()
	}
	s.closeLane()
	if x != nil {
		<-x.done
	}
	s.wg.Wait()
	if s.pool != nil {
		s.pool.free()
	}
	return nil
}

// seal begins Close: no more commands, and what runs is not lost but canceled.
func (s *Session) seal() (sh *shell, x *Exec) {
	s.mu.Lock()
	s.closed = true
	s.shut()
	sh, x = s.sh, s.cur
	s.mu.Unlock()
	if x != nil {
		x.abandon()
	}
	return sh, x
}
