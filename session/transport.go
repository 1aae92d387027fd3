package session

import (
	"context"
	"errors"
	"io"
	"math"
)

// Transport is a live connection to one host, able to start programs on it. Package session/sshconn implements it over
// SSH, package session/localpty with a local pseudo-terminal; session/sessiontest checks both against this contract.
//
// One that may lose the right to take new work while it lives, as what it trusted is revoked or what it logged in with has expired,
// has a method Validate() error. It is called before a command begins and before the connection is shared, and takes no round trip.
// After an error, which wraps ErrHostKey or ErrAuth, nothing new begins on the connection, and what runs goes on.
//
// One that would be made in another way now, because the configuration that it was dialed by has changed, may say so with a method
// Moved() bool. It is called before the connection is shared. Once it has reported true, new sessions and one-off commands get
// another connection; sessions keep theirs.
//
// All methods may be called concurrently.
type Transport interface {
	// Open starts p and returns its streams. ctx bounds starting only: once Open has returned, cancelling ctx has no
	// effect on the program. After Close, and once the connection is gone, Open fails with an error that wraps
	// ErrClosed. A connection that has no room for another program (sshd's MaxSessions) reports ErrFull.
	Open(ctx context.Context, p Program) (Stream, error)

	// Wait blocks until the connection is gone and returns why; nil if Close was the reason.
	Wait() error

	// Close ends the connection and every Stream on it, unblocking their callers. It is idempotent and returns after
	// the transport's goroutines have ended.
	Close() error

	// Peer says who is at the other end, for the record. It does not change.
	Peer() Peer
}

// Peer is what a transport knows about its other end. Fields that do not apply are empty.
type Peer struct {
	Addr    string   // "10.0.0.11:22"
	User    string   // the account that logged in
	HostKey string   // SHA256:… fingerprint of the verified host key
	Key     string   // SHA256:… fingerprint of the key that logged in
	Via     []string // jump hosts, first hop first

	CertID     string // of the certificate that logged in: its key id
	CertSerial uint64
}

// Program is what to start: a command line for the account's login shell (a transport without one uses sh), always on a
// terminal. The terminal should be raw from the start: no echo, no canonical lines, no output processing, signals from
// the keyboard on.
type Program struct {
	Line string   // required
	Size Size     // zero means 24 rows of 80 columns
	Term string   // "" means "dumb"
	Env  []string // NAME=VALUE; a host may refuse to take them, and nothing says so

	// Cooked is for people, who type before a program has started: the terminal is as a login finds it, so that a carriage
	// return ends a line from the first one on. Where a command gives the shell its terminal, that one has its own ways.
	Cooked bool
}

// Size is a terminal's size in character cells.
type Size struct{ Rows, Cols int }

var errSize = errors.New("session: a terminal has from 1 to 65535 rows and columns (ioctl_tty(2))")

func (s Size) fits() bool { return min(s.Rows, s.Cols) > 0 && max(s.Rows, s.Cols) <= math.MaxUint16 }

// Stream is one running program on its terminal. Read and Write may be used concurrently with each other and with the
// other methods.
type Stream interface {
	io.Reader // what the program prints; io.EOF once it has ended or hung up, however the terminal says it
	io.Writer // what is typed

	// Wait blocks until the program has ended and returns how. The error is non-nil when the far side never said.
	Wait() (Exit, error)

	// Close hangs up: the program and what runs in its terminal get SIGHUP. It is idempotent, unblocks Read, Write and
	// Wait, and returns after the stream's goroutines have ended. It does not close the Transport.
	Close() error
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // meaningful when Signal is ""
	Signal string // "KILL", "TERM" …, without SIG
}

// Pinger may be implemented by a Transport that can check its liveness with a round trip. ctx bounds the wait. After an
// error, other than that of ctx, the connection is of no use.
type Pinger interface {
	Ping(ctx context.Context) error
}

// validator is a Transport whose right to take new work may end.
type validator interface {
	Validate() error
}

// mover is a Transport whose host may be reached in another way by now.
type mover interface {
	Moved() bool
}

// releaser is a Stream that can be closed more gently than by Close where its program waits for input, having read all of it: what the
// program has just started in the background hears nothing before the program does.
type releaser interface {
	Release() error
}

// Resizer may be implemented by a Stream.
type Resizer interface {
	Resize(Size) error
}
