package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Defaults of PoolConfig.
const (
	DefaultMaxConnsPerHost    = 2
	DefaultMaxSessionsPerConn = 8 // below sshd's own limit of 10 (sshd_config(5), MaxSessions)
	DefaultMaxDials           = 16
	DefaultForks              = 32
	DefaultDialTimeout        = time.Minute
	DefaultIdleTimeout        = 10 * time.Minute
	DefaultMaxLifetime        = 8 * time.Hour
	DefaultLeaseTTL           = time.Hour
	DefaultMaxWarm            = 256
)

// PoolConfig configures a Pool. Dial and Session's required fields are required. In every numeric field zero means the
// default, a negative value no limit.
type PoolConfig struct {
	// Dial connects to a host. It runs in a goroutine of its own: a caller who gives up waiting does not cancel it, since
	// the connection may serve the next one. Its context keeps the caller's values and ends after DialTimeout or with
	// the pool. Errors that wrap ErrAuth and ErrHostKey are told as such.
	Dial func(ctx context.Context, h hosts.Host) (Transport, error)

	// Login names what Dial takes from its context to log in with, such as the agent of whoever calls. Calls for which it differs share no
	// connection, and MaxConnsPerHost is for each; one for which it is "" has those that were asked for last, or its own. Nil is "" for
	// all. It must not block: a lock of the pool is held.
	Login func(context.Context) string

	Session Config // for every session that the pool opens

	MaxConnsPerHost    int           // dialing, in use and idle together; where sessions fill them, a few more serve one-off commands
	MaxSessionsPerConn int           // less where a server shows that it takes less
	MaxDials           int           // in progress over all hosts
	Forks              int           // commands of one Each at a time
	DialTimeout        time.Duration // connection and authentication
	IdleTimeout        time.Duration // an unused connection closes after this
	MaxLifetime        time.Duration // a connection takes no new sessions after this
	LeaseTTL           time.Duration // a lease that is not extended for this long is taken back

	// MaxWarm is how many shells, over all hosts, may wait for one-off commands: where one follows another within a minute,
	// a shell is started ahead of the next. It waits for a minute at most, and runs that one alone, or others after it where each leaves
	// it as it was (policy.Decision.Traceless), for five minutes at most.
	MaxWarm int

	// FullHint ends the text of a FullError: how to close a session here.
	FullHint string
}

func (c PoolConfig) withDefaults() (PoolConfig, error) {
	if c.Dial == nil {
		return c, errors.New("session: PoolConfig.Dial is required")
	}
	var err error
	if c.Session, err = c.Session.withDefaults(); err != nil {
		return c, err
	}
	c.MaxConnsPerHost = orDefault(c.MaxConnsPerHost, DefaultMaxConnsPerHost)
	c.MaxSessionsPerConn = orDefault(c.MaxSessionsPerConn, DefaultMaxSessionsPerConn)
	c.MaxDials = orDefault(c.MaxDials, DefaultMaxDials)
	c.Forks = orDefault(c.Forks, DefaultForks)
	c.DialTimeout = orDefault(c.DialTimeout, DefaultDialTimeout)
	c.IdleTimeout = orDefault(c.IdleTimeout, DefaultIdleTimeout)
	c.MaxLifetime = orDefault(c.MaxLifetime, DefaultMaxLifetime)
	c.LeaseTTL = orDefault(c.LeaseTTL, DefaultLeaseTTL)
	c.MaxWarm = orDefault(c.MaxWarm, DefaultMaxWarm)
	return c, nil
}

