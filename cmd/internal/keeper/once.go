package keeper

import (
	"context"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
)

// once does what a request asks for, but for one that was made before with its key.
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
	var text []byte
	if key != "" { // else nobody looks at it, and it may be long
		text = resultJSON(request)
	}
	return onlyonce.Do(ctx, k.onces, c.Principal, key, text, onlyonce.Lasting[T]{Do: r.do, Recall: r.recall})
}
