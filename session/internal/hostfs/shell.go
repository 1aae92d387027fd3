package hostfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Shell is a host without sftp. Its session is behind no gate: what is done through it has passed one, and it runs the few scripts of
// this package in a shell that nobody else has touched.
type Shell struct {
	mu sync.Mutex // one script at a time
	s  *session.Session

	tar    sync.Once // of hasTar
	hasTar bool      // one that says what goes wrong
}

// OpenShell starts a shell for files on h, which t leads to.
func OpenShell(t session.Transport, h hosts.Host) (*Shell, error) {
	plain := hosts.Host{Name: h.Name, Transport: h.Transport, Shell: "sh"}
	s, err := session.Open(t, plain, session.Config{Principal: "fairlead/files", Policy: policy.AllowAll, Audit: audit.Discard{}, CleanEnv: true})
	if err != nil {
		return nil, err
	}
	return &Shell{s: s}, nil
}

// Width implements FS.
func (b *Shell) Width() int { return 1 }

// Close implements FS.
func (b *Shell) Close() error { return b.s.Close() }

// Run runs a script with "$1" and so on, and returns what it prints, or gives it to out.
func (b *Shell) Run(ctx context.Context, script string, in io.Reader, out io.Writer, args ...string) (string, error) {
	return b.runWithin(ctx, ProgramWait, script, in, out, args...)
}

// runWithin is Run for a script that may say nothing for so long.
func (b *Shell) runWithin(ctx context.Context, wait time.Duration, script string, in io.Reader, out io.Writer, args ...string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, err := scriptOf(script, args...)
	if err != nil {
		return "", fault(Invalid, "the path: %w", err)
	}
	said := &heard{left: maxOutput}
	limited, idle, stop := withIdle(ctx, wait, fault(Other, "the host did nothing for %v, and what it did was ended: look at its disks, and try again", wait))
	defer stop()
	said.full = func() { idle.cancel(fault(TooLarge, "the host prints more than %d bytes", maxOutput)) }
	if out == nil {
		out = said
	}
	cmd := session.Command{Script: text, Stdout: idleWriter{out, idle}, Keep: 16 << 10}
	if in != nil {
		cmd.Stdin = idleReader{in, idle}
	}
	r, err := b.s.Run(limited, cmd)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctxerr.Of(ctx)
	case err != nil && limited.Err() != nil:
		return "", context.Cause(limited)
	case err != nil:
		return "", err
	case r.Status == session.StatusOK:
		return said.String(), nil
	}
	return "", complaint(r)
}

const maxOutput = 8 << 20

// Home implements FS.
func (b *Shell) Home(ctx context.Context) (string, error) {
	dir, err := b.Run(ctx, `(cd -P && pwd -P)`, nil, nil)
	return strings.TrimSuffix(dir, "\n"), err
}

// Stat implements FS.
func (b *Shell) Stat(ctx context.Context, name string) (Meta, error) {
	return b.ls(ctx, `ls -ldnL -- "$1"`, name)
}

// Lstat implements FS.
func (b *Shell) Lstat(ctx context.Context, name string) (Meta, error) {
	return b.ls(ctx, `ls -ldn -- "$1"`, name)
}

func (b *Shell) ls(ctx context.Context, script, name string) (Meta, error) {
	line, err := b.Run(ctx, script, nil, nil, name)
	if err != nil {
		return Meta{}, err
	}
	m, err := parseLs(line)
	m.Name = name[strings.LastIndexByte(name, '/')+1:]
	return m, err
}

// Readlink implements FS.
func (b *Shell) Readlink(ctx context.Context, name string) (string, error) {
	to, err := b.Run(ctx, `readlink -- "$1"`, nil, nil, name)
	return strings.TrimSuffix(to, "\n"), err
}

// Real implements FS.
func (b *Shell) Real(ctx context.Context, name string) (string, error) {
	to, err := b.Run(ctx, realText(), nil, nil, name)
	return strings.TrimSuffix(to, "\n"), err
}

// RealDir implements FS. It asks ls first: not every shell's cd says why it fails.
func (b *Shell) RealDir(ctx context.Context, dir string) (string, error) {
	real, err := b.Run(ctx, `ls -d -- "$1/." >/dev/null || exit; (cd -P -- "$1" && pwd -P)`, nil, nil, dir)
	return strings.TrimSuffix(real, "\n"), err
}

// List implements FS: the shell names what is there, and stat or ls say what it is.
func (b *Shell) List(ctx context.Context, dir string, take func(Meta) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &listing{failed: cancel, take: take}
	_, err := b.Run(ctx, listText(), nil, g, dir)
	switch {
	case g.err != nil:
		return g.err
	case err == nil:
		return g.end()
	}
	return err
}

