package sshconn

import (
	"net"
	"sync"
	"sync/atomic"
)

// maxHeard is how much of what a server says before SSH is kept for an error.
const maxHeard = 512

// wire is the connection under SSH. It remembers the first bytes until the handshake is over.
type wire struct {
	net.Conn
	quiet  atomic.Bool // the handshake is over
	broken atomic.Bool // a Read has failed during it

	mu    sync.Mutex
	heard []byte
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if !w.quiet.Load() {
		w.mu.Lock()
		w.heard = append(w.heard, b[:min(n, maxHeard-len(w.heard))]...)
		w.mu.Unlock()
		if err != nil {
			w.broken.Store(true)
		}
	}
	return n, err
}

// hush stops remembering and returns what was heard.
func (w *wire) hush() string {
	w.quiet.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(w.heard)
	w.heard = nil
	return text
}
