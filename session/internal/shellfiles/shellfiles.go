// Package shellfiles is what packages files and copies have in common where a host has no sftp: how a script gets its words, what ls
// says of a file, and what programs complain of. It has no state.
package shellfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/lacking"
)

// Script is source that has args as "$1" and so on, and the C locale, in which Complaint knows what programs say. The error is of an
// argument that no shell can be given.
func Script(source string, args ...string) (string, error) {
	var b strings.Builder
	b.WriteString("LC_ALL=C; export LC_ALL; set --")
	for _, a := range args {
		word, err := framing.Quote(a)
		if err != nil {
			return "", err
		}
		b.WriteString(" " + word)
	}
	b.WriteString("\n" + source)
	return b.String(), nil
}

// Exit codes of scripts that stand for more than a program that failed.
const (
	ExitCut       = 90 // ErrCut
	ExitOwner     = 91 // ErrOwner
	ExitDirectory = 92 // ErrDirectory
)

// What Complaint finds, besides the errors of package fs.
var (
	ErrCut       = errors.New("not all of the content has arrived")
	ErrOwner     = errors.New("this account cannot give a new file to its owner")
	ErrDirectory = errors.New("it is a directory")
	ErrNoSpace   = errors.New("no space left on the device")
	ErrQuota     = errors.New("the quota is full")
	ErrReadOnly  = errors.New("the file system is read-only")
)

// maxHeard bounds how much of what a host says is repeated, in bytes.
const maxHeard = 200

// Complaint is why a script failed: by its exit code, else by what programs said on standard error, which is in the error if it is
// nothing known.
func Complaint(r session.Result) error {
	text := string(r.Stderr)
	if program := lacking.Program(text, "cat", "chmod", "chown", "head", "ls", "mkdir", "mv", "readlink", "rm", "rmdir", "sync", "tail", "touch", "wc"); program != "" {
		return fmt.Errorf("the host has no %s, which files take where there is no sftp", program)
	}
	if r.ExitCode != nil {
		switch *r.ExitCode {
		case ExitCut:
			return ErrCut
		case ExitOwner:
			return ErrOwner
		case ExitDirectory:
			return ErrDirectory
		}
	}
	for _, known := range []struct {
		says string
		err  error
	}{
		{"No space left", ErrNoSpace}, {"quota exceeded", ErrQuota}, {"Permission denied", fs.ErrPermission}, {"Operation not permitted", fs.ErrPermission},
		{"Read-only file system", ErrReadOnly}, {"o such file", fs.ErrNotExist}, {"nonexistent", fs.ErrNotExist}, {"ot a directory", fs.ErrNotExist},
		{"ile exists", fs.ErrExist}, {"existing file", fs.ErrExist}, {"already exists", fs.ErrExist}, {"cannot create", fs.ErrExist},
	} {
		if strings.Contains(text, known.says) {
			return known.err
		}
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return fmt.Errorf("the host says %q", printable.Heard(text, maxHeard))
}

// Refusing is a writer that remembers why W took no more: what writes to it may have another word for that.
type Refusing struct {
	W   io.Writer
	Err error
}

// Write implements io.Writer.
func (r *Refusing) Write(p []byte) (int, error) {
	n, err := r.W.Write(p)
	if err != nil {
		r.Err = err
	}
	return n, err
}
