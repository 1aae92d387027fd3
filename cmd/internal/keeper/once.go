package keeper

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// maxOnces bounds how many requests are remembered with what came of them. Beyond, and in the next keeper, the store knows
// that there was one.
const maxOnces = 10000

// onces remembers what came of requests that had an idempotency key.
type onces struct {
	mu    sync.Mutex // guards what follows
	m     map[onceKey]*onceDone
	order []onceKey // the oldest first
}

type onceKey struct{ principal, key string }

// onceDone is a request and what came of it.
type onceDone struct {
	request [sha256.Size]byte // its hash
	at      time.Time
	over    chan struct{} // closed when what follows is set
	well    bool          // it was done; else it came to nothing, and is remembered no longer
	value   any
}

func newOnces() *onces { return &onces{m: map[onceKey]*onceDone{}} }

// take returns what a key stands for, and whether that is new: then the caller does it, and calls end.
func (o *onces) take(k onceKey, request [sha256.Size]byte) (d *onceDone, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.order) > 0 && (len(o.order) >= maxOnces || time.Since(o.m[o.order[0]].at) >= store.DefaultKeyTTL) {
		delete(o.m, o.order[0])
		o.order = o.order[1:]
	}
	if d := o.m[k]; d != nil {
		return d, false
	}
	d = &onceDone{request: request, at: time.Now(), over: make(chan struct{})}
	o.m[k] = d
	o.order = append(o.order, k)
	return d, true
}

// end says what came of a request. What came to nothing may be made again.
func (o *onces) end(k onceKey, d *onceDone, value any, well bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d.value, d.well = value, well
	close(d.over)
	if !well && o.m[k] == d {
		o.remove(k)
	}
}

// forget says that what was done came to nothing in the end, so that the request may be made again.
func (o *onces) forget(k onceKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remove(k)
}

// remove takes a key out, if it is there. o.mu is held.
func (o *onces) remove(k onceKey) {
	if o.m[k] == nil {
		return
	}
	delete(o.m, k)
	for i := len(o.order) - 1; i >= 0; i-- {
		if o.order[i] == k {
			o.order = append(o.order[:i], o.order[i+1:]...)
			break
		}
	}
}

// once does what a request asks for, but for one that was made before with its key: that is answered as the first, also
// while the first is being done, and by keepers after this one with the news that it was made. Without a key it is done.
func once[T any](ctx context.Context, k *Keeper, c *access.Caller, key string, request any, do func() (T, error)) (T, error) {
	return onceFor(ctx, k, c, key, request, lasting[T]{do: func(func(string) error) (T, error) { return do() }})
}

// lasting is a request of which something stays when the keeper ends.
type lasting[T any] struct {
	do     func(aim func(target string) error) (T, error) // aim keeps what stands for it, before anything is sent
	recall func(target string) (T, error)                 // finds it by that; nil where nothing stays
}

// onceFor is once for a request that keepers after this one may find again.
func onceFor[T any](ctx context.Context, k *Keeper, c *access.Caller, key string, request any, r lasting[T]) (T, error) {
	if key == "" {
		return r.do(func(string) error { return nil })
	}
	var none T
	as, text := onceKey{c.Principal, key}, resultJSON(request)
	for {
		d, first := k.onces.take(as, sha256.Sum256(text))
		if !first {
			if d.request != sha256.Sum256(text) {
				return none, problem.KeyUsed()
			}
			select {
			case <-d.over:
			case <-ctx.Done():
				return none, context.Cause(ctx)
			}
			if !d.well {
				continue // it came to nothing: ours is the first now
			}
			value, ok := d.value.(T)
			if !ok {
				return none, problem.KeyUsed()
			}
			return value, nil
		}
		return firstOnce(ctx, k, c, as, d, text, r)
	}
}

// firstOnce does it for the first of equal requests.
func firstOnce[T any](ctx context.Context, k *Keeper, c *access.Caller, as onceKey, d *onceDone, request []byte, r lasting[T]) (value T, err error) {
	well := false
	defer func() { k.onces.end(as, d, value, well) }()
	key := k.storeKey(c, as.key)
	claim, err := k.claimKey(ctx, key, request)
	switch {
	case err != nil:
		return value, err
	case claim.State == store.KeySame && claim.Target == key.Target:
		return value, problem.New(http.StatusGone, registry.CodeGone, "this request was made before, and its response is no longer kept: the audit log has its outcome")
	case claim.State == store.KeySame:
		if r.recall != nil {
			value, err = r.recall(claim.Target)
			well = err == nil
			return value, err
		}
		return value, problem.MadeBefore()
	}
	value, err = r.do(func(target string) error {
		if k.cfg.Store == nil {
			return nil
		}
		err := k.cfg.Store.AimKey(ctx, key, target)
		if err == nil {
			key.Target = target
		}
		return err
	})
	if err != nil {
		k.giveKeyBack(ctx, key)
	}
	well = err == nil
	return value, err
}

// undo forgets a request that came to nothing after it had been done well. Only who did it may say so.
func (k *Keeper) undo(ctx context.Context, c *access.Caller, key string) {
	if key == "" {
		return
	}
	k.giveKeyBack(ctx, k.storeKey(c, key))
	k.onces.forget(onceKey{c.Principal, key})
}
