package store

import "errors"

// What a call may meet. Errors of this package wrap them and say more; none holds a command's text or a secret.
var (
	ErrNotFound    = errors.New("store: not found")
	ErrExists      = errors.New("store: it exists already")
	ErrInvalid     = errors.New("store: this cannot be kept")
	ErrTooLarge    = errors.New("store: too large")
	ErrInactive    = errors.New("store: the sandbox is not active")
	ErrNotPending  = errors.New("store: not pending")
	ErrExpired     = errors.New("store: its time is over")
	ErrMismatch    = errors.New("store: this is not what was shown")
	ErrForbidden   = errors.New("store: this principal may not approve it")
	ErrNotApproved = errors.New("store: not approved")
	ErrClaimed     = errors.New("store: it was begun already")
	ErrNotClaimed  = errors.New("store: this keeper does not run it")
	ErrNotEnded    = errors.New("store: it has not ended")
	ErrKeyReused   = errors.New("store: the idempotency key was used for another request")
	ErrCursor      = errors.New("store: no cursor of this list")
	ErrToken       = errors.New("store: the token is not valid")
	ErrPurged      = errors.New("store: purged")
)

// What a database may do to any call.
var (
	ErrClosed   = errors.New("store: closed")
	ErrBusy     = errors.New("store: others keep the database busy")
	ErrFull     = errors.New("store: no room on the disk")
	ErrReadOnly = errors.New("store: it cannot be written")
	ErrDamaged  = errors.New("store: the database is damaged")
	ErrNewer    = errors.New("store: written by a newer version")
	ErrSealKey  = errors.New("store: sealed with another key")
)
