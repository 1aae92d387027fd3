package session

// closeIdle closes what nobody uses.
func (p *connPool) closeIdle() {
	p.mu.Lock()
	var idle []*conn
	for _, b := range p.keys {
		for _, c := range b.conns {
			switch {
			case c.used == 0:
				idle = append(idle, c)
			case c.used == c.going && !c.gone: // the last of them closes it
				c.gone = true
				p.stats.ClosedIdle++
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
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	for _, b := range p.keys {
		for _, w := range b.waiting {
			w.ch <- grant{err: errPoolClosed}
		}
		b.waiting = nil
		for _, c := range b.conns {
			c.gone = true
			p.wg.Go(func() { c.t.Close() })
		}
	}
}

// wait returns when every goroutine has ended.
func (p *connPool) wait() { p.wg.Wait() }

// count fills in what is true now. p.mu is held.
func (p *connPool) count() Stats {
	s := p.stats
	for _, b := range p.keys {
		s.Waiting += len(b.waiting)
		for _, c := range b.conns {
			users := c.used - c.warm - c.going
			s.Sessions, s.Warm, s.Closing = s.Sessions+users, s.Warm+c.warm, s.Closing+c.going
			switch {
			case users > 0:
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
