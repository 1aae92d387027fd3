package files

import (
	"bytes"
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

const (
	maxHeld  = 20 << 20  // bytes of all contents that are being edited or compared, in this process: room for one of the largest
	freeHeld = 256 << 10 // what each may have besides
	heldStep = 1 << 20
	grownBy  = 64 << 10 // a file may grow by so much while it is read, without a second copy
	heldWait = 30 * time.Second
)

// room is what all contents take above what each may have, in steps.
var room = semaphore.NewWeighted(maxHeld / heldStep)

// content is a file in memory, which has room for so much at a time. The zero value is empty. Drop it.
type content struct {
	text  bytes.Buffer
	taken int // steps of room
}

// expect waits for room for a file of a size that grows by no more than so many bytes, for a while.
func (c *content) expect(ctx context.Context, size int64, grows int) error {
	n := int(min(size, MaxEdit)) + max(grows, grownBy) + bytes.MinRead
	if missing := min(c.missing(n), maxHeld/heldStep-c.taken); missing > 0 { // what needs more than all has it alone
		wait, stop := context.WithTimeout(ctx, heldWait)
		defer stop()
		if room.Acquire(wait, int64(missing)) != nil {
			if ctx.Err() != nil {
				return ctxerr.Of(ctx)
			}
			return errHeld
		}
		c.taken += missing
	}
	c.text.Grow(n)
	return nil
}

var errHeld = fault(CodeFull, "too many large files are being edited: try again")

// Write fails where there is no room: what a host says of a size need not be true.
func (c *content) Write(p []byte) (int, error) {
	if n := c.text.Len() + len(p); n > c.text.Cap() {
		if err := c.take(3 * n); err != nil { // old and new, which has twice as much
			return 0, err
		}
	}
	return c.text.Write(p)
}

// take makes sure that c has room for n bytes. It does not wait, with what others may wait for.
func (c *content) take(n int) error {
	missing := c.missing(n)
	if missing > 0 && !room.TryAcquire(int64(missing)) {
		return errHeld
	}
	c.taken += missing
	return nil
}

// missing is how many steps of room c lacks for n bytes.
func (c *content) missing(n int) int {
	return max(0, (n-freeHeld+heldStep-1)/heldStep-c.taken)
}

func (c *content) drop() {
	room.Release(int64(c.taken))
	*c = content{}
}
