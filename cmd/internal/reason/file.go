package reason

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// File returns err, which came of the file or directory name of this machine, in words that name it as the user did,
// without the system's names of calls. It unwraps to err.
func File(name string, err error) error {
	if err == nil {
		return nil
	}
	return &fileError{name: printable.Line(name), err: err}
}

// NewFile is File for a file or directory that is to be made: where a part of its path is not there, that is what it names.
func NewFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return &fileError{name: printable.Line(name), dir: printable.Line(filepath.Dir(name)), err: err}
}

type fileError struct {
	name, dir string // dir is "" where the file should have been there
	err       error
}

func (e *fileError) Unwrap() error { return e.err }

func (e *fileError) Error() string {
	switch {
	case e.dir != "" && errors.Is(e.err, fs.ErrNotExist):
		return "there is no directory " + e.dir
	case e.dir != "" && errors.Is(e.err, fs.ErrExist):
		return e.name + " exists: remove it first, or name another file"
	case errors.Is(e.err, fs.ErrNotExist):
		return "there is no file " + e.name
	case errors.Is(e.err, syscall.EISDIR):
		return e.name + " is a directory, not a file"
	case errors.Is(e.err, syscall.ENOTDIR):
		return e.name + ": a part of this path is a file, not a directory"
	}
	return fmt.Sprintf("%s: %v", e.name, bare(e.err))
}

// bare is the system's reason, without the call and the path.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	if s, ok := errors.AsType[*os.SyscallError](err); ok {
		return s.Err
	}
	return err
}
