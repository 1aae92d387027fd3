package sshconn

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// maxHeard is how much of what a server says before SSH is kept for an error.
const maxHeard = 512

// wire is the connection under SSH. It remembers the first bytes until the handshake is over.
type wire struct {
	net.Conn
	quiet  atomic.Bool // the handshake is over
	broken atomic.Bool // a Read has failed during it

	asking atomic.Int32 // channels that are being opened
	ended  atomic.Bool  // a Read has failed
	got    atomic.Int64 // bytes read

	more bool // the last Read was full; of the goroutine that reads

	mu       sync.Mutex
	heard    []byte
	exchange *keyring.Exchange // nil where keys are not exchanged on it
	pace
}

func (w *wire) Read(b []byte) (int, error) {
	if w.more { // whoever takes what has come runs before more is read: else all that a channel's window allows is in memory
		runtime.Gosched()
	}
	n, err := w.Conn.Read(b)
	w.more = n == len(b)
	w.got.Add(int64(n))
	if !w.quiet.Load() {
		w.mu.Lock()
		w.heard = append(w.heard, b[:min(n, maxHeard-len(w.heard))]...)
		if w.exchange != nil {
			w.exchange.Heard(b[:n])
		}
		w.mu.Unlock()
		if err != nil {
			w.broken.Store(true)
		}
	}
	if err != nil {
		w.end()
	}
	return n, err
}

// settling is how long the end of a connection is kept from the SSH library while it opens channels. It answers those
// that it knows of when it hears of the end, and forgets those that are on their way then.
const settling = 50 * time.Millisecond

func (w *wire) end() {
	w.ended.Store(true)
	for end := time.Now().Add(settling); w.asking.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// ask lets a channel be opened, until done is called; not once the connection has ended.
func (w *wire) ask() (done func(), ok bool) {
	w.asking.Add(1)
	done = func() { w.asking.Add(-1) }
	if w.ended.Load() {
		done()
		return nil, false
	}
	return done, true
}

// hush stops remembering and returns what was heard.
func (w *wire) hush() string {
	w.quiet.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(w.heard)
	w.heard, w.exchange = nil, nil
	return text
}

// shown returns the key that the server has shown, and its signature over the id of the session.
func (w *wire) shown() (hostKey, signature []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exchange == nil {
		return nil, nil
	}
	return w.exchange.Shown()
}
