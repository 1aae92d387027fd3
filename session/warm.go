package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/become"
)

const (
	// warmFor is how soon one one-off command must follow another for a shell to be started ahead of the next, and how long
	// that one waits for it.
	warmFor = time.Minute

	maxWarmPerHost = 4                      // shells that wait on one host
	maxWarmStarts  = 8                      // that are being started, over all hosts
	warmPause      = 250 * time.Millisecond // after a session's command, or one of many hosts', before another is started: more may follow
	maxRests       = 200                    // shells that wait as long before they are ended
)

// warmth keeps the spare shells of a pool. Each was started ahead of a one-off command that has not come yet, or has run none but such as
// leave it as it was (kept.go); so it is as good as one that is started for the next. Two commands get each other's only where host, principal, account, shell, variables
// and start are equal. As another account than the one that logs in, one is started only where the last needed no password.
//
// A spare is dropped when it has waited for warmFor, when a session needs its place, and when anything but a read has ended on
// the host: that may have changed what a shell begins with. One that has died costs nothing: nothing has been sent.
//
// What sets or looks at anything that a shell has for itself gets a process that nobody else gets: a shell that forks for each command
// costs as little, but repeats $$ and zsh's $RANDOM, and gets what an earlier command's children print.
//
// The places of spares are taken from the pool's core. w.mu may be held when that one's is taken, never the other way round.
type warmth struct {
	core   *connPool
	max    int           // over all hosts; 0 means no limit
	life   time.Duration // of a spare: it does not keep an unused connection
	base   context.Context
	end    context.CancelFunc
	starts chan struct{} // one token per start in progress
	rests  chan struct{} // one token per shell that is ended a little later
	wg     sync.WaitGroup

	mu     sync.Mutex                      // guards what follows
	hosts  map[string]map[string]*warmKind // by hostKey and shell
	count  int                             // spares
	swept  time.Time
	closed bool
}

// warmKind is what there is for commands that may have each other's shells.
type warmKind struct {
	host  hosts.Host
	conn  connKey
	spec  framing.Shell
	ready time.Duration // that the start of a shell may take; 0 means no limit

	last    time.Time // when a command last asked for a shell
	again   bool      // it followed another one soon
	full    time.Time // until when the host is believed to have no room for a spare
	changes int       // how often something on the host may have changed what a shell begins with
	running int       // commands
	peak    int       // the most of them at a time, since there were none
	cold    bool      // a shell may need a password, which nobody could be asked for ahead
	spares  []*spare
	timer   *time.Timer // of a start that is put off; nil without one
}

// spare is a shell that waits for its command, or is being started. Whoever takes it out of its key's list owns it.
type spare struct {
	k      *warmKind
	c      *conn
	ctx    context.Context // ends when it is dropped
	drop   context.CancelFunc
	wanted chan struct{} // closed when somebody waits for it
	ready  chan struct{} // closed when sh, err and since are set
	sh     *shell        // nil if it did not start
	err    error
	since  time.Time
	leaves bool // its place is counted as one that comes back
}

func newWarmth(core *connPool, most int) *warmth {
	life := warmFor
	if idle := core.cfg.IdleTimeout; idle > 0 {
		life = min(life, idle)
	}
	w := &warmth{core: core, max: most, life: life, starts: make(chan struct{}, maxWarmStarts), rests: make(chan struct{}, maxRests), hosts: map[string]map[string]*warmKind{}}
	w.base, w.end = context.WithCancel(context.Background())
	return w
}

// keyFor returns the key of a shell for h, made anew if there is none.
func (w *warmth) keyFor(conn connKey, h hosts.Host, cfg *Config, spec framing.Shell) *warmKind {
	shell := fmt.Sprintf("%q %q %q", conn.login, cfg.Principal, append([]string{spec.Name, spec.Dir, spec.Prelude, spec.Reader, spec.Hold, spec.Watch,
		fmt.Sprint(spec.Login, spec.Clean, cfg.Ready), h.Become.User, h.Become.Program()}, spec.Env...))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweep()
	keys := w.hosts[conn.host]
	if keys == nil {
		keys = map[string]*warmKind{}
		w.hosts[conn.host] = keys
	}
	k := keys[shell]
	if k == nil {
		k = &warmKind{host: h, conn: conn, spec: spec, ready: cfg.Ready, cold: h.Become.User != ""}
		keys[shell] = k
	}
	now := time.Now()
	k.again = !k.last.IsZero() && now.Sub(k.last) < warmFor
	k.last = now
	if k.running == 0 {
		k.peak = 0
	}
	k.running++
	k.peak = max(k.peak, k.running)
	return k
}

