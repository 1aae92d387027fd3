// Package ctxerr makes errors of contexts that have ended.
package ctxerr

import (
	"context"
	"errors"
)

// Of returns the cause of ctx's end as an error that also wraps ctx.Err(): callers who gave a cause of their own can ask
// for that, and callers who gave none for context.Canceled or context.DeadlineExceeded. It returns nil while ctx lasts.
func Of(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return &ended{cause, err}
}

// ended is a cause that does not wrap the context's own error.
type ended struct{ cause, err error }

func (e *ended) Error() string   { return e.cause.Error() }
func (e *ended) Unwrap() []error { return []error{e.cause, e.err} }