// Read implements FS.
func (b *Shell) Read(ctx context.Context, name string, part Part, w io.Writer) error {
	script := `cat <"$1"`
	if part.Offset > 0 {
		script = `tail -c "+$2" <"$1"`
	}
	if part.Limit >= 0 {
		script += " | head -c " + strconv.FormatInt(part.Limit, 10)
		script = `[ -r "$1" ] || cat <"$1" || exit; ` + script // a pipe hides that
	}
	out := &Refusing{W: w}
	_, err := b.Run(ctx, script, nil, out, name, strconv.FormatInt(part.Offset+1, 10))
	if out.Err != nil {
		return out.Err
	}
	return err
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

// ReadSmall implements FS.
func (b *Shell) ReadSmall(ctx context.Context, name string, _ int64) ([]byte, error) {
	all := &capped{}
	err := b.Read(ctx, name, Whole(0), all)
	return all.Bytes(), err
}

// Mkdir implements FS.
func (b *Shell) Mkdir(ctx context.Context, name string) error {
	_, err := b.Run(ctx, `[ ! -e "$1" ] || { echo File exists >&2; exit 1; }; (umask 077; mkdir -- "$1")`, nil, nil, name)
	return err
}

// Create implements FS.
func (b *Shell) Create(ctx context.Context, temp string, c Content) error {
	n, content, more, fsync, wait := int64(len(c.Data)), &failingReader{r: c.reader()}, "", "", ProgramWait
	if c.R != nil {
		n = c.Size
	}
	if c.Offset > 0 {
		more = "y"
	}
	if c.Fsync {
		fsync, wait = "y", SyncWait
	}
	_, err := b.runWithin(ctx, wait, createText(), content, nil, temp, strconv.FormatInt(n, 10), octal(c.Mode), more, fsync)
	if content.err != nil {
		return content.err
	}
	if err == nil && c.Verify {
		err = b.verify(ctx, temp, c)
	}
	return err
}

// verify reads a file back.
func (b *Shell) verify(ctx context.Context, name string, c Content) error {
	again := sha256.New()
	if err := b.Read(ctx, name, Whole(0), again); err != nil {
		return err
	}
	if !bytes.Equal(again.Sum(nil), c.sum()) {
		return ErrStored
	}
	return nil
}

// failingReader remembers why it could not be read to its end.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// Dress implements FS.
func (b *Shell) Dress(ctx context.Context, temp string, c Clothes) error {
	err := b.DressAll(ctx, []string{temp}, c)
	if errors.Is(err, errOwner) {
		if now, serr := b.Lstat(ctx, temp); serr == nil && now.UID == c.UID && now.GID == c.GID {
			return b.DressAll(ctx, []string{temp}, Clothes{c.Mode, -1, -1})
		}
	}
	return err
}

// Stamp implements FS. The time is in whole seconds. Old versions of busybox know no -m.
func (b *Shell) Stamp(ctx context.Context, name string, when time.Time) error {
	_, err := b.Run(ctx, `export TZ=UTC0; touch -c -m -t "$2" -- "$1" 2>/dev/null || touch -c -t "$2" -- "$1"`, nil, nil, name, when.UTC().Format("200601021504.05"))
	return err
}

// Rename implements FS.
func (b *Shell) Rename(ctx context.Context, temp, name string) error {
	_, err := b.RenameAll(ctx, []Move{{temp, name}})
	var e *session.Error
	if err != nil && (ctx.Err() != nil || errors.As(err, &e) && e.Sent) {
		return &unanswered{err}
	}
	return err
}

// Remove implements FS.
func (b *Shell) Remove(ctx context.Context, name string, dir bool) error {
	script := `rm -f -- "$1"`
	if dir {
		script = `[ ! -e "$1" ] || rmdir -- "$1"`
	}
	_, err := b.Run(ctx, script, nil, nil, name)
	return err
}

// Sync implements FS.
func (b *Shell) Sync(ctx context.Context, dir string, _ []string) error {
	_, err := b.runWithin(ctx, SyncWait, `sync -f "$1" 2>/dev/null || sync`, nil, nil, dir)
	return err
}

// Times implements Timer.
func (b *Shell) Times(ctx context.Context, dir string, names []string) (all []time.Time, err error) {
	for len(names) > 0 {
		some := names[:fits(func(i int) int { return len(names[i]) }, len(names))]
		names = names[len(some):]
		text, err := b.Run(ctx, timesText(), nil, nil, append([]string{dir}, some...)...)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "none\n" {
			return nil, errNoTimes
		}
		if len(lines) != len(some) {
			return nil, fmt.Errorf("the host reports the times of %d of %d files", len(lines), len(some))
		}
		for _, line := range lines {
			s, err := strconv.ParseInt(line, 10, 64)
			switch {
			case line == "-" || line == "":
				all = append(all, time.Time{})
			case err != nil:
				return nil, errors.New("the host reports an invalid time")
			default:
				all = append(all, time.Unix(s, 0))
			}
		}
	}
	return all, nil
}

var errNoTimes = errors.New("the host has neither stat nor perl, which say when it was changed: copy it without its time")
