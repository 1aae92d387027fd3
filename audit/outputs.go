package audit

import (
	"context"
	"errors"
	"time"
)

// ErrNoOutput is wrapped where an OutputStore does not have an output: it was purged, or never kept.
var ErrNoOutput = errors.New("audit: no such output")

// OutputStore keeps outputs by the SHA-256 of their bytes, beside the record and not in it, so that they can be removed
// and the chain stays whole. All methods may be called concurrently.
type OutputStore interface {
	// Put keeps data and returns its hash in lower-case hexadecimal. What is kept already is kept anew: it counts as young.
	Put(ctx context.Context, data []byte) (sum string, err error)
	// Get returns what was kept under sum. The error wraps ErrNoOutput where there is nothing.
	Get(ctx context.Context, sum string) ([]byte, error)
	// Purge removes what was last Put before a time, and says how much that was. Before it removes anything it calls
	// record with what it is going to remove, unless that is nothing; an error of record ends it.
	Purge(ctx context.Context, before time.Time, record func(Purged) error) (Purged, error)
}
