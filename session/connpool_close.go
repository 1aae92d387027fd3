package session

import "context"

// closeIdle closes what nobody uses.
func (p *connPool) closeIdle() {
	p.mu.Lock()
	var idle []*conn
	for _, b := range p.keys {
		for _, c := range b.conns {
			if c.used == 0 {
				idle = append(idle, c)
			}
		}
	}
	p.mu.Unlock()
	for _, c := range idle {
		p.retire(c)
	}
}

// shut stops giving out places, ends dials and closes every connection.
func (p *connPool) shut() {
	p.mu.Lock()
	p.closed = true
	var all []*conn
	for _, b := range p.keys {
		for _, ch := range b.waiting {
			ch <- grant{err: ErrClosed}
		}
		b.waiting = nil
		all = append(all, b.conns...)
		for _, c := range b.conns {
			c.gone = true
		}
	}
	p.mu.Unlock()
	p.end()
	for _, c := range all {
		p.wg.Go(func() { c.t.Close() })
	}
}

// wait returns when every goroutine has ended.
func (p *connPool) wait() { p.wg.Wait() }

// drained waits until nothing is borrowed.
func (p *connPool) drained(ctx context.Context) error {
	p.mu.Lock()
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.signalIdle()
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// signalIdle wakes drained. p.mu is held.
func (p *connPool) signalIdle() {
	if p.idle == nil || p.count().Sessions > 0 {
		return
	}
	select {
	case <-p.idle:
	default:
		close(p.idle)
	}
}

// count fills in what is true now. p.mu is held.
func (p *connPool) count() Stats {
	s := p.stats
	for _, b := range p.keys {
		s.Waiting += len(b.waiting)
		for _, c := range b.conns {
			s.Sessions += c.used
			switch {
			case c.used > 0:
				s.Used++
			case !c.gone:
				s.Idle++
			}
		}
	}
	return s
}

func (p *connPool) snapshot() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count()
}
