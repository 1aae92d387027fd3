package hostfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Meta is what a host says of a name.
type Meta struct {
	Name     string      // within its directory
	Mode     fs.FileMode // ModeIrregular or another type for what is no file, directory or link
	Size     int64
	UID, GID int       // -1 where unknown
	Changed  time.Time // of the content; zero where unknown
	Stamp    string    // of Lstat: differs after most changes
}

// FS is one way to the files of a host. Paths are absolute. Errors may be an *Error, or wrap fs.ErrNotExist, fs.ErrPermission, other
// errors that Sort knows, and session.ErrClosed. Its methods may be called concurrently, up to Width at a time; over sftp, which knows
// no contexts, the end of one ends no call: Close does.
type FS interface {
	Width() int
	Home(ctx context.Context) (string, error)
	Stat(ctx context.Context, name string) (Meta, error) // follows links
	Lstat(ctx context.Context, name string) (Meta, error)
	Readlink(ctx context.Context, name string) (string, error)
	Real(ctx context.Context, name string) (string, error)                  // of what is there, without links
	RealDir(ctx context.Context, dir string) (string, error)                // of a directory
	List(ctx context.Context, dir string, take func(Meta) error) error      // an error of take ends it, and is returned
	Read(ctx context.Context, name string, part Part, w io.Writer) error    // an error of w ends it, and is returned
	ReadSmall(ctx context.Context, name string, size int64) ([]byte, error) // a file of at most SmallFile bytes, as far as that
	Mkdir(ctx context.Context, name string) error                           // for its owner alone
	Create(ctx context.Context, temp string, c Content) error               // a new file, or the rest of one
	Dress(ctx context.Context, temp string, c Clothes) error                // an owner that it has is no failure
	Stamp(ctx context.Context, name string, when time.Time) error           // says when it was changed last
	Rename(ctx context.Context, temp, name string) error                    // over what is there; see Unanswered
	Remove(ctx context.Context, name string, dir bool) error                // what is not there counts as removed
	Sync(ctx context.Context, dir string, names []string) error             // puts the files, which are below dir, on disk
	Close() error
}

const (
	// SmallFile is how large a file may be that is read at once, in bytes.
	SmallFile = 256 << 10
	// MaxNames is how many names a directory may have.
	MaxNames = 1 << 20

	maxHeard = 200 // bytes of what a host says, in an error
)

// Part is what is read of a file. See Whole.
type Part struct {
	Offset, Limit int64 // a negative limit is none
	// Size is what the file had before it is read: where it has become shorter since, what was read of it is neither the old file nor
	// the new one, and Read fails. 0 is unknown, or nothing, as of files that the kernel makes up.
	Size int64
}

// Whole is all of a file, which has so many bytes, or 0.
func Whole(size int64) Part { return Part{Limit: -1, Size: size} }

func (p Part) whole() bool { return p.Offset == 0 && p.Limit < 0 }

// Content is what a new file gets. Others see nothing of it before it has its mode.
type Content struct {
	Data   []byte    // all of it, where it is small
	R      io.Reader // else
	Offset int64     // how much of the file is there already; R is the rest
	Size   int64
	Mode   fs.FileMode // permission bits
	Fsync  bool
	Verify bool // it is read back, and compared with Data, or with what R, which is Summed then, has given
}

// Summed is a Content.R that knows the hash of all content once it has been read.
type Summed interface{ Sum() []byte }

// sum is the hash of the content, which has been read.
func (c *Content) sum() []byte {
	if s, ok := c.R.(Summed); ok {
		return s.Sum()
	}
	one := sha256.Sum256(c.Data)
	return one[:]
}

// reader is all of the content.
func (c *Content) reader() io.Reader {
	if c.R != nil {
		return c.R
	}
	return bytes.NewReader(c.Data)
}

// flags are how a file is opened that is written.
func (c *Content) flags() int {
	if c.Offset > 0 {
		return 0
	}
	return os.O_CREATE | os.O_EXCL
}

// Clothes are the mode and the owner of a file: a negative UID keeps that, and the group.
type Clothes struct {
	Mode     fs.FileMode
	UID, GID int
}

// Few opens an FS for a caller who reads one file at a time, of many hosts at once: it takes less memory.
const Few = 16

// Open returns the best way to the files of h, which t leads to. Where the session of t is held in a place of its own everything is
// done by programs that it starts. ctx bounds that. requests are how many parts of one file are asked for at a time over sftp: Few, or 0
// for many. The FS does not own t.
func Open(ctx context.Context, t session.Transport, h hosts.Host, requests int) (FS, error) {
	if _, held := t.(seam.Held); held { // this process and the server of sftp are not
		return OpenShell(t, h)
	}
	if h.Transport == hosts.Local {
		return Local{}, nil
	}
	if s, ok := t.(Subsystems); ok {
		b, err := openSFTP(ctx, t, h, s, requests)
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return b, err
		}
	}
	return OpenShell(t, h)
}

// Subsystems is what a connection has that offers sftp. The error wraps errors.ErrUnsupported where the server does not.
type Subsystems = interface {
	Subsystem(ctx context.Context, name string) (io.ReadWriteCloser, error)
}

// LeavesHoles reports whether the end of a file whose writing was interrupted may have holes: in its last MaxHole bytes.
func LeavesHoles(f FS) bool {
	_, sftp := f.(*SFTP)
	return sftp
}

// Each calls f for 0 to n-1, some at a time.
func Each(width, n int, f func(int)) {
	slots, over := make(chan struct{}, width), make(chan struct{})
	for i := range n {
		slots <- struct{}{}
		go func() {
			f(i)
			<-slots
			over <- struct{}{}
		}()
		select {
		case <-over:
			n--
		default:
		}
	}
	for range n {
		<-over
	}
}

// CopyWhile copies as long as ctx lasts.
func CopyWhile(ctx context.Context, w io.Writer, r io.Reader) error {
	b := blocks.Get().(*[]byte)
	defer blocks.Put(b)
	buf := *b
	for {
		if ctx.Err() != nil {
			return ctxerr.Of(ctx)
		}
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
