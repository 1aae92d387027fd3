package session

import "errors"

var (
	// ErrClosed is wrapped by operations on a closed session, lease, pool or transport.
	ErrClosed = errors.New("session: closed")
	// ErrFull is wrapped when a connection has no room for another shell.
	ErrFull = errors.New("session: the connection takes no more sessions")
	// ErrBusy is wrapped when a session is already running a command.
	ErrBusy = errors.New("session: busy")
	// ErrAuth is wrapped by a dial that the server refused because of who asked. It is never retried.
	ErrAuth = errors.New("session: not authenticated")
	// ErrHostKey is wrapped by a dial that ended at the server's host key: unknown, changed or revoked.
	ErrHostKey = errors.New("session: host key not trusted")
)
