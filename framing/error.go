package framing

import (
	"errors"
	"fmt"
)

// What can be wrong with a stream.
var (
	ErrTorn      = errors.New("the stream ended inside a frame")
	ErrDoubled   = errors.New("a frame began or ended twice")
	ErrMalformed = errors.New("a mark is not well formed")
)

// Error is any failure to find a well-formed frame. It marks the layer, so that a caller can tell a broken frame from a
// broken connection. Err is one of ErrTorn, ErrDoubled and ErrMalformed.
type Error struct {
	Offset int64 // bytes of the stream before the place where it was noticed
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("framing: %v (at byte %d)", e.Err, e.Offset) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
