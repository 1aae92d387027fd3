package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// fullCauses are how systems say that no more can be written.
var fullCauses = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

var (
	// ErrUnavailable is wrapped by every error after which an event may not be on the record. Nothing may be sent.
	ErrUnavailable = errors.New("audit: unavailable")
	// ErrDamaged is wrapped, beside ErrUnavailable, when the chain itself is wrong: Verify says where.
	ErrDamaged = errors.New("audit: chain is damaged")
	// ErrClosed is wrapped when the sink has been closed.
	ErrClosed = errors.New("audit: closed")
	// ErrNotFound is returned by Show for an id that is not on the record.
	ErrNotFound = errors.New("audit: no such id")
	// ErrAmbiguous is wrapped by Show where several ids begin as the one that was asked for.
	ErrAmbiguous = errors.New("audit: several ids")
)

// Error is a failure to record. It always wraps ErrUnavailable.
type Error struct {
	Op   string // what was tried: "write", "open", "use" …
	Path string // the file or directory concerned
	Err  error  // why
	Do   string // what to do next
}

// Error gives the four parts as one line.
func (e *Error) Error() string {
	s := "audit: cannot " + e.Op + " " + e.Path + ": " + reason(e.Err)
	if e.Do != "" {
		s += "; " + e.Do
	}
	return s
}

// Unwrap gives ErrUnavailable and the cause.
func (e *Error) Unwrap() []error { return []error{ErrUnavailable, e.Err} }

// damage is a cause that is ErrDamaged with words of its own.
type damage string

func (d damage) Error() string        { return string(d) }
func (d damage) Is(target error) bool { return target == ErrDamaged }

const (
	doAccess  = "make it readable and writable for this account only (directory 0700, files 0600)"
	doMissing = "check the name of the directory; `fairlead audit verify` says what is missing in it"
	doSpace   = "free space on that disk or raise the limit"
	doDamage  = "run `fairlead audit verify` to see where, keep the directory as evidence, and move it aside to start a new chain"
	doGone    = "put the audit directory back, or " + doRestart + " to begin a new chain; nothing is sent until then"
	doDisk    = "check the disk, then " + doRestart + "; nothing is sent until then"
	doOther   = "run `fairlead audit verify`: where the log is whole and no older copy, " + doRestart + " to go on with it; else keep the directory as evidence, move it aside, and then do so"
	doRestart = "restart this program (the keeper: `fairlead serve --stop`)"
	doAway    = "see which program put it there and move it away"
	doRemount = "it is on a read-only file system: mount that for writing, or put the audit log elsewhere"
	doNotDir  = "a file stands where a directory must be: move it away"
	doWait    = "see which process holds it (a stopped one holds on)"
)

func unavailable(op, path string, err error, do string) error {
	switch {
	case err == notRegular:
		do = doAway
	case op == "read" && do == doAccess && errors.Is(err, fs.ErrNotExist):
		do = doMissing
	case do == doAccess || do == doSpace:
		do = byCause(err, do)
	}
	return &Error{Op: op, Path: path, Err: err, Do: do}
}

// byCause is what helps against err, or do: permissions free no space, and space makes nothing writable.
func byCause(err error, do string) string {
	for _, c := range []struct {
		do     string
		causes []error
	}{
		{doSpace, fullCauses}, {doRemount, []error{syscall.EROFS}}, {doNotDir, []error{syscall.ENOTDIR}}, {doDisk, []error{syscall.EIO}},
		{doAccess, []error{fs.ErrPermission}},
	} {
		for _, cause := range c.causes {
			if errors.Is(err, cause) {
				return c.do
			}
		}
	}
	return do
}

func damaged(path, why string) error {
	return &Error{Op: "use", Path: path, Err: damage(why), Do: doDamage}
}

// replaced is damaged for a file that another took the place of. That may be a whole chain, such as a copy that was put back:
// another process goes on with that, and this one never does.
func replaced(path string) error {
	return &Error{Op: "use", Path: path, Err: damage("another file took its place"), Do: doOther}
}

// reason is the innermost cause, since Error names operation and path itself.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	if se, ok := errors.AsType[*os.SyscallError](err); ok {
		return se.Err.Error()
	}
	return err.Error()
}
