package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Codes of errors, for programs.
const (
	CodeNotFound   = "not_found"    // there is no such file, or a directory on the way is missing
	CodePermission = "permission"   // the account may not
	CodeDirectory  = "directory"    // it is a directory
	CodeSpecial    = "special"      // it is a device, a FIFO or a socket
	CodeConflict   = "conflict"     // the file is not what If, or somebody's approval, rests on
	CodeNoMatch    = "no_match"     // the text to replace is not there
	CodeManyMatch  = "many_matches" // it is there more than once
	CodeTooLarge   = "too_large"    // the file has more bytes than may be read
	CodeFull       = "full"         // this process has too many large files in memory
	CodeNoSpace    = "no_space"     // the disk or the quota is full
	CodeInvalid    = "invalid"      // the request makes no sense
	CodeLost       = "lost"         // the connection ended
	CodeCanceled   = "canceled"
	CodeError      = "error" // anything else
)

// Error says why a file was not read or written. Its text holds no content.
type Error struct {
	Op      string // "look at", "read", "write", "edit", "list"
	Path    string
	Code    string
	SHA256  string // for conflict: the actual hash, where the content was compared; "" for a file that is not there
	Matches int    // for many_matches
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("files: cannot %s %q: %v", e.Op, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fault is an *Error that has no place yet; see at.
func fault(code, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// at says where err happened, and sorts what no backend has sorted.
func at(ctx context.Context, op, path string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: CodeError, Err: err}
		switch {
		case ctx.Err() != nil && !errors.Is(err, session.ErrUnknownOutcome):
			e.Code, e.Err = CodeCanceled, fmt.Errorf("it was stopped: %w", ctxerr.Of(ctx))
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			e.Code, e.Err = CodeNotFound, errors.New("there is no such file or directory")
		case errors.Is(err, fs.ErrPermission):
			e.Code, e.Err = CodePermission, errors.New("permission denied: the account may not do that there")
		case errors.Is(err, syscall.EROFS):
			e.Code, e.Err = CodePermission, errReadOnly
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			e.Code, e.Err = CodeNoSpace, errNoSpace
		case errors.Is(err, syscall.ENAMETOOLONG), longName(path) && !errors.Is(err, session.ErrClosed) && !errors.Is(err, session.ErrUnknownOutcome):
			e.Code, e.Err = CodeInvalid, fmt.Errorf("a name in the path is too long: most hosts take %d bytes", maxBase)
		case errors.Is(err, session.ErrClosed), errors.Is(err, session.ErrUnknownOutcome):
			e.Code = CodeLost
		}
	}
	if e.Op == "" {
		n := *e
		n.Op, n.Path = op, path
		e = &n
	}
	return e
}

// maxBase is how long a name may be on most file systems. Servers do not say when that is why they fail.
const maxBase = 255

func longName(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > maxBase {
			return true
		}
	}
	return false
}

var (
	errNoSpace  = errors.New("no space left on the device: nothing was changed")
	errReadOnly = errors.New("the file system is read-only")
)

// maxHeard is how much of what a host says gets into an error.
const maxHeard = 200

// heard is what a host says, fit for a message.
func heard(text string) string { return printable.Heard(text, maxHeard) }
