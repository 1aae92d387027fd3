package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/session/id"
)

// Event is something that happened. Texts are bounded by whoever makes it.
type Event struct {
	Version   int        `json:"v"`    // 1
	ID        string     `json:"id"`   // of this event; unique
	Kind      string     `json:"kind"` // one of Kinds
	Time      time.Time  `json:"time"`
	Approval  string     `json:"approval,omitempty"`   // of the ask that it is about
	Exec      string     `json:"exec,omitempty"`       // of the command that it is about; of an ask in a sandbox, its command
	CommandID string     `json:"command_id,omitempty"` // of the command in a sandbox that it is about
	Principal string     `json:"principal"`
	Host      string     `json:"host,omitempty"`
	Tier      string     `json:"tier,omitempty"`
	Class     string     `json:"class,omitempty"`
	Command   string     `json:"command,omitempty"` // without secrets; long ones are cut
	CWD       string     `json:"cwd,omitempty"`
	Reason    string     `json:"reason,omitempty"` // that the asker gave, without secrets
	Expires   *time.Time `json:"expires,omitempty"`
	Status    string     `json:"status,omitempty"` // of a command that is done
	ExitCode  *int       `json:"exit_code,omitempty"`
}

// Notifier passes events on. Its methods may be called concurrently.
type Notifier struct {
	places []*place
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// place is where events go.
type place struct {
	cfg     Config
	queue   chan queued
	dropped atomic.Uint64
	full    atomic.Bool // and that was told
	deliver func(ctx context.Context, q queued) (again bool, err error)
	pause   time.Duration // after the first attempt that failed
	close   func()
	warn    func(text string)
}

// queued is an event on its way.
type queued struct {
	id, kind string
	body     []byte
}

// New starts a Notifier. warn is told what people should know of places that do not take events; it may be called from any
// goroutine, and not after Close. Places are not reached before there is something to tell them.
func New(all []Config, warn func(text string)) (*Notifier, error) {
	return start(all, warn, time.Second)
}

func start(all []Config, warn func(text string), pause time.Duration) (*Notifier, error) {
	n := &Notifier{}
	for i, c := range all {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("notify: entry %d: %w", i+1, err)
		}
		if c.Timeout == 0 {
			c.Timeout = DefaultTimeout
		}
		p := &place{cfg: c, queue: make(chan queued, maxQueue), pause: pause, close: func() {}, warn: warn}
		if len(c.Exec) > 0 {
			p.deliver = p.run
		} else {
			w, err := newWeb(c)
			if err != nil {
				return nil, fmt.Errorf("notify: entry %d: %w", i+1, err)
			}
			p.deliver, p.close = w.post, w.client.CloseIdleConnections
		}
		n.places = append(n.places, p)
	}
	var ctx context.Context
	ctx, n.stop = context.WithCancel(context.Background())
	for _, p := range n.places {
		n.wg.Go(func() { p.follow(ctx) })
	}
	return n, nil
}

// Wants reports whether any place is told of events of a kind.
func (n *Notifier) Wants(kind string) bool {
	for _, p := range n.places {
		if p.cfg.wants(kind) {
			return true
		}
	}
	return false
}

// Send passes an event on, and does not wait. Version and ID are filled in, and Time where it is zero.
func (n *Notifier) Send(e Event) {
	if !n.Wants(e.Kind) {
		return
	}
	e.Version, e.ID = 1, id.New("n_")
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	body, _ := json.Marshal(e) // an Event can always be written
	for _, p := range n.places {
		if !p.cfg.wants(e.Kind) {
			continue
		}
		select {
		case p.queue <- queued{e.ID, e.Kind, body}:
		default:
			p.dropped.Add(1)
			if !p.full.Swap(true) {
				p.warn(fmt.Sprintf("%s takes events too slowly: %d wait, and more are dropped", p.cfg.Name(), maxQueue))
			}
		}
	}
}

// Dropped counts the events that a place was not told.
func (n *Notifier) Dropped() (sum uint64) {
	for _, p := range n.places {
		sum += p.dropped.Load()
	}
	return sum
}

// Close tries once more to deliver what waits, for a short time, and returns when nothing is left of the Notifier. Nothing
// may be sent any more. It is idempotent.
func (n *Notifier) Close() {
	n.stop()
	n.wg.Wait()
}

// follow delivers events until ctx ends.
func (p *place) follow(ctx context.Context) {
	defer p.close()
	told := false
	for {
		var q queued
		select {
		case q = <-p.queue:
		case <-ctx.Done():
			p.drain()
			return
		}
		if len(p.queue) == 0 {
			p.full.Store(false)
		}
		err := p.send(ctx, q)
		if err == nil {
			told = false
			continue
		}
		p.dropped.Add(1)
		if !told {
			told = true
			p.warn(fmt.Sprintf("%s did not receive an event (%s): %v", p.cfg.Name(), q.kind, err))
		}
	}
}

// send delivers one event, in several attempts where that may help. The end of ctx makes the attempt that runs the last.
func (p *place) send(ctx context.Context, q queued) (err error) {
	pause := p.pause
	for n := range attempts {
		if n > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return errors.Join(errEnded, err)
			}
			pause *= 2
		}
		again := false
		if again, err = p.lasting(ctx, q); err == nil || !again {
			return err
		}
		if ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("%w (given up after %d attempts)", err, attempts)
}

var errEnded = errors.New("this program ended before it could be tried again")

// lasting makes an attempt that outlives ctx, by closing at most.
func (p *place) lasting(ctx context.Context, q queued) (again bool, err error) {
	actx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(closing):
			end(errClosing)
		case <-actx.Done():
		}
	})()
	return p.once(actx, q)
}

var errClosing = fmt.Errorf("this program ends, and it took longer than %v", closing)

func (p *place) once(ctx context.Context, q queued) (again bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.Timeout, fmt.Errorf("it took longer than %v", p.cfg.Timeout))
	defer cancel()
	again, err = p.deliver(ctx, q)
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return again, err
}

// drain gives what waits one attempt each, all together within closing. What is left then is dropped.
func (p *place) drain() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), closing, errEnded)
	defer cancel()
	defer func() { p.dropped.Add(uint64(len(p.queue))) }()
	for ctx.Err() == nil {
		select {
		case q := <-p.queue:
			if _, err := p.once(ctx, q); err != nil {
				p.dropped.Add(1)
			}
		default:
			return
		}
	}
}
