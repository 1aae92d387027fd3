package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

const (
	// MaxEdit is how many bytes a file may have that is edited.
	MaxEdit = 16 << 20
	// NewMode is the mode of a new file where none is given.
	NewMode fs.FileMode = 0o644

	cleanup = 10 * time.Second // for taking the new file away again
)

// Host is the files of a host.
type Host struct {
	way   *way
	where []string // see whereOf
}

// Open returns the files of h, which t leads to. Where the session of t is held in a place of its own everything is done by programs that it starts. ctx
// bounds that. The Host does not own t. Errors wrap session.ErrClosed and session.ErrFull as those of t do.
func Open(ctx context.Context, t session.Transport, h hosts.Host) (*Host, error) {
	w, err := openWay(ctx, t, h)
	if err != nil {
		return nil, err
	}
	return &Host{w, whereOf(t, h)}, nil
}

// Close ends what Open began.
func (f *Host) Close() error { return f.way.close() }

// Home is the account's home directory, or where sftp starts.
func (f *Host) Home(ctx context.Context) (string, error) {
	var dir string
	err := f.way.do(ctx, func(fs hostfs.FS) (err error) {
		dir, err = fs.Home(ctx)
		return err
	})
	if err == nil && (!strings.HasPrefix(dir, "/") || len(dir) > maxPath) {
		err = errPath
	}
	return dir, at(ctx, "look at", "~", err)
}

// Look tells where a path leads and what is there, which may be nothing.
func (f *Host) Look(ctx context.Context, path string) (Info, error) {
	i, err := f.resolve(ctx, path)
	return i, at(ctx, "look at", path, err)
}

// Read writes the bytes of a file to w: limit of them from offset on, or all that follow if limit is negative. Of a file
// that is read whole the Info has the hash. An offset past the end gives nothing. Of more than most bytes nothing is given; 0 means
// no limit.
func (f *Host) Read(ctx context.Context, path string, offset, limit, most int64, w io.Writer) (Info, error) {
	i, err := f.read(ctx, path, offset, limit, most, w)
	return i, at(ctx, "read", path, err)
}

func (f *Host) read(ctx context.Context, path string, offset, limit, most int64, w io.Writer) (Info, error) {
	if offset < 0 {
		return Info{Path: path}, fault(CodeInvalid, "the offset must not be negative")
	}
	i, err := f.resolve(ctx, path)
	if err != nil {
		return i, err
	}
	return f.readAt(ctx, i, offset, limit, most, w)
}

// readAt is read of what a path has just been found to lead to.
func (f *Host) readAt(ctx context.Context, i Info, offset, limit, most int64, w io.Writer) (Info, error) {
	if err := i.mustBeFile(); err != nil {
		return i, err
	}
	if most > 0 && i.Size > most {
		return i, tooLarge(i.Size, most)
	}
	sum := &counter{w: w, h: sha256.New(), most: most}
	if err := f.way.read(ctx, i, offset, limit, sum); err != nil {
		return i, err
	}
	if offset == 0 && (limit < 0 || sum.n < limit) {
		i.Size, i.SHA256 = sum.n, hex.EncodeToString(sum.h.Sum(nil))
	}
	return i, nil
}

func tooLarge(size, most int64) error {
	return fault(CodeTooLarge, "it has %d bytes, and %d are the limit: read parts of it with a command", size, most)
}

