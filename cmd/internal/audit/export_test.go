package audit

import (
	"io"
	"time"
)

// Safe passes on what only shows something.
func Safe(w io.Writer) io.Writer { return &safeWriter{w: w} }

// ParseWhen reads a moment.
func ParseWhen(flag, text string, now time.Time) (time.Time, error) {
	return parseWhen(flag, text, now)
}