// Pool keeps connections to hosts and opens sessions on them. It shares connections, never shells: every session gets a
// fresh one, so nothing leaks from one user to the next. One that is fresh may have been started ahead, see MaxWarm. Two hosts share a connection only where address, port, user,
// route and identity are equal. A pool belongs to one principal, because connections carry credentials. It is safe for
// concurrent use. No lock is held while reading, writing, dialing or calling out.
//
// Closing returns when these goroutines are gone:
//
//	goroutine                      started by               ends with                         awaited by
//	pump (one per shell)           the first command        the shell's stream                Session.Close
//	writer (of a long script)      Run, Start               its write; closing the stream     Session.Close
//	step of the ladder             a timeout, Stop          its grace                         the command's end
//	asking whether to type         Type, Input              the answer; the command's end     the command's end
//	timeout of a command           Run, Start               the command's end                 the command's end
//	dial                           a session of a pool      its end, DialTimeout, Pool.Close  Pool.Close
//	watch (one per connection)     the dial                 the connection's end              Pool.Close
//	worker (of Each)               Pool.Each                the loop's end                    Pool.Each
//	close (of Run's shell)         Pool.Run, Each           the end of the shell              Pool.Close
//	spare (one per warm shell)     a session's Close        its use, a minute, Pool.Close     Pool.Close
type Pool struct {
	cfg   PoolConfig
	given Config // cfg.Session before its defaults
	core  *connPool
	warm  *warmth

	closing sync.WaitGroup // of shells whose command has ended

	mu       sync.Mutex // guards what follows
	sessions map[*Session]struct{}
	closed   bool
	empty    chan struct{} // closed when there are no sessions and will be none; made by Shutdown
}

// NewPool checks cfg and returns a Pool. It dials nothing.
func NewPool(cfg PoolConfig) (*Pool, error) {
	given := cfg.Session
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, given: given, core: newConnPool(cfg), sessions: map[*Session]struct{}{}}
	p.core.users = p.usersOf
	p.warm = newWarmth(p.core, cfg.MaxWarm)
	p.core.evict = p.warm.evict
	return p, nil
}

// Run runs cmd on h in a shell of its own, which is closed afterwards: Close waits for that, Run does not. See [Session.Run]
// for Result and error.
func (p *Pool) Run(ctx context.Context, h hosts.Host, cmd Command) (Result, error) {
	r := p.run(ctx, h, cmd)
	if r.Err != nil {
		return r, r.Err
	}
	return r, nil
}

func (p *Pool) run(ctx context.Context, h hosts.Host, cmd Command) Result {
	h, err := cmd.as(h)
	if err != nil {
		return invalidResult(h, cmd, fmt.Errorf("Command.Become: %w", err))
	}
	cfg := p.cfg.Session
	cfg.OneOff = true
	s := p.newSessionWith(h, cfg)
	if s == nil {
		return closedResult(h, cmd)
	}
	defer p.leave(s)
	s.single, s.many = true, cmd.Group != ""
	cmd.Script, cmd.Scripts = cmd.ScriptOn(h), nil
	if cmd.Stdins != nil {
		cmd.Stdin, cmd.Stdins = cmd.Stdins(h), nil
	}
	if all, ok := cmd.inner.action.(seam.PerHost[Transport]); ok {
		cmd.inner.action = all.For(h)
	}
	r, _ := s.Run(ctx, cmd)
	return r
}

// leave closes s, and does not wait for it unless the pool is closed.
func (p *Pool) leave(s *Session) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.closing.Add(1)
	}
	p.mu.Unlock()
	if closed {
		s.Close()
		return
	}
	kept := p.warm.keep(s)
	if !kept {
		s.pool.leave()
	}
	had := s.cool() // the next command need not find this one running
	go func() {
		defer p.closing.Done()
		if s.many && !kept {
			p.warm.rest()
		}
		s.Close()
		p.warm.fill(had, s.many) // there may have been no place before
	}()
}

// errOneInput keeps hosts from getting a part each of one input.
var errOneInput = errors.New("Command.Stdin is the input of one host: several get theirs from Command.Stdins")

func invalidResult(h hosts.Host, cmd Command, err error) Result {
	return Result{Host: h.Name, Command: cmd.ScriptOn(h), State: Done, Status: StatusError, Lane: "session",
		Err: &Error{Op: "run", Host: h.Name, Code: "invalid", Err: err}}
}

