package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// connKey says which calls may share a connection.
type connKey struct {
	host  string // hostKey
	login string // PoolConfig.Login
}

// hostKey says which hosts may share a connection.
func hostKey(h hosts.Host) string {
	parts := []string{string(h.Transport), h.Name, h.Addr, h.User, strconv.Itoa(int(h.Port)), h.SSHConfig}
	parts = append(parts, h.Via...)
	parts = append(parts, "\x00")
	parts = append(parts, h.Identity...)
	parts = append(parts, "\x00", strconv.FormatBool(h.IdentityOnly), h.NoLogin)
	parts = append(parts, h.SSHOptions...)
	parts = append(parts, "\x00")
	return strings.Join(append(parts, h.Command...), "\x01")
}

// keyOf is the key of a call's connections to a host. Where the call has no login of its own, it is that of the connections that others had
// last. p.mu is held.
func (p *connPool) keyOf(ctx context.Context, host string) connKey {
	key := connKey{host, p.loginOf(ctx)}
	if last := p.last[host]; key.login == "" && p.usable(connKey{host, last}) {
		key.login = last
	}
	return key
}

func (p *connPool) loginOf(ctx context.Context) string {
	if p.cfg.Login == nil {
		return ""
	}
	return p.cfg.Login(ctx)
}

// usable reports whether a key has connections. p.mu is held.
func (p *connPool) usable(key connKey) bool {
	b := p.keys[key]
	if b == nil {
		return false
	}
	for _, c := range b.conns {
		if !c.gone {
			return true
		}
	}
	return false
}

// lookUp is keyOf for those who do not hold p.mu.
func (p *connPool) lookUp(ctx context.Context, host string) connKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keyOf(ctx, host)
}

// spareSlots is how many one-off commands can run at a time at least, however many sessions are open.
const spareSlots = 4

// dialMore starts dials as long as callers wait for one and the limits allow it. Where sessions hold all places that there
// may be, there are spare connections for one-off commands. p.mu is held.
func (p *connPool) dialMore(key connKey, h hosts.Host, b *bucket) {
	places := p.placesOf(b)
	for !p.closed {
		plain, spare := b.dialing.plain, b.dialing.spare // those that there are, and will be
		kept, commands := 0, 0                           // places that sessions and commands have on plain ones
		free, freeSpare := b.comingBack()
		for _, c := range b.conns {
			switch {
			case c.gone:
			case c.spare:
				spare++
			default:
				plain++
				kept, commands = kept+c.used-c.once, commands+c.once-c.warm-c.going
			}
		}
		once, more := 0, false
		for _, w := range b.waiting {
			if w.want.once {
				once++
				more = more || w.want.more
			}
		}
		if more { // the commands that hold places may be those that wait, and none of them would end
			kept, commands = max(kept, 1), 0
		}
		all := len(b.waiting)
		coming := func(n int) int { // places on connections that are being made
			if n > 0 && places == 0 {
				return all
			}
			return n * places
		}
		room := coming(b.dialing.plain) + free
		switch most := p.cfg.MaxConnsPerHost; {
		case all <= room:
			return
		case most <= 0 || plain < most:
			if all <= room+min(coming(b.dialing.spare)+freeSpare, once) {
				return
			}
			b.dialing.plain++
			p.startDial(key, h, b, false)
		case once <= coming(b.dialing.spare)+freeSpare+max(0, room-(all-once)) ||
			kept == 0 || commands+spare*places >= spareSlots:
			return
		default:
			b.dialing.spare++
			p.startDial(key, h, b, true)
		}
	}
}

// startDial has a connection made, with the values of the context of who came last, of those with a login if there are such. That one may
// go: a connection is for whoever waits then. p.mu is held.
func (p *connPool) startDial(key connKey, h hosts.Host, b *bucket, spare bool) {
	by := b.waiting[len(b.waiting)-1]
	for _, w := range slices.Backward(b.waiting) {
		if p.loginOf(w.ctx) == key.login {
			by = w
			break
		}
	}
	ctx := context.WithoutCancel(by.ctx)
	p.stats.Dialing++
	p.wg.Go(func() { p.dial(ctx, key, h, b, spare) })
}

