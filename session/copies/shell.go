package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/shellfiles"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// overShell is a host without sftp. Its session is behind no gate: what is done through it has passed one, and it runs the
// few scripts below in a shell that nobody else has touched.
type overShell struct {
	mu sync.Mutex // one script at a time
	s  *session.Session

	tar    sync.Once // of hasTar
	hasTar bool      // one that says what goes wrong
}

func openShell(t session.Transport, h hosts.Host) (*overShell, error) {
	plain := hosts.Host{Name: h.Name, Transport: h.Transport, Shell: "sh"}
	s, err := session.Open(t, plain, session.Config{Principal: "fairlead/copies", Policy: policy.AllowAll, Audit: audit.Discard{}, CleanEnv: true})
	if err != nil {
		return nil, err
	}
	return &overShell{s: s}, nil
}

func (b *overShell) width() int   { return 1 }
func (b *overShell) close() error { return b.s.Close() }

// run runs a script with "$1" and so on, and returns what it prints.
func (b *overShell) run(ctx context.Context, script string, in io.Reader, out io.Writer, args ...string) (string, error) {
	return b.runWithin(ctx, b.wait(script), script, in, out, args...)
}

// runWithin is run for a script that may say nothing for so long.
func (b *overShell) runWithin(ctx context.Context, wait time.Duration, script string, in io.Reader, out io.Writer, args ...string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, err := shellfiles.Script(script, args...)
	if err != nil {
		return "", fault(files.CodeInvalid, "the path: %w", err)
	}
	said := &heard{left: maxOutput}
	limited, idle, stop := withIdle(ctx, wait, fault(files.CodeError, "the host did nothing for %v, and what it did was ended: look at its disks, and try again", wait))
	defer stop()
	said.full = func() { idle.cancel(fault(files.CodeTooLarge, "the host prints more than %d bytes", maxOutput)) }
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

// wait is how long a script may say nothing.
func (b *overShell) wait(script string) time.Duration {
	if strings.Contains(script, "sync") {
		return syncWait
	}
	return programWait
}

const maxOutput = 8 << 20

// complaint is why a script failed, with its code where the error alone does not say it.
func complaint(r session.Result) error {
	switch err := shellfiles.Complaint(r); {
	case errors.Is(err, shellfiles.ErrOwner):
		return fault(files.CodePermission, "%w: nothing was changed", err)
	case errors.Is(err, shellfiles.ErrDirectory):
		return &files.Error{Code: files.CodeDirectory, Err: err}
	case errors.Is(err, shellfiles.ErrNoSpace), errors.Is(err, shellfiles.ErrQuota):
		return &files.Error{Code: files.CodeNoSpace, Err: err}
	case errors.Is(err, shellfiles.ErrReadOnly):
		return &files.Error{Code: files.CodePermission, Err: err}
	default:
		return err
	}
}

func (b *overShell) home(ctx context.Context) (string, error) {
	dir, err := b.run(ctx, `(cd -P && pwd -P)`, nil, nil)
	return strings.TrimSuffix(dir, "\n"), err
}

func (b *overShell) stat(ctx context.Context, name string) (meta, error) {
	return b.ls(ctx, `ls -ldnL -- "$1"`, name)
}

func (b *overShell) lstat(ctx context.Context, name string) (meta, error) {
	return b.ls(ctx, `ls -ldn -- "$1"`, name)
}

func (b *overShell) ls(ctx context.Context, script, name string) (meta, error) {
	line, err := b.run(ctx, script, nil, nil, name)
	if err != nil {
		return meta{}, err
	}
	l, err := shellfiles.ParseLs(line)
	m := metaOfLine(l)
	m.name = name[strings.LastIndexByte(name, '/')+1:]
	return m, err
}

func metaOfLine(l shellfiles.Line) meta {
	return meta{mode: l.Mode, uid: l.UID, gid: l.GID, size: l.Size, changed: l.Changed}
}

// real follows links of the last name too, which readlink gives one by one.
func (b *overShell) real(ctx context.Context, name string) (string, error) {
	to, err := b.run(ctx, `f=$1 n=0
while [ -h "$f" ] && [ $n -lt 40 ]; do
l=$(readlink -- "$f" && echo .) || exit; l=${l%??}
case $l in /*) f=$l ;; *) f=${f%/*}/$l ;; esac
n=$((n+1))
done
ls -d -- "$f" >/dev/null || exit
if [ -d "$f" ]; then (cd -P -- "$f" && pwd -P); else d=${f%/*}; (cd -P -- "${d:-/}" && d=$(pwd -P && echo .) && d=${d%??} && printf '%s\n' "${d%/}/${f##*/}"); fi`, nil, nil, name)
	return strings.TrimSuffix(to, "\n"), err
}

func (b *overShell) list(ctx context.Context, dir string) (all []meta, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &shellfiles.Listing{Failed: cancel, Take: func(name string, l shellfiles.Line) error {
		if len(all) >= maxNames {
			return tooManyNames()
		}
		m := metaOfLine(l)
		m.name = name
		all = append(all, m)
		return nil
	}}
	_, err = b.run(ctx, shellfiles.ListScript(), nil, g, dir)
	switch {
	case g.Err != nil:
		return nil, g.Err
	case err == nil:
		err = g.End()
	}
	return all, err
}

func (b *overShell) read(ctx context.Context, name string, w io.Writer) error {
	out := &shellfiles.Refusing{W: w}
	_, err := b.run(ctx, `cat <"$1"`, nil, out, name)
	if out.Err != nil {
		return out.Err
	}
	return err
}

func (b *overShell) readSmall(ctx context.Context, name string, _ int64) ([]byte, error) {
	all := &capped{}
	err := b.read(ctx, name, all)
	return all.Bytes(), err
}

func (b *overShell) mkdir(ctx context.Context, name string) error {
	_, err := b.run(ctx, `[ ! -e "$1" ] || { echo File exists >&2; exit 1; }; (umask 077; mkdir -- "$1")`, nil, nil, name)
	return err
}

// create counts what has arrived: a connection that is cut looks like the end of the input.
func (b *overShell) create(ctx context.Context, temp string, in incoming) error {
	var r io.Reader = bytes.NewReader(in.data)
	n, failing := int64(len(in.data)), &failingReader{}
	if in.r != nil {
		failing.r = in.r
		r, n = failing, in.size
	}
	begin := `(umask 077; set -C; cat >"$1") || exit`
	if in.offset > 0 {
		begin = `cat >>"$1" || exit`
	}
	script := begin + `
[ "$(wc -c <"$1")" -eq "$2" ] || exit 90
chmod -- "$3" "$1" || exit`
	if in.fsync {
		script += "\nsync \"$1\" 2>/dev/null || sync"
	}
	_, err := b.run(ctx, script, r, nil, temp, strconv.FormatInt(n, 10), fmt.Sprintf("%04o", Octal(in.mode)))
	if failing.err != nil {
		return failing.err
	}
	if err == nil && in.verify {
		err = b.verify(ctx, temp, in)
	}
	return err
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

func (b *overShell) dress(ctx context.Context, temp string, mode fs.FileMode, uid, gid int) error {
	owner := ""
	if uid >= 0 {
		owner = fmt.Sprintf("%d:%d", uid, gid)
	}
	_, err := b.run(ctx, `[ -z "$3" ] || chown -- "$3" "$1" || exit 91
chmod -- "$2" "$1"`, nil, nil, temp, fmt.Sprintf("%04o", Octal(mode)), owner)
	return err
}

// stamp sets the time in whole seconds. Old versions of busybox know no -m.
func (b *overShell) stamp(ctx context.Context, name string, when time.Time) error {
	_, err := b.run(ctx, `export TZ=UTC0; touch -c -m -t "$2" -- "$1" 2>/dev/null || touch -c -t "$2" -- "$1"`, nil, nil, name, when.UTC().Format("200601021504.05"))
	return err
}

func (b *overShell) rename(ctx context.Context, temp, name string) error {
	_, err := b.run(ctx, `[ ! -d "$2" ] || exit 92
mv -f -- "$1" "$2"`, nil, nil, temp, name)
	return err
}

func (b *overShell) remove(ctx context.Context, name string, dir bool) error {
	script := `rm -f -- "$1"`
	if dir {
		script = `[ ! -e "$1" ] || rmdir -- "$1"`
	}
	_, err := b.run(ctx, script, nil, nil, name)
	return err
}

func (b *overShell) sync(ctx context.Context, dir string, _ []string) error {
	_, err := b.run(ctx, `sync -f "$1" 2>/dev/null || sync`, nil, nil, dir)
	return err
}