func closedResult(h hosts.Host, cmd Command) Result {
	return Result{Host: h.Name, Command: cmd.ScriptOn(h), State: Done, Status: StatusError, Lane: "session",
		Err: &Error{Op: "run", Host: h.Name, Code: "closed", Err: ErrClosed}}
}

// Open returns a session on h that the caller keeps and closes. The connection is made, or shared, with the first
// command. It fails only when the pool is closed.
func (p *Pool) Open(h hosts.Host) (*Session, error) {
	if s := p.newSession(h); s != nil {
		return s, nil
	}
	return nil, &Error{Op: "open", Host: h.Name, Code: "closed", Err: ErrClosed}
}

// OpenWith is Open for a session that is configured in a way of its own: change gets a copy of PoolConfig.Session, and
// must leave Policy and Audit set. A nil change changes nothing.
func (p *Pool) OpenWith(h hosts.Host, change func(*Config)) (*Session, error) {
	cfg := p.given
	if change != nil {
		change(&cfg)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if s := p.newSessionWith(h, cfg); s != nil {
		return s, nil
	}
	return nil, &Error{Op: "open", Host: h.Name, Code: "closed", Err: ErrClosed}
}

// OpenOnce is Open for a session that is for a few commands of one caller, see Config.OneOff.
func (p *Pool) OpenOnce(h hosts.Host) (*Session, error) {
	return p.OpenWith(h, func(c *Config) { c.OneOff = true })
}

func (p *Pool) newSession(h hosts.Host) *Session { return p.newSessionWith(h, p.cfg.Session) }

// newSessionWith makes a session that borrows its connection; nil after Close.
func (p *Pool) newSessionWith(h hosts.Host, cfg Config) *Session {
	l := &lender{pool: p.core, warm: p.warm, host: h, key: hostKey(h), once: cfg.OneOff}
	s := newSession(nil, h, cfg, l)
	l.onFree = func() {
		p.mu.Lock()
		delete(p.sessions, s)
		p.tellEmpty()
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		s.shut()
		return nil
	}
	p.sessions[s] = struct{}{}
	return s
}

// Each runs cmd on all hosts, some at a time, and yields each Result as it comes. Breaking out of the loop, or the end
// of ctx, stops what runs and waits for it; after the end of ctx the hosts that are left yield canceled Results.
func (p *Pool) Each(ctx context.Context, hs []hosts.Host, cmd Command) iter.Seq2[hosts.Host, Result] {
	return func(yield func(hosts.Host, Result) bool) {
		if cmd.Stdin != nil && cmd.Stdins == nil && len(hs) > 1 {
			for _, h := range hs {
				if !yield(h, invalidResult(h, cmd, errOneInput)) {
					break
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		ctx, forget := become.InRun(ctx, len(hs))
		defer forget()
		results := make(chan hostResult)
		var wg sync.WaitGroup
		defer func() {
			cancel()
			go func() { wg.Wait(); close(results) }()
			for range results { // who is still running must find somebody to tell
			}
		}()
		next := make(chan hosts.Host, len(hs))
		for _, h := range hs {
			next <- h
		}
		close(next)
		forks := len(hs)
		if most := cmp.Or(max(cmd.Forks, 0), p.cfg.Forks); most > 0 {
			forks = min(forks, most)
		}
		if cmd.Group == "" && len(hs) > 1 {
			cmd.Group = id.New("g_")
		}
		for range forks {
			wg.Go(func() {
				for h := range next {
					if ctx.Err() != nil {
						results <- hostResult{h, canceledResult(h, cmd, ctxerr.Of(ctx))}
						continue
					}
					results <- hostResult{h, p.runOn(ctx, h, cmd)}
				}
			})
		}
		for range hs {
			r := <-results
			if !yield(r.host, r.result) {
				return
			}
		}
	}
}

// runOn is run for one of several hosts, with writers of its own.
func (p *Pool) runOn(ctx context.Context, h hosts.Host, cmd Command) Result {
	if cmd.Streams == nil {
		return p.run(ctx, h, cmd)
	}
	cmd.Stdout, cmd.Stderr = cmd.Streams(h)
	cmd.Streams = nil
	r := p.run(ctx, h, cmd)
	if err := closeWriters(cmd.Stdout, cmd.Stderr); err != nil && r.Err == nil {
		r.Status = StatusError
		r.Err = &Error{Op: "run", Host: h.Name, Code: "write", Sent: true, Err: fmt.Errorf("the output could not be written: %w", err)}
	}
	return r
}

// closeWriters tells the writers of a command that all has come. What both streams share is closed once.
func closeWriters(stdout, stderr io.Writer) error {
	var errs []error
	end := func(w io.Writer) {
		if c, ok := w.(io.Closer); ok && w != os.Stdout && w != os.Stderr {
			errs = append(errs, c.Close())
		}
	}
	end(stdout)
	if !same(stdout, stderr) {
		end(stderr)
	}
	return errors.Join(errs...)
}

// same reports whether two writers are one; those that cannot be compared are not.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

func canceledResult(h hosts.Host, cmd Command, why error) Result {
	return Result{Host: h.Name, Command: cmd.ScriptOn(h), State: Done, Status: StatusCanceled, Lane: "session",
		Err: &Error{Op: "run", Host: h.Name, Code: "canceled", Retriable: true, Err: fmt.Errorf("not started: %w", why)}}
}

type hostResult struct {
	host   hosts.Host
	result Result
}

// lend is registry.Lend.
func (p *Pool) lend(ctx context.Context, h hosts.Host, use func(Transport) error) (release func(), err error) {
	key := p.core.lookUp(ctx, hostKey(h))
	if !p.core.mayLend(key) {
		return nil, fmt.Errorf("session: no place on a connection to %s can be lent: %w", h.Name, ErrFull)
	}
	giveBack, err := p.core.lend(ctx, h, want{until: time.Now().Add(DefaultSlotWait)}, use)
	if err != nil {
		p.core.lentBack(key.host)
		return nil, err
	}
	return func() {
		giveBack()
		p.core.lentBack(key.host)
		p.warm.changed(key.host)
	}, nil
}

// CloseIdle closes connections that no session uses.
func (p *Pool) CloseIdle() {
	p.warm.clear()
	p.core.closeIdle()
}

// Stats returns one consistent snapshot.
func (p *Pool) Stats() Stats { return p.core.snapshot() }

// Close ends every session and connection and returns when all goroutines are gone. It is idempotent.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	open := make([]*Session, 0, len(p.sessions))
	for s := range p.sessions {
		open = append(open, s)
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range open {
		wg.Go(func() { s.seal() })
	}
	wg.Wait() // what is stopped through the connections needs them
	p.warm.shut()
	p.core.shut()
	for _, s := range open {
		wg.Go(func() { s.Close() })
	}
	wg.Wait()
	p.closing.Wait()
	p.warm.wait()
	p.core.wait()
	return nil
}

// Shutdown is Close that first waits until every session has been closed by its owner. If ctx ends sooner, it closes
// them and returns the cause.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	if p.empty == nil {
		p.empty = make(chan struct{})
	}
	p.tellEmpty()
	p.mu.Unlock()
	var err error
	select {
	case <-p.empty:
	case <-ctx.Done():
		err = ctxerr.Of(ctx)
	}
	return errors.Join(err, p.Close())
}

// tellEmpty ends Shutdown's wait when no session is left. p.mu is held.
func (p *Pool) tellEmpty() {
	if p.empty == nil || len(p.sessions) > 0 {
		return
	}
	select {
	case <-p.empty:
	default:
		close(p.empty)
	}
}
