package keeper

import "context"

type bodyKey struct{}

// decoded makes the room of a request's body free before its answer ends, which may take long.
func decoded(ctx context.Context) {
	if free, ok := ctx.Value(bodyKey{}).(func()); ok {
		free()
	}
}
