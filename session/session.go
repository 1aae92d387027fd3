package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
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

	elevation *elevation // nil: commands run as the account that logs in

	single bool // for one command
	many   bool // which others get on other hosts

	closing context.Context // ends with Close
	shut    context.CancelFunc

	mu     sync.Mutex // guards what follows; never held while waiting or calling out
	t      Transport  // nil when there is none yet, or none any more
	lost   bool       // the connection before was lost
	cur    *Exec      // running, or about to
	sh     *shell     // nil before the first command
	dir    string     // where the shell stands; "" before the first command
	trace  bool       // xtrace is on
	status int        // the exit code of the last command
	typed  bool       // something may have been typed that no command read
	closed bool

	tainted bool     // something that may change what later commands mean has run in sh
	sets    bool     // commands have set names there
	set     []string // names that commands have set there, as far as it was seen
	moved   bool     // sh does not stand in dir

	setIn map[string]string // names that were set later in another lane's shell, by its lane; held is for a shell that has ended

	cleanSide, heldSide, trialSide side        // the other lanes
	untried                        string      // why commands cannot be tried held to reading there; "" where they can, or before
	unheld                         string      // why the host cannot hold a command to reading; "" where it can, or before it was tried
	unwilling                      string      // why no held shell starts for what need not be held, though the host may hold; "" where one does
	warmed                         []*warmKind // of the shells that it has had, where others may be started ahead
	changes                        int         // warmKind.changes of the last, when that was asked for

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
	if t == nil {
		return nil, errors.New("session: Open needs a Transport")
	}
	return newSession(t, h, cfg, nil), nil
}

func newSession(t Transport, h hosts.Host, cfg Config, from *lender) *Session {
	s := &Session{id: id.New("s_"), host: h, cfg: cfg, t: t, pool: from, elevation: newElevation(h, &cfg)}
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
			x.stopFor(StatusCanceled, ctxerr.Of(ctx))
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
	x := &Exec{id: id.New("e_"), s: s, cmd: cmd, tok: framing.NewToken(), began: time.Now(), done: make(chan struct{}), begun: make(chan struct{})}
	x.stdout, x.stderr = cmd.Stdout, cmd.Stderr
	keep := max(orDefault(cmd.Keep, DefaultKeep), 0)
	if keep == 0 && s.cfg.Outputs != nil {
		x.aside, keep = true, DefaultKeep
	}
	x.out.Limit(keep / 2)
	x.err.Limit(keep / 2)
	x.res = Result{
		Host: s.host.Name, Session: s.id, Exec: x.id, Command: cmd.Script, State: Running, Started: x.began,
		Lane: laneSession, StderrMode: "live", Own: cmd.inner.own,
	}
	if cmd.Merged || cmd.Interactive {
		x.res.StderrMode = "merged"
	}
	ctx = x.traced(ctx)
	if s.elevation != nil {
		ctx, x.forget = become.InRun(ctx, 1)
	}
	x.values = context.WithoutCancel(ctx)
	caller := ctx
	ctx, abort := context.WithCancelCause(caller)
	defer abort(nil)
	x.abort = abort
	if !s.reserve(x) {
		return x
	}
	// The zero dialect will do to find out whether the script can be sent at all.
	if _, err := framing.Quote(cmd.Script); err != nil {
		x.fail(StatusError, "invalid", fmt.Errorf("the command: %w", err))
		return x
	}
	text, err := cmd.surrounded()
	if err != nil {
		x.fail(StatusError, "invalid", err)
		return x
	}
	x.cmd.Script, x.res.Command = text, text
	if err := cmd.check(); err != nil {
		x.fail(StatusError, "invalid", err)
		return x
	}
	if !s.becomes(x) || !s.wrappable(x) {
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
		over := x.asks() // before anybody can look
		if x.why != "" || caller.Err() != nil {
			abort(ctxerr.Of(caller))
		}
		x.mu.Unlock()
		s.wg.Go(func() {
			defer abort(nil)
			defer over()
			if s.await(ctx, x, over) {
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
		s.failStart(ctx, x, ctxerr.Of(ctx))
		return
	}
	if !s.heldStarts(ctx, x) {
		return
	}
	if x.cmd.inner.action != nil {
		x.sending()
		s.act(ctx, x)
		return
	}
	s.pickLane(x)
	for range maxShells {
		sh := s.laneOf(ctx, x)
		if sh == nil || !s.holds(x, sh) || !s.ready(ctx, x) || !s.input(ctx, sh, x) || s.sendTo(ctx, sh, x) {
			return
		}
	}
	x.fail(StatusUnreachable, "shell", errors.New("every shell ended before the command was sent"))
}

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
		x.fail(StatusError, "busy", fmt.Errorf("%w with %s: wait for it, interrupt it, or reset the session", ErrBusy, running.id))
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
	s.closed = s.closed || x.cmd.inner.needed && x.Result().Status != StatusOK
}

// Reset replaces the shell by a new one in the same directory, stopping what runs. It starts with the next command, and
// has nothing of the old one.
func (s *Session) Reset() {
	s.mu.Lock()
	sh := s.sh
	s.state, s.tainted, s.sets, s.set, s.setIn, s.status, s.unheld, s.unwilling, s.untried = "", false, false, nil, nil, 0, "", "", ""
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
	s.closeSides()
	if x != nil {
		<-x.done
	}
}

// Close ends the shell with all that still runs in its terminal, and returns when our goroutines are gone. What left the
// terminal's session (setsid, nohup) goes on. Close is idempotent.
func (s *Session) Close() error {
	if s.pool != nil && s.pool.warm != nil {
		s.pool.warm.keep(s)
	}
	sh, x := s.seal()
	s.cool()
	if sh != nil {
		sh.close()
	}
	s.closeSides()
	if x != nil {
		<-x.done
	}
	s.wg.Wait()
	s.cool() // of what began meanwhile
	if s.pool != nil {
		s.pool.free()
	}
	return nil
}

// leavesTime bounds Leaves: hosts with thousands of processes take a second.
const leavesTime = 3 * time.Second

// Leaves returns the programs that commands have started and that Close leaves running: what ignores the hangup (nohup), and what has a
// session of its own (setsid) while the shell or a program of the shell's is its parent. Names are as the host tells them, and may hold
// anything. It asks the host through a second program, for some seconds at most, and never the person. nil is also what cannot be
// known: of a session without a shell, a connection that is lost, and hosts that are no Linux.
func (s *Session) Leaves(ctx context.Context) (left []framing.Process) {
	ctx, cancel := context.WithTimeout(become.Unasked(ctx), leavesTime)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	s.mu.Lock()
	shells := []*shell{s.sh, s.sideOf(laneClean).sh} // what is held starts nothing that stays
	s.mu.Unlock()
	for _, sh := range shells {
		if sh != nil && sh.alive() {
			pid := sh.hello.PID
			left = append(left, framing.ParseLeaves(s.runBeside(ctx, framing.Leaves(pid), want{once: true, until: time.Now(), more: true}), pid)...)
		}
	}
	return left
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
