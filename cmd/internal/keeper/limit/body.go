package limit

import "context"

type BodyKey struct{}

// Decoded makes the room of a request's body free before its answer ends, which may take long.
func Decoded(ctx context.Context) {
	if free, ok := ctx.Value(BodyKey{}).(func()); ok {
		free()
	}
}
