package shell

import "sync"

// maxTyped is how much of what is typed may wait for the host.
const maxTyped = 64 << 10

// queue holds what is typed until the host takes it, so that a host that takes nothing does not keep the program from
// looking at the keys. Its methods may be called concurrently.
type queue struct {
	mu     sync.Mutex
	change sync.Cond
	buf    []byte
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.change.L = &q.mu
	return q
}

// put appends p once there is room. It reports false when the queue is closed.
func (q *queue) put(p []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.buf) >= maxTyped && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return false
	}
	q.buf = append(q.buf, p...)
	q.change.Broadcast()
	return true
}

// take moves bytes to p once there are any, and returns how many; 0 when the queue is closed.
func (q *queue) take(p []byte) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.buf) == 0 && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return 0
	}
	n := copy(p, q.buf)
	q.buf = q.buf[:copy(q.buf, q.buf[n:])]
	q.change.Broadcast()
	return n
}

// close frees everybody who waits, and drops what is left.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	clear(q.buf) // there may be passwords in it
	q.buf = nil
	q.change.Broadcast()
}
