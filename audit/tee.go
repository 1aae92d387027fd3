package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// DefaultEvery is how often a head goes to a place that nobody waits for.
	DefaultEvery = time.Second
	// slowest is how far apart the tries to reach a place get.
	slowest = time.Minute
	// closing bounds what Close waits for a place that is not required.
	closing = 2 * time.Second
)

// TeeConfig tunes a Tee. Places is all that is needed.
type TeeConfig struct {
	Places []Place
	Every  time.Duration // between two heads that nobody waits for; zero means DefaultEvery

	// Warn is told, once, that a place that is not required cannot be reached, and when it can be again. It may be called
	// from any goroutine, and not after Close. Nil means that nobody wants to know.
	Warn func(text string)
}

// Tee is a Sink that records in a File and takes the head of its chain to other places: to the required ones before
// Record returns, to all of them soon after. Heads that a place did not take wait in memory, no more than maxQueue of
// them, and go first when it is back. All methods may be called concurrently.
type Tee struct {
	f      *File
	places []*place
	every  time.Duration
	warn   func(string)

	stop chan struct{}
	once sync.Once
	wg   sync.WaitGroup // one goroutine for each place
	err  error          // of Close
}

// NewTee returns a Tee over f, which it owns from then on: Close closes f too.
func NewTee(f *File, cfg TeeConfig) *Tee {
	t := &Tee{f: f, every: cfg.Every, warn: cfg.Warn, stop: make(chan struct{})}
	if t.every <= 0 {
		t.every = DefaultEvery
	}
	if t.warn == nil {
		t.warn = func(string) {}
	}
	for _, c := range cfg.Places {
		if c.Timeout == 0 {
			c.Timeout = DefaultPlaceTimeout
		}
		p := &place{Place: c, head: f.Head, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
		t.places = append(t.places, p)
		t.wg.Go(func() { t.follow(p) })
	}
	return t
}

// File is the File behind the Tee. The Tee closes it.
func (t *Tee) File() *File { return t.f }

// Record records e, and returns once the places that e requires have acknowledged it. Every error is ErrUnavailable:
// nothing may be sent.
func (t *Tee) Record(ctx context.Context, e Event) error { return t.RecordAll(ctx, []Event{e}) }

// RecordAll records events as one group, with one acknowledgement for all of them.
func (t *Tee) RecordAll(ctx context.Context, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := t.f.record(events); err != nil {
		return err
	}
	for _, p := range t.places {
		p.news()
	}
	for _, p := range t.places {
		if !p.covers(events) {
			continue
		}
		p.needed.Store(true)
		if err := p.reach(t.f.count()); err != nil {
			err = t.refusal(p, err)
			t.takeBack(ctx, events, err)
			return err
		}
	}
	return nil
}

func (p *place) covers(events []Event) bool {
	for i := range events {
		if p.Required.covers(&events[i]) {
			return true
		}
	}
	return false
}

func (t *Tee) refusal(p *place, err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return &Error{Op: "anchor at", Path: p.Name, Err: err,
		Do: fmt.Sprintf("make it reachable again (it is required: %s); nothing is sent until then", p.Required)}
}

// takeBack puts on record that what events announce was not done, as far as that can still be written.
func (t *Tee) takeBack(ctx context.Context, events []Event, why error) {
	var ends []Event
	for _, e := range events {
		if about, request, _ := e.Kind.pair(); request {
			ends = append(ends, Event{Kind: Kind(about + ".result"), ID: e.ID, Group: e.Group, Principal: e.Principal, Host: e.Host,
				Tier: e.Tier, Session: e.Session, State: "done", Status: "error", Error: Fault{Code: "audit", Message: why.Error()}})
		}
	}
	if len(ends) > 0 {
		_ = t.f.RecordAll(ctx, ends) // why is what counts, and is told
	}
}

// follow takes heads to one place, until Close.
func (t *Tee) follow(p *place) {
	pause := t.every
	timer := time.NewTimer(0)
	<-timer.C
	defer timer.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-p.wake:
		}
		timer.Reset(pause)
		select {
		case <-t.stop:
			return
		case <-timer.C:
		}
		if t.update(p) == nil {
			pause = t.every
			continue
		}
		pause = min(2*pause, slowest)
		p.news() // to try again, even without anything new
	}
}

// update sends what is new.
func (t *Tee) update(p *place) error {
	a, err := t.f.Head()
	if err != nil {
		return err // told by the File to whoever records next
	}
	text, err := p.catchUp(a)
	if text != "" {
		t.warn(text)
	}
	return err
}

// Close takes the last head to every place, waits for the Tee's goroutines, and closes the places and the File. What a
// place did not take that is not required, or on prod alone where nothing was recorded of it, is told through Warn. It is idempotent.
func (t *Tee) Close() error {
	t.once.Do(func() {
		close(t.stop)
		t.wg.Wait()
		var all sync.WaitGroup
		errs := make([]error, len(t.places))
		for i, p := range t.places {
			all.Go(func() {
				needed := p.Required == Always || p.Required == Prod && p.needed.Load()
				if !needed {
					p.endBy(time.Now().Add(closing))
				}
				if err := t.update(p); err != nil && needed {
					errs[i] = fmt.Errorf("audit: the last entries are not anchored at %s: %w", p.Name, err)
				}
				errs[i] = errors.Join(errs[i], p.close())
			})
		}
		all.Wait()
		t.err = errors.Join(append(errs, t.f.Close())...)
	})
	return t.err
}