// sweep forgets what has not been asked for, once in a while. w.mu is held.
func (w *warmth) sweep() {
	if time.Since(w.swept) < warmFor {
		return
	}
	w.swept = time.Now()
	for host, keys := range w.hosts {
		for shell, k := range keys {
			if k.running == 0 && len(k.spares) == 0 && time.Since(k.last) > warmFor {
				delete(keys, shell)
			}
		}
		if len(keys) == 0 {
			delete(w.hosts, host)
		}
	}
}

// take returns a spare of k, which is the caller's with its place; nil where there is none. It waits for one that is being
// started: another would be ready no sooner.
func (w *warmth) take(ctx context.Context, k *warmKind) *spare {
	for ctx.Err() == nil {
		w.mu.Lock()
		e := k.best()
		if e != nil {
			w.claim(e)
		}
		w.mu.Unlock()
		if e == nil {
			return nil
		}
		close(e.wanted)
		select {
		case <-e.ready:
		case <-ctx.Done():
			e.drop()
		}
		<-e.ready
		stale := time.Since(e.since) > pingAfter
		if e.sh == nil || !e.sh.alive() || e.sh.spoiled() || ctx.Err() != nil || !w.core.valid(e.c) || !w.core.wake(e.c, stale) {
			w.discard(e)
			continue
		}
		if stale {
			if ok, _ := w.core.healthy(ctx, e.c, want{once: true}); !ok { // it has given the place back
				e.sh.close()
				continue
			}
		}
		e.drop()
		e.sh.unused.Store(true)
		return e
	}
	return nil
}

// best is the spare that is ready, or will be first. w.mu is held.
func (k *warmKind) best() *spare {
	for _, e := range k.spares {
		select {
		case <-e.ready:
			return e
		default:
		}
	}
	if len(k.spares) > 0 {
		return k.spares[0]
	}
	return nil
}

// claim takes e out of its list, and reports whether it was there: then it is the caller's. w.mu is held.
func (w *warmth) claim(e *spare) bool {
	i := slices.Index(e.k.spares, e)
	if i < 0 {
		return false
	}
	e.k.spares = slices.Delete(e.k.spares, i, i+1)
	w.count--
	return true
}

// discard ends a spare that has been claimed, and gives its place back.
func (w *warmth) discard(e *spare) {
	if !e.leaves {
		w.core.leave(e.c, true)
	}
	e.drop()
	<-e.ready
	if e.sh != nil {
		e.sh.close()
	}
	w.core.giveBack(e.c, want{once: true, leaving: true, ahead: true}, nil) // whatever was wrong, those who need a place find out
}

// over notes the end of a command that had a shell of k, and has another one started for the next.
func (w *warmth) over(k *warmKind, many bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k.running--
	w.next(k, many)
}

// fill is next for commands that have ended.
func (w *warmth) fill(had []*warmKind, many bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range had {
		w.next(k, many)
	}
}

// next is refill, a little later for one host of many: the others have not ended, and a shell's start takes as long as many a
// command. w.mu is held.
func (w *warmth) next(k *warmKind, many bool) {
	if many {
		w.later(k)
	} else {
		w.refill(k)
	}
}

// later is refill after a pause, which begins anew with each call. w.mu is held.
func (w *warmth) later(k *warmKind) {
	switch {
	case w.closed || !k.again || time.Since(k.last) > warmFor:
	case k.timer != nil:
		k.timer.Reset(warmPause)
	default:
		k.timer = time.AfterFunc(warmPause, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refill(k)
		})
	}
}

// rest waits before the shell of one of many hosts is ended, for the same reason, but for no more than maxRests of them at a time.
func (w *warmth) rest() {
	select {
	case w.rests <- struct{}{}:
		defer func() { <-w.rests }()
	default:
		return
	}
	select {
	case <-time.After(warmPause):
	case <-w.base.Done():
	}
}

