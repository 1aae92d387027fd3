package pipe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Bounds of connecting to where a forward goes: from this machine, and from the host, which may try for as long as Linux does
// (tcp_syn_retries in tcp(7): 127 s).
const (
	targetDial = 30 * time.Second
	targetPipe = 150 * time.Second
)

// forwarder is a connection that can forward ports.
type forwarder interface {
	session.Transport
	piper
	Validate() error
	Limited() string
	Listen(ctx context.Context, host string, port uint16) (*sshconn.Listener, error)
	Done() <-chan struct{}
}

// Forward is a port or socket that is forwarded. Close it. Its methods may be used concurrently.
type Forward struct {
	cfg    Config
	h      hosts.Host
	f      hosts.Forward // with the port that is listened on
	reason string
	caller string
	tell   func(error)
	entry  *entry

	ctx    context.Context // with what cfg.Decide and cfg.Lend need of the request; ends with the forward
	cancel context.CancelFunc
	local  net.Listener // of -L and -D
	wg     sync.WaitGroup
	done   chan struct{} // closed once all is gone and on record; err and why are set by then
	err    error         // of the audit log
	why    error         // it ended by itself; nil where Close was the reason

	mu     sync.Mutex        // guards what follows; held while connecting
	held   *lent             // nil where none is
	remote *sshconn.Listener // of -R, on held

	opened        time.Time
	now, all      atomic.Int64 // connections
	failed        atomic.Int64
	sent, got     atomic.Int64
	lastFault     atomic.Pointer[string]
	closing, ends sync.Once
}

// lent is a connection to the host. It is given back once another one has taken its place and nothing passes through it any more.
type lent struct {
	conn    forwarder
	release func()
	passing int  // guarded by Forward.mu, as is what follows
	retired bool // another one has taken its place
}

// Stats is what has passed through a Forward. Failed counts connections that came to nothing, and Fault is why the last did.
type Stats struct {
	Open, Connections, Failed int64
	Sent, Received            int64 // bytes to the target, and from it
	Fault                     string
}

