package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
	"github.com/fairlead-ssh/fairlead/session/internal/shellfiles"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// overShell is a host without sftp. Its session is behind no gate: what is done through it has passed one, and it runs
// the few scripts below in a shell that nobody else has touched.
type overShell struct{ s *session.Session }

func openShell(t session.Transport, h hosts.Host) (*overShell, error) {
	plain := hosts.Host{Name: h.Name, Transport: h.Transport, Shell: "sh"}
	s, err := session.Open(t, plain, session.Config{Principal: "fairlead/files", Policy: policy.AllowAll, Audit: audit.Discard{}, CleanEnv: true})
	if err != nil {
		return nil, err
	}
	return &overShell{s}, nil
}

func (b *overShell) close() error { return b.s.Close() }

// run runs a script with "$1" and so on, and returns what it prints.
func (b *overShell) run(ctx context.Context, script string, in []byte, out io.Writer, args ...string) (string, error) {
	text, err := shellfiles.Script(script, args...)
	if err != nil {
		return "", fault(CodeInvalid, "the path: %w", err)
	}
	cmd := session.Command{Script: text, Stdout: out}
	if in != nil {
		cmd.Stdin = bytes.NewReader(in)
	}
	if out != nil {
		cmd.Keep = 16 << 10
	}
	r, err := b.s.Run(ctx, cmd)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctxerr.Of(ctx)
	case err != nil:
		return "", err
	case r.Status == session.StatusOK:
		return string(r.Stdout), nil
	}
	return "", complaint(r)
}

// complaint is why a script failed, with its code where at does not find it out.
func complaint(r session.Result) error {
	switch err := shellfiles.Complaint(r); {
	case errors.Is(err, shellfiles.ErrOwner):
		return fault(CodePermission, "it belongs to another account, and this account cannot give a new file to that one, so nothing was changed")
	case errors.Is(err, shellfiles.ErrDirectory):
		return &Error{Code: CodeDirectory, Err: err}
	case errors.Is(err, shellfiles.ErrNoSpace), errors.Is(err, shellfiles.ErrQuota):
		return &Error{Code: CodeNoSpace, Err: errNoSpace}
	case errors.Is(err, shellfiles.ErrReadOnly):
		return &Error{Code: CodePermission, Err: err}
	default:
		return err
	}
}

func (b *overShell) home(ctx context.Context) (string, error) {
	dir, err := b.run(ctx, `(cd -P && pwd -P)`, nil, nil)
	return strings.TrimSuffix(dir, "\n"), err
}

func (b *overShell) lstat(ctx context.Context, path string) (Info, error) {
	line, err := b.run(ctx, `ls -ldn -- "$1"`, nil, nil, path)
	if err != nil {
		return Info{}, err
	}
	return parseLs(line)
}

// parseLs reads a line of ls -ldn.
func parseLs(line string) (Info, error) {
	l, err := shellfiles.ParseLs(line)
	if err != nil {
		return Info{}, err
	}
	return Info{Kind: kindOf(l.Mode), Mode: l.Mode & modeBits, Size: l.Size, uid: l.UID, gid: l.GID, stamp: l.Stamp}, nil
}

// list has the shell name what is there, and stat or ls say what it is.
func (b *overShell) list(ctx context.Context, dir string, take func(Name) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	g := &shellfiles.Listing{Failed: cancel, Take: func(name string, l shellfiles.Line) error {
		return take(Name{Name: name, Kind: kindOf(l.Mode), Size: l.Size, Mode: l.Mode & modeBits, Changed: l.Changed})
	}}
	_, err := b.run(ctx, shellfiles.ListScript(), nil, g, dir)
	switch {
	case g.Err != nil:
		return g.Err
	case err == nil:
		return g.End()
	}
	return err
}

func (b *overShell) readlink(ctx context.Context, path string) (string, error) {
	to, err := b.run(ctx, `readlink -- "$1"`, nil, nil, path)
	return strings.TrimSuffix(to, "\n"), err
}

// realdir asks ls first: not every shell's cd says why it fails.
func (b *overShell) realdir(ctx context.Context, dir string) (string, error) {
	real, err := b.run(ctx, `ls -d -- "$1/." >/dev/null || exit; (cd -P -- "$1" && pwd -P)`, nil, nil, dir)
	return strings.TrimSuffix(real, "\n"), err
}

func (b *overShell) read(ctx context.Context, path string, offset, limit int64, w io.Writer) error {
	script, from := `cat <"$1"`, strconv.FormatInt(offset+1, 10)
	if offset > 0 {
		script = `tail -c "+$2" <"$1"`
	}
	if limit >= 0 {
		script += " | head -c " + strconv.FormatInt(limit, 10)
		script = `[ -r "$1" ] || cat <"$1" || exit; ` + script // a pipe hides that
	}
	out := &shellfiles.Refusing{W: w}
	_, err := b.run(ctx, script, nil, out, path, from)
	if out.Err != nil {
		return out.Err
	}
	return err
}

// create counts what has arrived: a connection that is cut looks like the end of the input.
func (b *overShell) create(ctx context.Context, path string, content []byte) error {
	_, err := b.run(ctx, createText(), content, nil, path, strconv.Itoa(len(content)))
	return err
}

func (b *overShell) dress(ctx context.Context, temp string, mode fs.FileMode, uid, gid int) error {
	now, err := b.lstat(ctx, temp)
	if err != nil {
		return err
	}
	owner := ""
	if uid >= 0 && (now.uid != uid || now.gid != gid) {
		owner = fmt.Sprintf("%d:%d", uid, gid)
	}
	_, err = b.run(ctx, dressText(), nil, nil, temp, fmt.Sprintf("%04o", fileplan.Octal(mode)), owner)
	return err
}

func (b *overShell) rename(ctx context.Context, temp, path string) error {
	_, err := b.run(ctx, renameText(), nil, nil, temp, path)
	var e *session.Error
	if err != nil && (ctx.Err() != nil || errors.As(err, &e) && e.Sent) && !errors.Is(err, session.ErrUnknownOutcome) {
		err = fmt.Errorf("%w: the last step, renaming the new file, was interrupted: %w", session.ErrUnknownOutcome, err)
	}
	return err
}

func (b *overShell) remove(ctx context.Context, path string) error {
	_, err := b.run(ctx, `rm -f -- "$1"`, nil, nil, path)
	return err
}
