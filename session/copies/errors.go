package copies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// because sorts an error: a code of package files, and a text for people.
func because(err error) (code, why string) {
	var e *files.Error
	if errors.As(err, &e) {
		return e.Code, strings.TrimSuffix(strings.Replace(err.Error(), e.Error(), e.Err.Error(), 1), "\n")
	}
	return hostfs.Sort(err)
}

// placed says of an error which path it is about.
func placed(name string, err error) error {
	if errors.Is(err, session.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	code, why := because(err)
	return fault(code, "%s: %s", name, why)
}

// asSession is err as a session takes it from an action.
func asSession(err error) error {
	if err == nil || errors.Is(err, session.ErrUnknownOutcome) || errors.Is(err, session.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	code, why := because(err)
	return &session.Error{Code: code, Err: &worded{why, err}}
}

// worded is an error in other words.
type worded struct {
	why string
	err error
}

func (e *worded) Error() string { return e.why }
func (e *worded) Unwrap() error { return e.err }

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
