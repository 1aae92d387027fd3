package access

import (
	"context"
	"sync"
)

type (
	pidKey    struct{}
	insideKey struct{}
)

// WithProcess notes which process has connected, and whether it runs in a session of ours: that does not change while it is
// connected.
func WithProcess(ctx context.Context, pid int, isInside func(pid int) error) context.Context {
	if pid <= 0 {
		return ctx
	}
	inside := sync.OnceValue(func() error { return isInside(pid) })
	return context.WithValue(context.WithValue(ctx, pidKey{}, pid), insideKey{}, inside)
}

// insideOf says why the process that has connected may not use the keeper; nil where it may.
func insideOf(ctx context.Context) error {
	if inside, ok := ctx.Value(insideKey{}).(func() error); ok {
		return inside()
	}
	return nil
}

// pidOf is the process that has made a request; 0 where nobody knows.
func pidOf(ctx context.Context) int {
	pid, _ := ctx.Value(pidKey{}).(int)
	return pid
}
