package keeper

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
)

// lifetime is when a keeper ends, and what that waits for. Make one with newLifetime.
type lifetime struct {
	base    context.Context // of every request; ends with the keeper
	cancel  context.CancelFunc
	asked   chan struct{} // closed when a caller has asked the keeper to end
	askOnce sync.Once

	answering atomic.Int64 // requests in progress

	entrance sync.RWMutex // held for reading while a request is counted in; guards left
	left     bool         // it ends, so that a newer one may begin, and takes no request any more

	staying sync.Mutex     // held while something is counted into leaving that may come when the keeper ends
	leaving sync.WaitGroup // realms that are being closed, and goroutines of our own
}

func newLifetime() *lifetime {
	l := &lifetime{asked: make(chan struct{})}
	l.base, l.cancel = context.WithCancel(context.Background())
	return l
}

// stop asks the keeper to end.
func (l *lifetime) stop() { l.askOnce.Do(func() { close(l.asked) }) }

// enter counts a request in, but not once the keeper has left.
func (l *lifetime) enter() (n int64, open bool) {
	l.entrance.RLock()
	defer l.entrance.RUnlock()
	return l.answering.Add(1), !l.left
}

// end ends the requests, and lets nothing more begin.
func (l *lifetime) end() {
	l.staying.Lock()
	defer l.staying.Unlock()
	l.cancel()
}

// stay keeps Close waiting for what is no request of the HTTP server's any more.
func (l *lifetime) stay() (leave func(), err error) {
	l.staying.Lock()
	defer l.staying.Unlock()
	if l.base.Err() != nil {
		return nil, problem.ErrEnding
	}
	l.leaving.Add(1)
	return l.leaving.Done, nil
}
