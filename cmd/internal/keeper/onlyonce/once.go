// Package onlyonce answers a request that is made again with its idempotency key as it was answered the first time, and does
// nothing for it: also while the first is being done, and, where there is a store, in the keepers after this one.
package onlyonce

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// maxKept bounds how many requests are remembered with what came of them. Beyond, and in the next keeper, the store knows
// that there was one.
const maxKept = 10000

// Book remembers what came of requests that had an idempotency key. Make one with New. Its methods may be called concurrently.
type Book struct {
	store *store.Store // nil forgets with the process
	life  string       // tells this keeper from those before and after
	log   *log.Logger

	mu    sync.Mutex // guards what follows
	m     map[entryKey]*entry
	order []entryKey // the oldest first
}

// entryKey is a key, and whose.
type entryKey struct{ principal, key string }

// entry is a request and what came of it.
type entry struct {
	request [sha256.Size]byte // its hash
	at      time.Time
	over    chan struct{} // closed when what follows is set
	well    bool          // it was done; else it came to nothing, and is remembered no longer
	value   any
}

// New returns a Book of a keeper that is told from others by life. st may be nil.
func New(st *store.Store, life string, l *log.Logger) *Book {
	return &Book{store: st, life: life, log: l, m: map[entryKey]*entry{}}
}

// take returns what a key stands for, and whether that is new: then the caller does it, and calls end.
func (b *Book) take(k entryKey, request [sha256.Size]byte) (d *entry, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.order) > 0 && (len(b.order) >= maxKept || time.Since(b.m[b.order[0]].at) >= store.DefaultKeyTTL) {
		delete(b.m, b.order[0])
		b.order = b.order[1:]
	}
	if d := b.m[k]; d != nil {
		return d, false
	}
	d = &entry{request: request, at: time.Now(), over: make(chan struct{})}
	b.m[k] = d
	b.order = append(b.order, k)
	return d, true
}

// end says what came of a request. What came to nothing may be made again.
func (b *Book) end(k entryKey, d *entry, value any, well bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.value, d.well = value, well
	close(d.over)
	if !well && b.m[k] == d {
		b.remove(k)
	}
}

// forget says that what was done came to nothing in the end, so that the request may be made again.
func (b *Book) forget(k entryKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(k)
}

// remove takes a key out, if it is there. b.mu is held.
func (b *Book) remove(k entryKey) {
	if b.m[k] == nil {
		return
	}
	delete(b.m, k)
	for i := len(b.order) - 1; i >= 0; i-- {
		if b.order[i] == k {
			b.order = append(b.order[:i], b.order[i+1:]...)
			break
		}
	}
}

// Lasting is a request of which something stays when the keeper ends.
type Lasting[T any] struct {
	Do     func(aim func(target string) error) (T, error) // aim keeps what stands for it, before anything is sent
	Recall func(target string) (T, error)                 // finds it by that; nil where nothing stays
}

// Do does what a request of a principal asks for, but for one that was made before with its key: that is answered as the first,
// and by keepers after this one with the news that it was made, or with what Recall finds. Without a key it is done. request
// is all that makes it another one, as JSON has it.
func Do[T any](ctx context.Context, b *Book, principal, key string, request any, do func() (T, error)) (T, error) {
	return DoLasting(ctx, b, principal, key, request, Lasting[T]{Do: func(func(string) error) (T, error) { return do() }})
}

// DoLasting is Do for a request of which something stays when the keeper ends.
func DoLasting[T any](ctx context.Context, b *Book, principal, key string, asked any, r Lasting[T]) (T, error) {
	if key == "" { // nobody looks at what is asked, and it may be long
		return r.Do(func(string) error { return nil })
	}
	request, _ := json.Marshal(asked) // of the API's own types
	var none T
	as := entryKey{principal, key}
	for {
		d, first := b.take(as, sha256.Sum256(request))
		if !first {
			if d.request != sha256.Sum256(request) {
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
		return doFirst(ctx, b, as, d, request, r)
	}
}

// doFirst does it for the first of equal requests.
func doFirst[T any](ctx context.Context, b *Book, as entryKey, d *entry, request []byte, r Lasting[T]) (value T, err error) {
	well := false
	defer func() { b.end(as, d, value, well) }()
	key := b.key(as)
	claim, err := b.claim(ctx, key, request)
	switch {
	case err != nil:
		return value, err
	case claim.State == store.KeySame && claim.Target == key.Target:
		return value, problem.New(http.StatusGone, registry.CodeGone, "this request was made before, and its response is no longer kept: the audit log has its outcome")
	case claim.State == store.KeySame:
		if r.Recall != nil {
			value, err = r.Recall(claim.Target)
			well = err == nil
			return value, err
		}
		return value, problem.MadeBefore()
	}
	value, err = r.Do(func(target string) error {
		if b.store == nil {
			return nil
		}
		err := b.store.AimKey(ctx, key, target)
		if err == nil {
			key.Target = target
		}
		return err
	})
	if err != nil {
		b.giveBack(ctx, key)
	}
	well = err == nil
	return value, err
}

// Undo forgets a request that came to nothing after it had been done well. Only who did it may say so.
func (b *Book) Undo(ctx context.Context, principal, key string) {
	if key == "" {
		return
	}
	as := entryKey{principal, key}
	b.giveBack(ctx, b.key(as))
	b.forget(as)
}

// claim takes a key for a request, also against keepers before this one: KeyNew is the first, and it alone may give the key
// back.
func (b *Book) claim(ctx context.Context, key store.Key, request []byte) (store.KeyClaim, error) {
	if b.store == nil {
		return store.KeyClaim{State: store.KeyNew}, nil
	}
	key.Request = request
	got, err := b.store.ClaimKey(ctx, key)
	if err == nil && got.State == store.KeyConflict {
		err = problem.KeyUsed()
	}
	return got, err
}

// giveBack lets a key be used again, for a request that came to nothing.
func (b *Book) giveBack(ctx context.Context, key store.Key) {
	if b.store == nil {
		return
	}
	err := b.store.ReleaseKey(context.WithoutCancel(ctx), key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		b.log.Printf("an idempotency key was not given back: %v", err)
	}
}

// key is a key of this keeper's. What is in another's is known by its target at most.
func (b *Book) key(as entryKey) store.Key {
	return store.Key{Principal: as.principal, Key: as.key, Target: "life " + b.life}
}