// counter passes on and hashes.
type counter struct {
	w       io.Writer
	h       hash.Hash
	n, most int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	if c.most > 0 && c.n > c.most {
		return 0, tooLarge(c.n, c.most)
	}
	c.h.Write(p)
	n, err := c.w.Write(p)
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Expect is what a file must be when it is written.
type Expect struct {
	SHA256 string // the hash of the old content, as Info has it; "" means any
	Target string // where the path must lead; "" means anywhere
	New    bool   // nothing may be there yet
	Old    bool   // something must be there
}

// WriteOptions say how a file is written. The zero value is fine.
type WriteOptions struct {
	Mode *fs.FileMode // nil keeps that of the old file, NewMode for a new one
	If   Expect
}

// check refuses what no file could be written with.
func (o WriteOptions) check() error {
	if m := o.Mode; m != nil && *m&^(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
		return fault(CodeInvalid, "WriteOptions.Mode is %v: it takes permission bits and fs.ModeSetuid, fs.ModeSetgid and fs.ModeSticky", *m)
	}
	if sum, err := hex.DecodeString(o.If.SHA256); o.If.SHA256 != "" && (err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != o.If.SHA256) {
		return fault(CodeInvalid, "Expect.SHA256 is 64 hexadecimal digits, in small letters")
	}
	return nil
}

// Write gives a file new content, and makes it if it is not there. The Info is that of the new file.
func (f *Host) Write(ctx context.Context, path string, content []byte, o WriteOptions) (Info, error) {
	if err := o.check(); err != nil {
		return Info{Path: path}, at(ctx, "write", path, err)
	}
	i, err := f.change(ctx, path, func(i Info) (Info, error) {
		err := o.If.check(i)
		if err == nil && i.Kind != None {
			err = i.mustBeFile()
		}
		if err != nil {
			return i, err
		}
		return f.replace(ctx, i, content, o)
	})
	return i, at(ctx, "write", path, err)
}

// Edit replaces old, which must be in the file exactly once, by new. Bytes are compared as they are.
func (f *Host) Edit(ctx context.Context, path string, old, new []byte, o WriteOptions) (Info, error) {
	if len(old) == 0 {
		return Info{Path: path}, at(ctx, "edit", path, fault(CodeInvalid, "the text to replace is empty"))
	}
	if err := o.check(); err != nil {
		return Info{Path: path}, at(ctx, "edit", path, err)
	}
	i, err := f.change(ctx, path, func(i Info) (Info, error) { return f.edit(ctx, i, old, new, o) })
	return i, at(ctx, "edit", path, err)
}

func (f *Host) edit(ctx context.Context, i Info, old, new []byte, o WriteOptions) (Info, error) {
	var c content
	defer c.drop()
	if err := c.expect(ctx, i.Size, len(new)); err != nil {
		return i, err
	}
	i, err := f.readAt(ctx, i, 0, -1, MaxEdit, &c)
	if err == nil {
		err = o.If.check(i)
	}
	if err != nil {
		return i, err
	}
	text := c.text.Bytes()
	if err := once(text, old); err != nil {
		return i, err
	}
	if n := len(text) - len(old) + len(new); n > cap(text) { // it was not as large before it was read
		if err := c.take(cap(text) + n); err != nil {
			return i, err
		}
	}
	o.If.SHA256, o.If.Old = i.SHA256, true // others on the host may change it meanwhile
	at := bytes.Index(text, old)
	return f.replace(ctx, i, slices.Replace(text, at, at+len(old), new...), o) // in place: a copy is as large as the file
}

// change does one change of a file while no other one of this process is under way there.
func (f *Host) change(ctx context.Context, name string, do func(Info) (Info, error)) (Info, error) {
	i, err := func() (Info, error) {
		i, release, err := f.turnOf(ctx, name)
		if err != nil {
			return i, err
		}
		defer release()
		return do(i)
	}()
	if err == nil {
		f.tidy(ctx, path.Dir(i.Target), i.Target)
	}
	return i, err
}

// Check reports what Write, or Edit where old is not empty, would fail for as the file is now. Nothing is changed.
func (f *Host) Check(ctx context.Context, path string, old []byte, x Expect) (Info, error) {
	i, err := f.check(ctx, path, old, x)
	return i, at(ctx, "check", path, err)
}

func (f *Host) check(ctx context.Context, path string, old []byte, x Expect) (Info, error) {
	i, err := f.resolve(ctx, path)
	if err != nil {
		return i, err
	}
	var c content
	defer c.drop()
	var to io.Writer = io.Discard // for its hash
	if len(old) > 0 {
		if err := c.expect(ctx, i.Size, 0); err != nil {
			return i, err
		}
		to = &c
	}
	if i, err = f.readAt(ctx, i, 0, -1, MaxEdit, to); err != nil {
		return i, err
	}
	if err := x.check(i); err != nil || len(old) == 0 {
		return i, err
	}
	return i, once(c.text.Bytes(), old)
}

// once refuses to replace what is not in text exactly once.
func once(text, old []byte) error {
	switch n := count(text, old); {
	case n == 0:
		return fault(CodeNoMatch, "the text to replace is not there (0 matches), so nothing was changed")
	case n > 1:
		return &Error{Code: CodeManyMatch, Matches: n,
			Err: fmt.Errorf("the text to replace is there %d times, so nothing was changed: include more of the text around it", n)}
	}
	return nil
}

// count counts occurrences, also those that overlap.
func count(text, old []byte) (n int) {
	for {
		i := bytes.Index(text, old)
		if i < 0 {
			return n
		}
		n++
		text = text[i+1:]
	}
}

// check compares what is there with what is expected; the hash only where i has one.
func (x Expect) check(i Info) error {
	switch {
	case x.Target != "" && x.Target != i.Target:
		return fault(CodeConflict, "it leads to %q now, and not to %q any more", i.Target, x.Target)
	case x.New && i.Kind != None:
		return fault(CodeConflict, "something is there now")
	case (x.Old || x.SHA256 != "") && i.Kind == None:
		return fault(CodeConflict, "nothing is there")
	case x.SHA256 != "" && i.SHA256 != "" && x.SHA256 != i.SHA256:
		return &Error{Code: CodeConflict, SHA256: i.SHA256, Err: fmt.Errorf("its content is not the expected one: its sha256 is %s, not %s", i.SHA256, x.SHA256)}
	}
	return nil
}

func (i Info) mustBeFile() error {
	switch i.Kind {
	case Regular:
		return nil
	case None:
		return fault(CodeNotFound, "there is no such file")
	case Directory:
		return fault(CodeDirectory, "it is a directory")
	}
	return fault(CodeSpecial, "it is a device, a FIFO or a socket, and not an ordinary file")
}