// refill starts as many spares as the last commands could have used, less those that still run: their shells may be kept. w.mu is held.
func (w *warmth) refill(k *warmKind) {
	now := time.Now()
	if w.closed || k.cold || !k.again || now.Sub(k.last) > warmFor || now.Before(k.full) {
		return
	}
	for len(k.spares)+k.running < max(1, k.peak) && w.room(k) {
		c := w.core.spot(k.conn)
		if c == nil {
			return
		}
		w.add(k, c, w.start)
	}
}

// add makes a spare, whose place on c has been taken and whose shell start makes ready. w.mu is held.
func (w *warmth) add(k *warmKind, c *conn, start func(*spare) (*shell, error)) {
	e := &spare{k: k, c: c, wanted: make(chan struct{}), ready: make(chan struct{})}
	e.ctx, e.drop = context.WithCancel(w.base)
	k.spares = append(k.spares, e)
	w.count++
	w.wg.Go(func() { w.hold(e, start) })
}

// changesOf is warmKind.changes.
func (w *warmth) changesOf(k *warmKind) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return k.changes
}

// room reports whether another spare of k may wait. w.mu is held.
func (w *warmth) room(k *warmKind) bool {
	there := 0
	for _, other := range w.hosts[k.conn.host] {
		there += len(other.spares)
	}
	return there < maxWarmPerHost && (w.max == 0 || w.count < w.max)
}

// hold waits for start to make a spare's shell ready, and drops it when its time is up, unless it is taken.
func (w *warmth) hold(e *spare, start func(*spare) (*shell, error)) {
	defer e.drop()
	e.sh, e.err = start(e)
	e.since = time.Now()
	close(e.ready)
	if e.err == nil {
		timer := time.NewTimer(w.life)
		defer timer.Stop()
		select {
		case <-e.ctx.Done():
		case <-e.sh.done:
		case <-timer.C:
		}
	}
	w.mu.Lock()
	mine := w.claim(e)
	if errors.Is(e.err, ErrFull) {
		e.k.full = time.Now().Add(warmFor)
	}
	var not *become.Error
	e.k.cold = e.k.cold || errors.As(e.err, &not)
	w.mu.Unlock()
	if mine {
		w.discard(e)
	}
}

func (w *warmth) start(e *spare) (*shell, error) {
	select {
	case w.starts <- struct{}{}:
		defer func() { <-w.starts }()
	case <-e.ctx.Done():
		return nil, e.ctx.Err()
	}
	ctx := e.ctx
	if e.k.ready > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.k.ready)
		defer cancel()
	}
	as := newElevation(e.k.host, &Config{Ready: e.k.ready})
	return startShell(ctx, as.on(e.c.t), e.k.spec)
}

// evict has one spare of the connections of a key make room, on one for one-off commands alone only if once says so, and
// reports whether there was one. Its place comes back soon.
func (w *warmth) evict(conn connKey, once bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.hosts[conn.host] {
		for _, e := range k.spares {
			if k.conn != conn {
				break
			}
			if once || !e.c.spare {
				w.dismiss(e)
				return true
			}
		}
	}
	return false
}

// dismiss discards a spare and does not wait for that. w.mu is held.
func (w *warmth) dismiss(e *spare) {
	if w.closed || !w.claim(e) { // after Close each goes by itself
		return
	}
	e.leaves = true
	w.core.leave(e.c, true)
	w.wg.Go(func() { w.discard(e) })
}

// changed drops the spares of a host, on which something may have changed what a shell begins with, and has others started a
// little later, if they may be needed.
func (w *warmth) changed(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for _, k := range w.hosts[host] {
		k.changes++
		w.dismissAll(k)
		w.later(k)
	}
}

func (w *warmth) dismissAll(k *warmKind) {
	for _, e := range slices.Clone(k.spares) {
		w.dismiss(e)
	}
}

// clear drops every spare.
func (w *warmth) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, keys := range w.hosts {
		for _, k := range keys {
			w.dismissAll(k)
		}
	}
}

// shut has every spare go, and starts no more.
func (w *warmth) shut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, keys := range w.hosts {
		for _, k := range keys {
			if k.timer != nil {
				k.timer.Stop()
			}
		}
	}
	w.end()
}

// wait returns when every goroutine has ended.
func (w *warmth) wait() { w.wg.Wait() }
