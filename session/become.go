package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/become"
)

// elevation is how the programs of a host are started as another account.
type elevation struct {
	host  hosts.Host // its Become is the account
	ask   become.Ask // nil is no person
	limit time.Duration

	needs atomic.Bool // a password was needed
}

// newElevation returns nil where there is no other account.
func newElevation(h hosts.Host, cfg *Config) *elevation {
	if h.Become.User == "" {
		return nil
	}
	return &elevation{host: h, ask: cfg.Become, limit: cfg.Ready}
}

// on is t with programs started as the other account; t itself where there is none.
func (e *elevation) on(t Transport) Transport {
	if e == nil || t == nil {
		return t
	}
	return elevated{t, e}
}

// elevated is a Transport whose programs run as another account.
type elevated struct {
	Transport
	e *elevation
}

// Held implements seam.Held: files are the other account's business, too.
func (elevated) Held() {}

func (t elevated) Open(ctx context.Context, p Program) (Stream, error) {
	if t.e.needs.Load() && become.Useless(ctx) {
		return nil, become.ErrPasswordNeeded
	}
	start, err := become.New(t.e.host.Become, p.Cooked)
	if err != nil {
		return nil, err
	}
	line := p.Line
	p.Line = start.Line
	stream, err := t.Transport.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	rest, err := start.Converse(ctx, stream, become.Talk{
		Host: t.e.host.Name, Login: cmp.Or(t.Peer().User, t.e.host.User), Ask: t.e.ask, Limit: t.e.limit,
	}, line)
	if start.Asked() {
		t.e.needs.Store(true)
	}
	if err != nil {
		return nil, err
	}
	return &elevatedStream{Stream: stream, rest: rest, asked: start.Asked(), limit: t.e.limit, as: t.e.host}, nil
}

// elevatedStream is a Stream whose beginning has been read.
type elevatedStream struct {
	Stream
	rest  []byte
	asked bool // a password was needed
	limit time.Duration
	as    hosts.Host // its Become is the account
}

// confined says why a shell of the other account that ended with code could start no other one; said is what it printed. It is nil
// where the code says nothing of the kind.
func (s *elevatedStream) confined(code int, said string) error {
	err := &become.Error{Host: s.as.Name, Login: s.as.User, Become: s.as.Become, Said: printable.Heard(said, 200)}
	switch code {
	case 126: // not executable
		err.Kind, err.Err = become.ErrNotAllowed, errors.New("sh starts, and may start no program (in sudoers NOEXEC does that)")
	case 127: // not found
		err.Err = errors.New("sh starts, and the PATH that it has leads to no sh")
	default:
		return nil
	}
	return err
}

// boundAfter bounds what comes after the start of a program as another account, which no person is part of any more.
func boundAfter(ctx context.Context, stream Stream) (context.Context, context.CancelFunc) {
	if s, ok := stream.(*elevatedStream); ok && s.limit > 0 {
		return context.WithTimeoutCause(ctx, s.limit, fmt.Errorf(noShellWithin, s.limit))
	}
	return ctx, func() {}
}

func (s *elevatedStream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return s.Stream.Read(p)
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Resize implements Resizer.
func (s *elevatedStream) Resize(size Size) error {
	if r, ok := s.Stream.(Resizer); ok {
		return r.Resize(size)
	}
	return nil
}

// free reports whether the shell needed no password, so that another can be started ahead without one.
func (sh *shell) free() bool {
	s, ok := sh.stream.(*elevatedStream)
	return !ok || !s.asked
}

// readyIn bounds what the host has to do by Config.Ready. Where a person may be asked meanwhile the start of each program has its
// own bound instead.
func (s *Session) readyIn(ctx context.Context, what string) (context.Context, context.CancelFunc) {
	if s.cfg.Ready <= 0 || s.elevation != nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.cfg.Ready, fmt.Errorf(what, s.cfg.Ready))
}

// as returns h as a command runs there that names an account.
func (c *Command) as(h hosts.Host) (hosts.Host, error) {
	var err error
	h.Become, err = h.Become.Called(c.Become)
	return h, err
}

// becomes fails x where it names another account than the session's.
func (s *Session) becomes(x *Exec) bool {
	if x.cmd.Become == "" || x.cmd.Become == s.host.Become.User || x.cmd.Become == hosts.NoBecome && s.elevation == nil {
		return true
	}
	as := s.host.Become.User
	if as == "" {
		as = "the account that logs in"
	}
	x.fail(StatusError, "invalid", fmt.Errorf("the session runs commands as %s: open another one to run them as %s", as, x.cmd.Become))
	return false
}

// notBecome reports whether err is why there is no other account, and fails x with it.
func (x *Exec) notBecome(err error) bool {
	var not *become.Error
	if !errors.As(err, &not) {
		return false
	}
	x.fail(StatusAuth, "become", not)
	return true
}