// OpenForward judges, connects, records and listens, in this order; the listening address of this machine is taken first, so that one
// that is in use costs nobody a connection. When the connection to the host is lost it connects again: with -R at once, else when it
// must. ctx bounds opening, and what it holds stays in use. tell hears of every connection that fails. Errors are *[session.Error].
func OpenForward(ctx context.Context, cfg Config, h hosts.Host, f hosts.Forward, reason, caller string, tell func(error)) (_ *Forward, err error) {
	fail := func(code string, err error) (*Forward, error) {
		return nil, &session.Error{Op: "forward", Host: h.Name, Code: code, Err: err}
	}
	if err := f.Check(); err != nil {
		return fail("invalid", err)
	}
	if h.Transport != hosts.SSH && h.Transport != "" {
		return fail("invalid", fmt.Errorf("it is reached by %s, and ports are forwarded over ssh only", h.Transport))
	}
	if h.Become.ByCall {
		return fail("invalid", fmt.Errorf("forwards are the account's that logs in, and cannot be those of %s", h.Become.User))
	}
	w := &Forward{cfg: cfg, h: h, f: f, reason: reason, caller: caller, tell: tell, done: make(chan struct{}), opened: time.Now()}
	d, err := w.judge(ctx)
	if err != nil {
		return fail("denied", err)
	}
	w.entry = newForwardEntry(cfg, h, f, reason, caller, d)
	if d.Verdict != policy.Allow {
		err := w.entry.request(session.Peer{})
		if err == nil {
			err = w.entry.result(session.StatusDenied, session.Exit{}, &session.Error{Code: "denied", Err: errors.New(d.Reason)})
		}
		if err != nil {
			return fail("audit", err)
		}
		return fail("denied", errors.New(d.Reason))
	}
	if f.Option != "-R" {
		if w.local, err = Listen(f); err != nil {
			if errors.Is(err, syscall.EADDRINUSE) {
				err = fmt.Errorf("%w: take another port, or 0 for one that is free", err)
			}
			return fail("listen", fmt.Errorf("%s: %w", f, err))
		}
		if a, ok := w.local.Addr().(*net.TCPAddr); ok {
			w.f.Port = uint16(a.Port)
		}
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := w.connect(ctx, true); err != nil {
		w.cancel()
		if w.local != nil {
			w.local.Close()
		}
		failed := &session.Error{Op: "forward", Host: h.Name, Code: codeOf(err), Err: err}
		if errors.Is(err, sshconn.ErrRefused) {
			failed.Code = "refused"
		}
		if w.entry.asked {
			_ = w.entry.result(session.StatusError, session.Exit{}, failed)
		} else if failed.Code != "audit" {
			failed.Err = errors.New(cmdutil.WhyAt(err))
		}
		return nil, failed
	}
	w.wg.Go(w.accept)
	return w, nil
}

// Unlimited says why PermitRemoteOpen is refused.
const Unlimited = "not supported, and a -R without a destination would lead anywhere: name the host and the port that it is to reach"

// unlimitedError is a PermitRemoteOpen, and where it stands.
type unlimitedError struct{ from string }

func (e *unlimitedError) Error() string { return e.from + ": PermitRemoteOpen: " + Unlimited }

func (e *unlimitedError) Unwrap() error { return errors.ErrUnsupported }

// judge asks the policy about the forward as a whole.
func (w *Forward) judge(ctx context.Context) (d policy.Decision, err error) {
	operator := hosts.RoleOf(w.cfg.Principal) == hosts.RoleOperator
	script := ForwardScript(w.f)
	switch {
	case w.f.Option != "-L" && !operator:
		return policy.Decision{Verdict: policy.Deny, Rule: "forward/operators", Reason: w.f.Option + " is for operators: only -L can be allowed to others, by a rule of the policy"}, nil
	case hosts.IsSocket(w.f.Bind) && !operator: // a file of this machine that they choose
		return policy.Decision{Verdict: policy.Deny, Rule: "forward/operators", Reason: "sockets to listen on are for operators: only -L with a port here can be allowed to others, by a rule of the policy"}, nil
	case script == "":
		return policy.Decision{Verdict: policy.Allow, Rule: "forward/each", Reason: "each connection is judged"}, nil
	}
	if d, err = w.decide(ctx, script); err != nil {
		return d, err
	}
	if d.Verdict == policy.Ask {
		d.Verdict, d.Reason = policy.Deny, d.Reason+"; it needs approval, which a forward cannot wait for: a rule of the policy can allow it"
	}
	return d, nil
}

func (w *Forward) decide(ctx context.Context, script string) (policy.Decision, error) {
	d, err := w.cfg.Decide(ctx, policy.Request{Principal: w.cfg.Principal, Host: w.h, Command: script, Reason: w.reason, Elsewhere: true})
	if err != nil {
		err = fmt.Errorf("the policy could not decide: %w", err)
	}
	return d, err
}

// connect takes a connection to the host. The first time it records before it asks the server for anything.
func (w *Forward) connect(ctx context.Context, first bool) error {
	var conn forwarder
	var remote *sshconn.Listener
	release, err := w.cfg.Lend(ctx, w.h, func(t session.Transport) (err error) {
		var ok bool
		if conn, ok = t.(forwarder); !ok {
			return errors.New("this connection forwards no ports")
		}
		if from := conn.Limited(); from != "" && w.f.Option == "-R" && w.f.Host == "" {
			return &unlimitedError{from}
		}
		if first && !w.entry.asked { // the first connection may have no room
			if err := w.entry.request(t.Peer()); err != nil {
				return &auditError{err}
			}
		}
		if w.f.Option == "-R" {
			remote, err = conn.Listen(ctx, w.f.Bind, w.f.Port)
		}
		return err
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.remote = &lent{conn: conn, release: release}, remote
	if remote != nil && first {
		w.f.Port = remote.Port()
	}
	return nil
}

// Waits between attempts to listen on a port of the host again.
const (
	firstAgain = time.Second
	lastAgain  = time.Minute
)

// again connects after a lost connection and listens on the same port of the host, until it has, the forward ends, or it may not any
// more. It waits first where the connection was lost as soon as it was there. Its error is why there is no use in trying.
func (w *Forward) again(soon bool) error {
	w.mu.Lock()
	w.retire()
	w.remote = nil
	w.mu.Unlock()
	said, wait := "", time.Duration(0)
	if soon {
		wait = firstAgain
	}
	for ; ; wait = min(max(2*wait, firstAgain), lastAgain) {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.ctx.Done():
			timer.Stop()
			return nil
		}
		ctx, cancel := context.WithTimeout(w.ctx, targetPipe)
		d, err := w.judge(ctx)
		if err == nil && d.Verdict != policy.Allow {
			cancel()
			return fmt.Errorf("the connection to the host was lost, and the forward is denied by now: %s", d.Reason)
		}
		if err == nil {
			err = w.connect(ctx, false)
		}
		cancel()
		switch {
		case err == nil || w.ctx.Err() != nil:
			return nil
		case errors.Is(err, session.ErrAuth), errors.Is(err, session.ErrHostKey), errors.Is(err, session.ErrAudit), errors.Is(err, errors.ErrUnsupported):
			return fmt.Errorf("the connection to the host was lost, and with it the port there: %s", cmdutil.WhyAt(err))
		}
		// A server that has not seen the end of the old connection holds the port.
		if text := cmdutil.Text(err); text != said {
			said = text
			w.fault(fmt.Errorf("%s: the connection to the host was lost, and Fairlead tries to connect again: %w", w.f, err))
		}
	}
}

// fault tells what went wrong with a part of the forward.
func (w *Forward) fault(err error) {
	text := cmdutil.OneLine(cmdutil.Text(err))
	w.lastFault.Store(&text)
	if w.tell != nil {
		w.tell(err)
	}
}

// retire has a connection take nothing new, and gives it back with the last that passes through it. w.mu is held.
func (w *Forward) retire() {
	if l := w.held; l != nil {
		w.held, l.retired = nil, true
		if l.passing == 0 {
			l.release()
		}
	}
}

// left is the end of what passed through l.
func (w *Forward) left(l *lent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.passing--; l.passing == 0 && l.retired {
		l.release()
	}
}

// lend takes another connection to the host. w.mu is held.
func (w *Forward) lend(ctx context.Context) (*lent, error) {
	l := &lent{}
	var err error
	l.release, err = w.cfg.Lend(ctx, w.h, func(t session.Transport) error {
		var ok bool
		if l.conn, ok = t.(forwarder); !ok {
			return errors.New("this connection forwards no ports")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// through returns a connection to the host for something new to pass through, until it is given to left. It takes another one where
// there is none, and where nothing new may begin on the one that is held: its host is not trusted any more, or what logged in has
// expired. What passes through that goes on.
func (w *Forward) through(ctx context.Context) (*lent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil && (over(w.held.conn) || w.held.conn.Validate() != nil) {
		w.retire()
	}
	if w.held == nil {
		var err error
		if w.held, err = w.lend(ctx); err != nil {
			return nil, err
		}
	}
	w.held.passing++
	return w.held, nil
}

// over reports whether a connection is gone.
func over(conn forwarder) bool {
	select {
	case <-conn.Done():
		return true
	default:
		return false
	}
}

// errMoved says that another connection listens on the port of the host.
var errMoved = errors.New("another connection listens")

// come lets a connection to the port of the host pass, until it is given to left. Where nothing new may begin on the connection that
// it has come through, that is refused; another connection listens then, if the host lets it: errMoved.
func (w *Forward) come() (*lent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.held
	if l.conn.Validate() == nil {
		l.passing++
		return l, nil
	}
	ctx, cancel := context.WithTimeout(w.ctx, targetPipe)
	defer cancel()
	next, err := w.lend(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: a connection to the port of the host is refused: %s", w.f, cmdutil.WhyAt(err))
	}
	w.remote.Close()
	w.retire()
	if w.remote, err = next.conn.Listen(ctx, w.f.Bind, w.f.Port); err != nil {
		next.release()
		return nil, err
	}
	w.held = next
	return nil, errMoved
}

// end ends the forward because of itself.
func (w *Forward) end(why error) {
	w.ends.Do(func() { w.why = why })
	go w.Close() // waits for whoever calls this
}

// Close ends the forward and all its connections, and returns when that is on record. It is idempotent.
func (w *Forward) Close() error {
	w.ends.Do(func() {})
	w.closing.Do(func() {
		w.cancel()
		if w.local != nil {
			w.local.Close()
		}
		w.wg.Wait()
		w.mu.Lock()
		if w.remote != nil {
			w.remote.Close()
		}
		w.retire()
		w.mu.Unlock()
		s := w.Stats()
		w.entry.in, w.entry.out = s.Sent, s.Received
		w.entry.who.Change = fmt.Sprintf("listened on %s, %s", w.Forwarding().Listen(), cmdutil.Count(int(s.Connections), "connection"))
		if w.why != nil {
			w.err = w.entry.result(session.StatusLost, session.Exit{}, &session.Error{Code: "lost", Err: w.why})
		} else {
			w.err = w.entry.result(session.StatusOK, session.Exit{}, nil)
		}
		close(w.done)
	})
	<-w.done
	return w.err
}

// Done is closed once the forward has ended. Why then tells why it ended by itself; nil where it was closed.
func (w *Forward) Done() <-chan struct{} { return w.done }

// Why is nil until Done is closed.
func (w *Forward) Why() error {
	select {
	case <-w.done:
		return w.why
	default:
		return nil
	}
}

// Forwarding is what is forwarded, with the port that is listened on.
func (w *Forward) Forwarding() hosts.Forward { return w.f }

// Host is the host that it goes through.
func (w *Forward) Host() hosts.Host { return w.h }

// ID is the same as in the audit log.
func (w *Forward) ID() string { return w.entry.who.ID }

// Opened is when it began.
func (w *Forward) Opened() time.Time { return w.opened }

// Stats is one consistent enough look at what has passed.
func (w *Forward) Stats() Stats {
	s := Stats{Open: w.now.Load(), Connections: w.all.Load(), Failed: w.failed.Load(), Sent: w.sent.Load(), Received: w.got.Load()}
	if text := w.lastFault.Load(); text != nil {
		s.Fault = *text
	}
	return s
}
