package session

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// dialMore starts dials as long as somebody waits for one and the limits allow it. p.mu is held.
func (p *connPool) dialMore(ctx context.Context, key string, h hosts.Host, b *bucket) {
	live := b.dialing
	for _, c := range b.conns {
		if !c.gone {
			live++
		}
	}
	places := p.placesOf(b)
	// The caller may go: a connection is for whoever waits then.
	ctx = context.WithoutCancel(ctx)
	for ; !p.closed; live++ {
		coming := b.dialing * places // on connections that are being made
		if b.dialing > 0 && places == 0 {
			coming = len(b.waiting)
		}
		if len(b.waiting) <= coming || p.cfg.MaxConnsPerHost > 0 && live >= p.cfg.MaxConnsPerHost {
			return
		}
		b.dialing++
		p.stats.Dialing++
		p.wg.Go(func() { p.dial(ctx, key, h, b) })
	}
}

// dial makes a connection and hands its places out.
func (p *connPool) dial(ctx context.Context, key string, h hosts.Host, b *bucket) {
	t, asked, err := p.dialOne(ctx, h)
	p.mu.Lock()
	defer p.mu.Unlock()
	b.dialing--
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
		// Everybody who waits would get the same answer from another try, at once.
		for _, ch := range b.waiting {
			ch <- grant{err: err}
		}
		b.waiting = nil
		p.forget(key, b)
		return
	}
	now := time.Now()
	c := &conn{key: key, b: b, host: h, t: t, max: p.placesOf(b), asked: asked, made: now, since: now}
	b.conns = append(b.conns, c)
	p.stats.Dialed++
	p.wg.Go(func() { p.watch(c) })
	p.serve(b)
	p.dialMore(ctx, key, h, b) // it may have fewer places than was thought when it was dialed
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
	if f := p.trace.DialStart; f != nil {
		f(h)
	}
	began = time.Now()
	t, err = p.cfg.Dial(ctx, h)
	if f := p.trace.DialDone; f != nil {
		var peer Peer
		if err == nil {
			peer = t.Peer()
		}
		f(h, peer, time.Since(began), err)
	}
	if err != nil {
		return nil, began, &dialError{err}
	}
	return t, began, nil
}

// serve gives free places to those who wait. p.mu is held.
func (p *connPool) serve(b *bucket) {
	for len(b.waiting) > 0 {
		c := b.free()
		if c == nil {
			return
		}
		c.take()
		p.stats.Acquired++
		p.stats.Waited++
		b.waiting[0] <- grant{c: c}
		b.waiting = b.waiting[1:]
	}
}

// giveUp withdraws a waiter; a place that it got meanwhile goes back.
func (p *connPool) giveUp(b *bucket, ch chan grant) {
	p.mu.Lock()
	p.stats.Canceled++
	if i := slices.Index(b.waiting, ch); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	if g := <-ch; g.c != nil {
		p.giveBack(g.c, nil)
	}
}