// dial makes a connection and hands its places out.
func (p *connPool) dial(ctx context.Context, key connKey, h hosts.Host, b *bucket, spare bool) {
	t, asked, err := p.dialOne(ctx, h)
	p.mu.Lock()
	defer p.mu.Unlock()
	if spare {
		b.dialing.spare--
	} else {
		b.dialing.plain--
	}
	p.stats.Dialing--
	if p.closed {
		if err == nil {
			p.mu.Unlock()
			t.Close()
			p.mu.Lock()
		}
		err = errPoolClosed
	}
	if err != nil {
		if failed := (*dialError)(nil); spare && errors.As(err, &failed) {
			err = &dialError{fmt.Errorf("sessions hold every slot, and another connection for one-off commands failed: %w", failed.Err)}
		}
		// All who wait for such a connection would get the same answer from another try, at once.
		b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
			if spare && !w.want.once {
				return false
			}
			w.ch <- grant{err: err}
			return true
		})
		p.forget(key, b)
		return
	}
	now := time.Now()
	c := &conn{key: key, b: b, host: h, t: t, max: p.placesOf(b), spare: spare, asked: asked, made: now, since: now}
	b.conns = append(b.conns, c)
	p.stats.Dialed++
	p.wg.Go(func() { p.watch(c) })
	p.serve(b)
	p.dialMore(key, h, b) // it may have fewer places than was thought when it was dialed
	if c.used == 0 {
		p.rest(c)
	}
}

// dialOne dials when its turn has come, which it tells in began.
func (p *connPool) dialOne(ctx context.Context, h hosts.Host) (t Transport, began time.Time, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.base, func() { cancel(ErrClosed) })()
	if p.dials != nil {
		select {
		case p.dials <- struct{}{}:
			defer func() { <-p.dials }()
		case <-p.base.Done():
			return nil, time.Now(), errPoolClosed
		}
	}
	if p.cfg.DialTimeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, p.cfg.DialTimeout)
		defer stop()
	}
	ctx = p.trace.dialing(ctx, h)
	if f := p.trace.DialStart; f != nil {
		f(ctx, h)
	}
	began = time.Now()
	t, err = p.cfg.Dial(ctx, h)
	switch {
	case t == nil && err == nil:
		err = errors.New("PoolConfig.Dial has returned neither a Transport nor an error")
	case err == context.DeadlineExceeded && ctx.Err() != nil: // which says nothing to a person
		err = fmt.Errorf("no connection within %s: %w", p.cfg.DialTimeout, err)
	}
	if f := p.trace.DialDone; f != nil {
		var peer Peer
		if err == nil {
			peer = t.Peer()
		}
		f(ctx, h, peer, time.Since(began), err)
	}
	if err != nil {
		return nil, began, &dialError{err}
	}
	return t, began, nil
}

// serve gives free places to those who wait, first to those who hold some meanwhile. p.mu is held.
func (p *connPool) serve(b *bucket) {
	p.serveThose(b, func(w want) bool { return w.more })
	p.serveThose(b, func(want) bool { return true })
}

func (p *connPool) serveThose(b *bucket, those func(want) bool) {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		if !those(w.want) {
			return false
		}
		c := b.free(w.want.once)
		if c == nil {
			return false
		}
		c.take(w.want)
		p.stats.Acquired++
		p.stats.Waited++
		w.ch <- grant{c: c}
		return true
	})
}

// giveUp withdraws a waiter; a place that it got meanwhile goes back.
func (p *connPool) giveUp(b *bucket, w *waiter) {
	p.mu.Lock()
	p.stats.Canceled++
	if i := slices.Index(b.waiting, w); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	if g := <-w.ch; g.c != nil {
		p.giveBack(g.c, w.want, nil)
	}
}
