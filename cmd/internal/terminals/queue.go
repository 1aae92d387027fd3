package terminals

import "sync"

// Queue holds what is typed until the host takes it, so that a host that takes nothing does not keep anybody from looking at
// what else is typed. Its methods may be called concurrently.
type Queue struct {
	max int

	mu     sync.Mutex // guards what follows
	change sync.Cond
	buf    []byte
	closed bool
}

// NewQueue returns one in which so many bytes may wait, and what is put in last.
func NewQueue(most int) *Queue {
	q := &Queue{max: most}
	q.change.L = &q.mu
	return q
}

// Put appends p once there is room. It reports false when the queue is closed.
func (q *Queue) Put(p []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.buf) >= q.max && !q.closed {
		q.change.Wait()
	}
	return q.add(p)
}

// Offer appends p. It reports false where there is no room, or the queue is closed.
func (q *Queue) Offer(p []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.buf) < q.max && q.add(p)
}

// add appends p. q.mu is held.
func (q *Queue) add(p []byte) bool {
	if q.closed {
		return false
	}
	q.buf = append(q.buf, p...)
	q.change.Broadcast()
	return true
}

// Take moves bytes to p once there are any, and returns how many; 0 when the queue is closed.
func (q *Queue) Take(p []byte) int {
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

// Close frees everybody who waits, and drops what is left.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	clear(q.buf) // there may be passwords in it
	q.buf = nil
	q.change.Broadcast()
}
