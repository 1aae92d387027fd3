package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
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
		var why string
		e.Code, why = hostfs.Sort(err)
		switch {
		case ctx.Err() != nil && !errors.Is(err, session.ErrUnknownOutcome):
			e.Code, e.Err = CodeCanceled, fmt.Errorf("it was stopped: %w", ctxerr.Of(ctx))
		case e.Code == CodeNoSpace:
			e.Err = errors.New(why + ": nothing was changed")
		case e.Code == CodeNotFound, e.Code == CodePermission:
			e.Err = errors.New(why)
		case errors.Is(err, syscall.ENAMETOOLONG), e.Code == CodeError && longName(path):
			e.Code, e.Err = CodeInvalid, fmt.Errorf("a name in the path is too long: most hosts take %d bytes", maxBase)
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
