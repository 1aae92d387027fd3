package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// FullError says that sessions and commands hold every slot that a host has, and that none came free in time. It wraps
// [ErrFull], and the error of the caller's context where that ended the wait.
type FullError struct {
	Sessions  map[string]int // open sessions that hold a slot, by principal
	Commands  int            // one-off commands that hold one
	Terminals int            // that people have open
	Waited    time.Duration
	Hint      string // PoolConfig.FullHint
	Err       error  // of the context that ended; nil where the time for a slot was up
}

func (e *FullError) Error() string {
	var held []string
	add := func(n int, one, more string) {
		switch {
		case n == 1:
			held = append(held, "1 "+one)
		case n > 1:
			held = append(held, fmt.Sprintf("%d %s", n, more))
		}
	}
	for _, who := range slices.Sorted(maps.Keys(e.Sessions)) {
		add(e.Sessions[who], "open session of "+who, "open sessions of "+who)
	}
	add(e.Terminals, "terminal", "terminals")
	add(e.Commands, "running command", "running commands")
	text := "the host is full"
	if len(held) > 0 {
		text += ": " + strings.Join(held, ", ")
	}
	text += fmt.Sprintf(" (waited %v)", e.Waited.Round(time.Millisecond))
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns ErrFull, and Err where there is one.
func (e *FullError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrFull}
	}
	return []error{ErrFull, e.Err}
}

// want is what place somebody waits for.
type want struct {
	once  bool      // it is for a one-off command, which has slots of its own
	until time.Time // when the wait on a full host ends
	more  bool      // whoever waits holds a place already, and gives it back only once it has had this one

	leaving bool // of a place that is given back: it was known to come back
	ahead   bool // … and had a shell that has run nothing
}

// slotWait is how long x waits on a full host: its caller's limits bound it.
func (x *Exec) slotWait() time.Duration {
	if x.cmd.SlotWait > 0 {
		return x.cmd.SlotWait
	}
	wait := DefaultSlotWait
	for _, limit := range []time.Duration{x.cmd.Timeout, x.s.host.ConnectTimeout} {
		if limit > 0 {
			wait = min(wait, limit)
		}
	}
	return wait
}

// wantOnce is a place beside the session's own, for as long as x runs.
func (x *Exec) wantOnce() want {
	return want{once: true, until: time.Now().Add(x.slotWait()), more: true}
}

// fullAgain is how often a caller whose time is up looks whether the connection that is being made is still under way.
const fullAgain = time.Second

// await waits for what me is granted. Without a grant it says whether the host is full, and returns the end of ctx; nil
// where the wait took as long as me wants.
func (p *connPool) await(ctx context.Context, b *bucket, me *waiter) (g grant, full bool, err error) {
	timer := time.NewTimer(time.Until(me.want.until))
	defer timer.Stop()
	for {
		select {
		case g := <-me.ch:
			return g, false, nil
		case <-ctx.Done():
			full := p.full(b, me.want)
			p.giveUp(b, me)
			return grant{}, full, ctxerr.Of(ctx)
		case <-timer.C:
			if p.full(b, me.want) {
				p.giveUp(b, me)
				return grant{}, true, nil
			}
			timer.Reset(fullAgain) // a dial has limits of its own
		}
	}
}

// full reports whether nothing but the end of a session or command makes room for w.
func (p *connPool) full(b *bucket, w want) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if free, spare := b.comingBack(); free > 0 || spare > 0 && w.once {
		return false
	}
	return b.dialing.plain == 0 && (b.dialing.spare == 0 || !w.once) && len(b.conns) > 0 && b.free(w.once) == nil
}

// users are those who have places on the connections of one key.
type users struct {
	sessions map[string]int // by principal
	commands int
}

// fullError says who holds the slots. ended is the error of the caller's context; nil where that lasts.
func (p *connPool) fullError(key connKey, waited time.Duration, ended error) error {
	p.mu.Lock()
	lent := p.lent[key.host]
	p.mu.Unlock()
	e := &FullError{Terminals: lent, Waited: waited, Hint: p.cfg.FullHint, Err: ended}
	if p.users != nil {
		u := p.users(key)
		e.Sessions, e.Commands = u.sessions, u.commands
	}
	return e
}

// usersOf counts the sessions that have a place on a connection of key.
func (p *Pool) usersOf(key connKey) users {
	u := users{sessions: map[string]int{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		l := s.pool
		l.mu.Lock()
		has := l.c != nil && l.c.key == key
		l.mu.Unlock()
		switch {
		case !has:
		case l.once:
			u.commands++
		default:
			u.sessions[s.cfg.Principal]++
		}
	}
	return u
}

// whyFull reports whether err says that the host is full, and nobody has given the command up meanwhile.
func (x *Exec) whyFull(ctx context.Context, err error) (*FullError, bool) {
	var full *FullError
	if !errors.As(err, &full) || x.s.closing.Err() != nil {
		return nil, false
	}
	_, cause := x.reasons()
	if cause == nil {
		cause = ctxerr.Of(ctx)
	}
	if cause == nil {
		return full, x.reason() == ""
	}
	if !errors.Is(cause, context.DeadlineExceeded) {
		return nil, false
	}
	late := *full
	late.Err = cause
	return &late, true
}
