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
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/lacking"
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

// Exit codes of the scripts that stand for more than a failed program.
const (
	exitCut   = 90 // less than the content has arrived
	exitOwner = 91 // the file cannot be given to its owner
	exitDir   = 92 // a directory stands there now
)

// run runs a script with "$1" and so on, and returns what it prints.
func (b *overShell) run(ctx context.Context, script string, in []byte, out io.Writer, args ...string) (string, error) {
	text := &strings.Builder{}
	text.WriteString("LC_ALL=C; export LC_ALL; set --")
	for _, a := range args {
		word, err := framing.Quote(a)
		if err != nil {
			return "", fault(CodeInvalid, "the path: %w", err)
		}
		text.WriteString(" " + word)
	}
	text.WriteString("\n" + script)
	cmd := session.Command{Script: text.String(), Stdout: out}
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

// complaint sorts what programs say on standard error, in the C locale.
func complaint(r session.Result) error {
	if program := lacking.Program(string(r.Stderr), "cat", "chmod", "chown", "head", "ls", "mkdir", "mv", "readlink", "rm", "rmdir", "sync", "tail", "wc"); program != "" {
		return fmt.Errorf("the host has no %s, which files take where there is no sftp", program)
	}
	if r.ExitCode != nil {
		switch *r.ExitCode {
		case exitCut:
			return errors.New("not all of the content has arrived")
		case exitOwner:
			return fault(CodePermission, "it belongs to another account, and this account cannot give a new file to that one, so nothing was changed")
		case exitDir:
			return fault(CodeDirectory, "it is a directory")
		}
	}
	text := string(r.Stderr)
	for _, known := range []struct {
		says string
		err  error
	}{
		{"No space left", fault(CodeNoSpace, "%w", errNoSpace)}, {"quota exceeded", fault(CodeNoSpace, "%w", errNoSpace)},
		{"Permission denied", fs.ErrPermission}, {"Operation not permitted", fs.ErrPermission},
		{"Read-only file system", &Error{Code: CodePermission, Err: errReadOnly}},
		{"No such file", fs.ErrNotExist}, {"nonexistent", fs.ErrNotExist}, {"Not a directory", fs.ErrNotExist}, {"not a directory", fs.ErrNotExist},
	} {
		if strings.Contains(text, known.says) {
			return known.err
		}
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return fmt.Errorf("the host says %q", heard(text))
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

// parseLs reads a line of ls -ldn: mode, links, uid, gid, size, as POSIX orders them.
func parseLs(line string) (Info, error) {
	f := strings.Fields(line)
	if len(f) < 5 || len(f[0]) < 10 {
		return Info{}, errors.New("the host's ls prints what cannot be read")
	}
	i := Info{Kind: Special}
	switch f[0][0] {
	case '-':
		i.Kind = Regular
	case 'd':
		i.Kind = Directory
	case 'l':
		i.Kind = link
	}
	for n, c := range f[0][1:10] {
		bit := fs.FileMode(1) << (8 - n)
		switch c {
		case 'r', 'w', 'x':
			i.Mode |= bit
		case 's', 't':
			i.Mode |= bit
			fallthrough
		case 'S', 'T':
			i.Mode |= [...]fs.FileMode{fs.ModeSetuid, fs.ModeSetgid, fs.ModeSticky}[n/3]
		}
	}
	var err [3]error
	i.uid, err[0] = strconv.Atoi(f[2])
	i.gid, err[1] = strconv.Atoi(f[3])
	if i.Kind != Special { // devices have two numbers there
		i.Size, err[2] = strconv.ParseInt(f[4], 10, 64)
	}
	i.stamp = strings.Join(f[4:min(len(f), 8)], " ") // size and time
	if errors.Join(err[:]...) != nil || i.Size < 0 {
		return Info{}, errors.New("the host's ls prints what cannot be read")
	}
	return i, nil
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
	out := &refusing{w: w}
	_, err := b.run(ctx, script, nil, out, path, from)
	if out.err != nil {
		return out.err
	}
	return err
}

// refusing remembers why its writer took no more.
type refusing struct {
	w   io.Writer
	err error
}

func (r *refusing) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil {
		r.err = err
	}
	return n, err
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
	_, err = b.run(ctx, dressText(), nil, nil, temp, fmt.Sprintf("%04o", octal(mode)), owner)
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
