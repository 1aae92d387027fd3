package hostfs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/lacking"
)

// scriptOf is source that has args as "$1" and so on, and the C locale, in which complaint knows what programs say. The error is of an
// argument that no shell can be given.
func scriptOf(source string, args ...string) (string, error) {
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
	exitCut       = 90 // errCut
	exitOwner     = 91 // errOwner
	exitDirectory = 92 // errDirectory
)

// What complaint finds, besides the errors of package fs.
var (
	errCut       = errors.New("not all of the content has arrived")
	errOwner     = fault(Permission, "this account cannot give a new file to its owner: nothing was changed")
	errDirectory = fault(Directory, "it is a directory")
	errQuota     = fault(NoSpace, "the quota is full")
)

// complaint is why a script failed: by its exit code, else by what programs said on standard error, which is in the error if it is
// nothing known.
func complaint(r session.Result) error {
	text := string(r.Stderr)
	if program := lacking.Program(text, "cat", "chmod", "chown", "head", "ls", "mkdir", "mv", "readlink", "rm", "rmdir", "sync", "tail", "touch", "wc"); program != "" {
		return fmt.Errorf("the host has no %s, which files take where there is no sftp", program)
	}
	if r.ExitCode != nil {
		switch *r.ExitCode {
		case exitCut:
			return errCut
		case exitOwner:
			return errOwner
		case exitDirectory:
			return errDirectory
		}
	}
	for _, known := range []struct {
		says string
		err  error
	}{
		{"No space left", errNoSpace}, {"quota exceeded", errQuota}, {"Permission denied", fs.ErrPermission}, {"Operation not permitted", fs.ErrPermission},
		{"Read-only file system", errReadOnly}, {"o such file", fs.ErrNotExist}, {"nonexistent", fs.ErrNotExist}, {"ot a directory", fs.ErrNotExist},
		{"ile exists", fs.ErrExist}, {"existing file", fs.ErrExist}, {"already exists", fs.ErrExist}, {"cannot create", fs.ErrExist},
	} {
		if strings.Contains(text, known.says) {
			return known.err
		}
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return fmt.Errorf("the host says %q", heardOf(text))
}
