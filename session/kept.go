package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A shell in which nothing has run but commands that leave it as they find it is as good as a new one, and waits for the next one-off
// command as a spare does. To start one costs a host more than most such commands.

// keptFor is how old a shell may be that is kept: what a shell begins with may change by other hands.
const keptFor = 5 * time.Minute

var errWorn = errors.New("session: the shell is not as it was at its start")

// traceless reports whether x leaves its shell as it is, however that is looked at.
func (x *Exec) traceless() bool {
	d := x.res.Decision
	return d.Traceless && d.Class == policy.ReadOnly && x.feed == nil && !x.cmd.Interactive && x.cmd.inner.wrapping == nil
}

// wears notes at the end of x that its shell may not be as it was: the command was stopped, or something it started spoke late.
func (x *Exec) wears() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sh != nil && (!x.frame || x.why != "" || len(x.stray) > 0) {
		x.sh.worn.Store(true)
	}
}

// asNew returns the session's shell and its kind where that may be another command's. One of another account than logged in may not: what
// allowed it may be gone.
func (s *Session) asNew() (*shell, *warmKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.sh
	if sh == nil || s.cur != nil || s.closed || len(s.warmed) != 1 || s.trace || s.typed || s.snapping != nil ||
		sh.worn.Load() || sh.cooked.Load() || !sh.alive() || s.elevation != nil || s.dir != sh.hello.Dir || time.Since(sh.began) > keptFor {
		return nil, nil
	}
	return sh, s.warmed[0]
}

// keep takes the shell of a session that is about to be closed for the next command, with its place, and reports whether it did.
func (w *warmth) keep(s *Session) bool {
	if s.pool == nil || !s.cfg.OneOff {
		return false
	}
	sh, k := s.asNew()
	if sh == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || k.cold || k.spec.Login || !k.again || k.changes != s.changes || len(k.spares) >= max(1, k.peak) || !w.room(k) {
		return false
	}
	c := s.pool.handOver()
	if c == nil {
		return false
	}
	s.mu.Lock()
	s.sh = nil
	s.mu.Unlock()
	w.add(k, c, func(e *spare) (*shell, error) {
		if sh.seen.Load() {
			sh.behind.Store(true)
			if !s.many { // of many, each has enough to do
				sh.write(s.forget(sh))
			}
			return sh, nil
		}
		if s.many {
			e.pause()
		}
		if err := s.refresh(e.ctx, sh, e.k.spec.Prelude); err != nil {
			sh.close()
			return nil, err
		}
		// ksh93 alone does not wait for all of a pipeline: what comes late must not be the next command's errors.
		sh.seen.Store(sh.dec.Queues() && sh.hello.Dialect != framing.Ksh93)
		return sh, nil
	})
	return true
}

// pause waits until the other hosts of a run have ended too, or somebody wants the shell.
func (e *spare) pause() {
	t := time.NewTimer(warmPause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-e.wanted:
	case <-e.ctx.Done():
	}
}

// forget returns the frame that has a shell forget where programs are, if it has not yet; it is waited for by nobody. The caller writes
// it before any other.
func (s *Session) forget(sh *shell) []byte {
	if !sh.behind.CompareAndSwap(true, false) {
		return nil
	}
	x := s.ownExec()
	x.then = func() { sh.late(x.stray) }
	x.errors = func(ev framing.Event) { // the two streams come by different ways, and this frame prints none
		sh.mu.Lock()
		next := sh.next
		sh.mu.Unlock()
		if next == nil {
			sh.late(bytes.Clone(ev.Data))
			return
		}
		next.event(sh, ev)
	}
	text, err := s.ownText(sh, x, framing.Command{Script: framing.ForgetScript()})
	if err != nil || !sh.take(x, x.tok) {
		return nil
	}
	return text
}

