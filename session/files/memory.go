package files

import (
	"bytes"
	"sync"
)

const (
	maxHeld  = 40 << 20  // bytes of all contents that are being edited or compared, in this process
	freeHeld = 256 << 10 // of these, what each may have in any case
	heldStep = 1 << 20
)

// room is what all contents take above what each may have.
var room struct {
	sync.Mutex
	used int
}

// content is a file in memory, which has room for so much at a time. The zero value is empty. Drop it.
type content struct {
	text  bytes.Buffer
	taken int // of room
}

// expect makes room for a file of a size that grows by no more than so many bytes.
func (c *content) expect(size int64, grows int) error {
	n := int(min(size, MaxEdit)) + grows + bytes.MinRead
	if err := c.take(n); err != nil {
		return err
	}
	c.text.Grow(n)
	return nil
}

// Write fails where there is no room: what a host says of a size need not be true.
func (c *content) Write(p []byte) (int, error) {
	if n := c.text.Len() + len(p); n > c.text.Cap() {
		if err := c.take(3 * n); err != nil { // old and new, which has twice as much
			return 0, err
		}
	}
	return c.text.Write(p)
}

// take makes sure that c has room for n bytes.
func (c *content) take(n int) error {
	for c.taken+freeHeld < n {
		room.Lock()
		full := room.used+heldStep > maxHeld
		if !full {
			room.used += heldStep
		}
		room.Unlock()
		if full {
			return fault(CodeFull, "too many large files are being edited: try again")
		}
		c.taken += heldStep
	}
	return nil
}

func (c *content) drop() {
	room.Lock()
	room.used -= c.taken
	room.Unlock()
	*c = content{}
}
