package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// meta is what a host says of a name.
type meta struct {
	name     string // within its directory
	mode     fs.FileMode
	size     int64
	uid, gid int       // -1 where unknown
	changed  time.Time // zero where unknown
}

// remote is one way to the files of a host. Paths are absolute. Errors may wrap fs.ErrNotExist, fs.ErrPermission,
// syscall.ENOSPC, session.ErrClosed and *files.Error. Its methods may be called concurrently, up to width at a time.
type remote interface {
	width() int
	home(ctx context.Context) (string, error)
	stat(ctx context.Context, name string) (meta, error) // follows links
	lstat(ctx context.Context, name string) (meta, error)
	real(ctx context.Context, name string) (string, error) // of what is there
	list(ctx context.Context, dir string) ([]meta, error)
	read(ctx context.Context, name string, w io.Writer) error
	readSmall(ctx context.Context, name string, size int64) ([]byte, error) // a file of a known size, as far as that
	mkdir(ctx context.Context, name string) error                           // for its owner alone
	// create makes a new file, or continues one where in has an offset, whole, with the permission bits of in: others see nothing of it before that.
	create(ctx context.Context, temp string, in incoming) error
	dress(ctx context.Context, temp string, mode fs.FileMode, uid, gid int) error // a negative owner is kept
	stamp(ctx context.Context, name string, when time.Time) error                 // says when it was changed last
	rename(ctx context.Context, temp, name string) error
	remove(ctx context.Context, name string, dir bool) error    // what is not there counts as removed
	sync(ctx context.Context, dir string, names []string) error // puts the files, which are below dir, on disk
	close() error
}

// incoming is the content of a new file.
type incoming struct {
	data   []byte    // all of it, where it is small
	r      io.Reader // else
	offset int64     // how much of the file is there already; r is the rest
	size   int64
	mode   fs.FileMode // permission bits
	fsync  bool
	verify bool
}

// subsystems is what a connection has that offers sftp. The error wraps errors.ErrUnsupported where the server does not.
type subsystems = interface {
	Subsystem(ctx context.Context, name string) (io.ReadWriteCloser, error)
}

func openRemote(ctx context.Context, t session.Transport, h hosts.Host) (remote, error) {
	if _, held := t.(seam.Held); held { // this process and the server of sftp are not
		return openShell(t, h)
	}
	if h.Transport == hosts.Local {
		return local{}, nil
	}
	if s, ok := t.(subsystems); ok {
		r, err := openSFTP(ctx, t, h, s)
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return r, err
		}
	}
	return openShell(t, h)
}

// absolute makes a path of one that may begin in the home directory.
func absolute(ctx context.Context, r remote, name string) (string, error) {
	if strings.HasPrefix(name, "/") {
		return clean(name), nil
	}
	home, err := r.home(ctx)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(home, "/") || len(home) > maxPath {
		return "", &files.Error{Code: files.CodeError, Err: errors.New("the host reports an invalid home directory")}
	}
	return clean(path.Join(home, relative(name))), nil
}

// clean takes away what a path does not need, but for "..", which counts after links.
func clean(name string) string {
	parts := strings.Split(name, "/")
	var keep []string
	for _, p := range parts {
		if p != "" && p != "." {
			keep = append(keep, p)
		}
	}
	return "/" + strings.Join(keep, "/")
}

func fault(code, format string, args ...any) error {
	return &files.Error{Code: code, Err: fmt.Errorf(format, args...)}
}