// late takes what has come from a shell that is kept after the end of its command: whoever is next is told, and it is the last one.
func (sh *shell) late(p []byte) {
	if len(p) == 0 {
		return
	}
	sh.worn.Store(true)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	x := sh.cur
	if x == nil {
		sh.stray = append(p, sh.stray...)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stray = append(p, x.stray...)
}

// spoiled reports whether a shell that was kept is not as it was after all.
func (sh *shell) spoiled() bool {
	if !sh.seen.Load() {
		return false
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.stray) > 0 || sh.worn.Load() || sh.cooked.Load()
}

// refresh has a shell forget where programs are, and looks whether the account has functions there: a command may be no program then.
// None comes to be there later by what leaves the shell as it is, so one look is enough.
func (s *Session) refresh(ctx context.Context, sh *shell, prelude string) error {
	out, ok := s.askOwn(ctx, sh, framing.Command{Script: framing.RefreshScript(sh.hello.Dialect)})
	if !ok {
		return ErrClosed
	}
	sh.mu.Lock()
	late := len(sh.stray) > 0
	sh.mu.Unlock()
	if late || sh.cooked.Load() || framing.Redefined(out, prelude) {
		return errWorn
	}
	return nil
}

// handOver gives the place of a session that ends to a shell that waits, and returns its connection; nil where others wait for a
// place, or there is none.
func (l *lender) handOver() *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.c
	if c == nil || l.over || l.left || !l.once || !l.pool.waitsOn(c) {
		return nil
	}
	l.c = nil
	return c
}

// waitsOn makes the place of a one-off command that of a shell that waits, unless somebody waits for it.
func (p *connPool) waitsOn(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.gone || p.closed || len(c.b.waiting) > 0 {
		return false
	}
	c.warm++
	c.since = time.Now()
	return true
}

// spareFor returns a spare shell for x, with what gives its place back; nil where there is none. A session that has no
// connection yet gets that of the spare.
func (s *Session) spareFor(ctx context.Context, x *Exec, spec framing.Shell) (sh *shell, release func()) {
	if s.pool == nil || s.pool.warm == nil || !s.cfg.OneOff || s.cfg.Program != nil || x.res.ShellRestarted {
		return nil, nil
	}
	w := s.pool.warm
	k := w.keyFor(w.core.lookUp(ctx, s.pool.key), s.host, &s.cfg, spec)
	changes := w.changesOf(k)
	s.mu.Lock()
	s.warmed, s.changes = append(s.warmed, k), changes
	bare := s.t == nil
	s.mu.Unlock()
	e := w.take(ctx, k)
	if e == nil {
		return nil, nil
	}
	release = func() { w.core.giveBack(e.c, want{once: true}, nil) }
	if bare {
		if !s.pool.adopt(e.c) {
			e.sh.close()
			release()
			return nil, nil
		}
		s.mu.Lock()
		s.t = e.c.t
		s.mu.Unlock()
		release = func() {}
	}
	return e.sh, release
}

// cool tells that the session needs none of its shells any more, and returns what they were. It is idempotent.
func (s *Session) cool() []*warmKind {
	s.mu.Lock()
	warmed := s.warmed
	s.warmed = nil
	s.mu.Unlock()
	for _, k := range warmed {
		s.pool.warm.over(k, s.many)
	}
	return warmed
}

// mayWarm notes that shells like the one that was just started may be started ahead.
func (s *Session) mayWarm() {
	s.mu.Lock()
	warmed := s.warmed
	s.mu.Unlock()
	if len(warmed) == 0 {
		return
	}
	w := s.pool.warm
	w.mu.Lock()
	defer w.mu.Unlock()
	warmed[len(warmed)-1].cold = false
}

// roomFor makes room on the session's host where err says that there is none, by the end of a spare, and reports whether it
// did: the same may fit then.
func (s *Session) roomFor(err error) bool {
	if !errors.Is(err, ErrFull) || s.pool == nil || s.pool.warm == nil {
		return false
	}
	return s.pool.warm.makeRoom(s.pool.key)
}

// makeRoom ends the spares of a host, waits for that, and reports whether there were any.
func (w *warmth) makeRoom(host string) bool {
	w.mu.Lock()
	var all []*spare
	for _, k := range w.hosts[host] {
		for _, e := range slices.Clone(k.spares) {
			if w.claim(e) {
				all = append(all, e)
			}
		}
	}
	w.mu.Unlock()
	for _, e := range all {
		w.discard(e)
	}
	return len(all) > 0
}

// changes tells the session's pool that x may have changed what shells begin with.
func (x *Exec) changes() {
	from := x.s.pool
	if from != nil && x.recorded && x.res.Decision.Class != policy.ReadOnly && x.res.Held != heldByKernel {
		from.warm.changed(from.key)
	}
}
