package hostfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/pkg/sftp"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
)

// Error is an error whose code is not seen from its cause.
type Error struct {
	Code string // of package files
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fault(code, format string, args ...any) error {
	return &Error{code, fmt.Errorf(format, args...)}
}

// Codes, which package files exports.
const (
	NotFound   = "not_found"
	Permission = "permission"
	Directory  = "directory"
	Conflict   = "conflict"
	TooLarge   = "too_large"
	NoSpace    = "no_space"
	Invalid    = "invalid"
	Lost       = "lost"
	Canceled   = "canceled"
	Other      = "error"
)

// Errors of every way.
var (
	ErrChanged = errors.New("the source changed while it was read")
	ErrStored  = fault(Other, "what the host has stored is not what was sent: nothing was changed")

	errReplaced = fault(Conflict, "it is not the file any more that it was")
	errNoSpace  = fault(NoSpace, "no space left on the device")
	errReadOnly = fault(Permission, "the file system is read-only")
)

func wrongOwner(c Clothes) error {
	return fault(Permission, "the file belongs to user %d and group %d, and this account cannot give a new file to them: nothing was changed", c.UID, c.GID)
}

// Sort returns the code of an error and what it says: of what systems and servers say in many ways, one text.
func Sort(err error) (code, why string) {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Code, strings.TrimSuffix(err.Error(), "\n")
	case errors.Is(err, session.ErrClosed), errors.Is(err, session.ErrUnknownOutcome):
		return Lost, "the connection was lost"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Canceled, "it was stopped"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return NotFound, "there is no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return Permission, "permission denied"
	case errors.Is(err, syscall.EROFS):
		return Permission, errReadOnly.Error()
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return NoSpace, errNoSpace.Error()
	}
	return Other, err.Error()
}

func notDirectory(dir string) error { return fault(NotFound, "%q is not a directory", dir) }

// heardOf is what a host says, fit for a message.
func heardOf(text string) string { return printable.Heard(text, maxHeard) }

// octal is a mode as chmod takes it.
func octal(m fs.FileMode) string { return fmt.Sprintf("%04o", fileplan.Octal(m)) }

// unanswered is an error of a step that was asked for: the host has not said whether it was done.
type unanswered struct{ error }

func (e *unanswered) Unwrap() error { return e.error }

// Unanswered reports whether what was asked of the host may have been done in spite of err.
func Unanswered(err error) bool {
	var u *unanswered
	return errors.As(err, &u)
}

// statusError is a server's refusal, in as many of its words as fit a message.
type statusError struct{ error }

// refused sorts what an sftp server or its library says.
func refused(err error) error {
	if err == nil {
		return nil
	}
	if lost(err) {
		return fmt.Errorf("the connection was lost: %w", session.ErrClosed)
	}
	if status, ok := errors.AsType[*sftp.StatusError](err); ok {
		return &statusError{fmt.Errorf("the host's sftp server says %s", heardOf(strings.TrimPrefix(status.Error(), "sftp: ")))}
	}
	return err
}
