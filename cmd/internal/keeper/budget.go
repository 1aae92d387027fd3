package keeper

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

const (
	// budgetOfAll is how many bytes of memory what the account's own principals send may take at a time, and what all others send.
	budgetOfAll = 24 << 20
	// budgetOfOne is how much of that one principal may take.
	budgetOfOne = 16 << 20
	// smallBody are bytes that count for nothing: maxRequests of them are few.
	smallBody = 4 << 10

	// How much memory one byte of these takes.
	copiesOfText, copiesOfFile, copiesOfContent = 4, 1, 3
)

// budget shares memory out.
type budget struct {
	own, others *semaphore.Weighted

	mu  sync.Mutex
	per map[string]*share // by principal, while it uses or waits for some
}

type share struct {
	room *semaphore.Weighted
	uses int
}

func newBudget() *budget {
	return &budget{own: semaphore.NewWeighted(budgetOfAll), others: semaphore.NewWeighted(budgetOfAll), per: map[string]*share{}}
}

// take waits until there is room for a body of so many bytes, and returns what makes it free again, which may be called more than
// once. A body that is larger than the room of its sender has it alone.
func (b *budget) take(ctx context.Context, principal string, own bool, size int64, within time.Duration) (free func(), p *wire.Problem) {
	if size <= smallBody {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	all := b.others
	if own {
		all = b.own
	}
	s := b.share(principal)
	n := min(size, budgetOfOne)
	busy := &wire.Problem{Status: http.StatusServiceUnavailable, Code: "full", Retriable: true, Detail: "too many large requests are in progress: try again"}
	if s.room.Acquire(ctx, n) != nil {
		b.leave(principal)
		return nil, busy
	}
	if all.Acquire(ctx, n) != nil {
		s.room.Release(n)
		b.leave(principal)
		return nil, busy
	}
	return sync.OnceFunc(func() {
		all.Release(n)
		s.room.Release(n)
		b.leave(principal)
	}), nil
}

func (b *budget) share(principal string) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.per[principal]
	if s == nil {
		s = &share{room: semaphore.NewWeighted(budgetOfOne)}
		b.per[principal] = s
	}
	s.uses++
	return s
}

func (b *budget) leave(principal string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.per[principal]; s.uses > 1 {
		s.uses--
	} else {
		delete(b.per, principal)
	}
}

type bodyKey struct{}

// decoded makes the room of a request's body free before its answer ends, which may take long.
func decoded(ctx context.Context) {
	if free, ok := ctx.Value(bodyKey{}).(func()); ok {
		free()
	}
}

// wholeBody is a body in memory. It lets go of what was read to its end: the request lives until its answer ends.
type wholeBody struct{ rest []byte }

func (b *wholeBody) Read(p []byte) (int, error) {
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		b.rest = nil
		if len(p) > 0 {
			return n, io.EOF
		}
	}
	return n, nil
}

func (b *wholeBody) Close() error { return nil }
