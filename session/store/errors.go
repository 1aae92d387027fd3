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

	// ErrUnavailable: the database does not answer, not in time, or with an error that is none of the others.
	ErrUnavailable = errors.New("store: the database cannot be reached")
	// ErrReplaced: the file that was opened is not the one at its path any more, or what is in it was replaced by an older copy.
	ErrReplaced = errors.New("store: the database was removed or replaced while it was open")
)

// faults are those errors that are the database's, and what to do about each: without names, addresses and texts of drivers.
var faults = map[error]string{
	ErrClosed:      "The keeper is ending. Try again",
	ErrBusy:        "Others keep the database busy. Try again",
	ErrFull:        "The disk of the store is full. Make room and try again; nothing was written",
	ErrReadOnly:    "The store cannot be written. See who owns its files, and whether its disk is mounted read-only; nothing was written",
	ErrDamaged:     "The store is damaged. Restore a backup, or move it away and start the keeper again",
	ErrNewer:       "A newer Fairlead has changed the store's tables, so this keeper accepts nothing more. Update it and start it again",
	ErrUnavailable: "The store cannot be reached. Check that its database runs and accepts the keeper's login, and try again; the keeper's log says more",
	ErrReplaced:    "The store was removed or replaced while the keeper ran, so nothing more is accepted. Put it back, or start the keeper again with the one that is there: fairlead serve --stop",
}

// Fault says what is wrong with the database where an error is about that, and what to do, in words that hold no user, address
// or text of a driver. Of a file they say its path.
func Fault(err error) (text string, ok bool) {
	for kind, text := range faults {
		if errors.Is(err, kind) {
			if at, ok := errors.AsType[*located](err); ok && at.path != "" {
				text = at.path + ": " + text
			}
			return text, true
		}
	}
	return "", false
}
