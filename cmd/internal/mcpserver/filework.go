package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
)

// maxFile is how many bytes of a file are read, and shown page by page.
const maxFile = 16 << 20

// What is done with files.
const (
	opLook  = "file_look" // no tool: finds out where a path leads, before the rest is judged
	opRead  = "file_read"
	opWrite = "file_write"
	opEdit  = "file_edit"
)

// fileWork is what a file tool does, as an action of a session. Files are read whole from the beginning, whatever page is
// wanted: a secret that begins before a page must not end on it.
type fileWork struct {
	op   string
	path string     // as asked for; of all but a look it is absolute
	dir  string     // of a look: where relative paths begin; "" is the account's home
	seen files.Info // what a look has found; of all but a look

	content  []byte // of a write
	old, new []byte // of an edit
	mode     *fs.FileMode
	ifSHA256 string

	mu  sync.Mutex
	got files.Info // afterwards
}

var _ session.Action = (*fileWork)(nil)

// script is shell source that would do the same, for the policy. Both the path that was asked for and the one that it leads
// to count.
func (w *fileWork) script() (string, error) {
	var quoted []string
	for _, p := range []string{w.path, w.seen.Target} {
		if p == "" || len(quoted) > 0 && p == w.path {
			continue
		}
		word, err := framing.Quote(p)
		if err != nil {
			return "", invalid("path: %w", err)
		}
		quoted = append(quoted, word)
	}
	words, redirects := " -- "+strings.Join(quoted, " "), " >"+strings.Join(quoted, " >")
	switch w.op {
	case opLook:
		return "realpath" + words, nil
	case opRead:
		return "cat" + words, nil
	case opEdit:
		return "cat" + words + redirects, nil
	}
	script := "cat" + redirects
	if w.mode != nil {
		script += fmt.Sprintf("; chmod %04o%s", unixMode(*w.mode), words)
	}
	return script, nil
}

// Text is what a person approves: everything that will be done.
func (w *fileWork) Text(hide func(string) string) string {
	if hide == nil {
		hide = func(s string) string { return s }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", w.op, w.path)
	if w.op == opLook {
		return b.String()
	}
	if w.seen.Linked() {
		fmt.Fprintf(&b, "that leads to %s\n", w.seen.Target)
	}
	if w.op == opRead {
		return b.String()
	}
	switch w.seen.Kind {
	case files.None:
		b.WriteString("a new file\n")
	default:
		fmt.Fprintf(&b, "there is a file of %d bytes, mode %04o\n", w.seen.Size, unixMode(w.seen.Mode))
	}
	if w.mode != nil {
		fmt.Fprintf(&b, "its mode becomes %04o\n", unixMode(*w.mode))
	}
	if w.ifSHA256 != "" {
		fmt.Fprintf(&b, "only if its content has the sha256 %s\n", w.ifSHA256)
	}
	if w.op == opWrite {
		fmt.Fprintf(&b, "all of its content becomes these %d bytes, sha256 %s:\n", len(w.content), sumOf(w.content))
		lines(&b, "+", hide(string(w.content)))
		return b.String()
	}
	fmt.Fprintf(&b, "the only place that has these %d bytes gets those %d bytes instead:\n", len(w.old), len(w.new))
	lines(&b, "-", hide(string(w.old)))
	lines(&b, "+", hide(string(w.new)))
	return b.String()
}

// lines writes text as the lines of a diff are, so that none of them can pass for anything else.
func lines(b *strings.Builder, mark, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(mark)
		b.WriteString(line)
	}
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n\\ no newline at the end\n")
	}
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// unixMode is a mode in the bits of chmod.
func unixMode(m fs.FileMode) uint32 {
	n := uint32(m.Perm())
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&bit != 0 {
			n |= 0o1000 << i
		}
	}
	return n
}

// fileMode is the other way round.
func fileMode(n uint32) fs.FileMode {
	m := fs.FileMode(n & 0o777)
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if n&(0o1000<<i) != 0 {
			m |= bit
		}
	}
	return m
}

// Open implements session.Action.
func (w *fileWork) Open(ctx context.Context, t session.Transport, h hosts.Host) (session.Deed, error) {
	f, err := files.Open(ctx, t, h)
	if err != nil {
		return nil, err
	}
	return &fileDeed{w, f}, nil
}

// Record implements session.Action.
func (w *fileWork) Record(e *audit.Event) {
	switch got := w.result(); w.op {
	case opRead:
		e.StdoutSHA256 = got.SHA256
	case opWrite, opEdit:
		e.StdinBytes, e.StdinSHA256 = got.Size, got.SHA256
	}
}

// result is what was found or made; zero if the work was not done.
func (w *fileWork) result() files.Info {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got
}

type fileDeed struct {
	w *fileWork
	f *files.Host
}

func (d *fileDeed) Close() error { return d.f.Close() }

func (d *fileDeed) Do(ctx context.Context, out io.Writer) error {
	got, err := d.do(ctx, out)
	if err != nil {
		return asSessionError(err)
	}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	d.w.got = got
	return nil
}

func (d *fileDeed) do(ctx context.Context, out io.Writer) (files.Info, error) {
	w := d.w
	o := files.WriteOptions{Mode: w.mode, If: files.Expect{
		SHA256: w.ifSHA256, Target: w.seen.Target, New: w.seen.Kind == files.None, Old: w.seen.Kind != files.None,
	}}
	switch w.op {
	case opLook:
		path, err := d.absolute(ctx)
		if err != nil {
			return files.Info{}, err
		}
		return d.f.Look(ctx, path)
	case opWrite:
		return d.f.Write(ctx, w.path, w.content, o)
	case opEdit:
		return d.f.Edit(ctx, w.path, w.old, w.new, o)
	}
	// First whole, then shown: what is not what was judged must not be seen.
	var b bytes.Buffer
	i, err := d.f.Read(ctx, w.path, 0, -1, maxFile, &b)
	if err == nil && i.Target != w.seen.Target {
		err = &files.Error{Op: "read", Path: w.path, Code: files.CodeConflict, Err: fmt.Errorf("it leads to %q now, and not to %q any more", i.Target, w.seen.Target)}
	}
	if err == nil {
		_, err = out.Write(b.Bytes())
	}
	return i, err
}

// absolute is the path of a look, without following anything.
func (d *fileDeed) absolute(ctx context.Context) (string, error) {
	p, home := d.w.path, d.w.path == "~" || strings.HasPrefix(d.w.path, "~/")
	if strings.HasPrefix(p, "/") {
		return p, nil
	}
	if d.w.dir != "" && !home {
		return strings.TrimSuffix(d.w.dir, "/") + "/" + p, nil
	}
	dir, err := d.f.Home(ctx)
	if err != nil {
		return "", err
	}
	if home {
		p = strings.TrimPrefix(p[1:], "/")
	}
	return strings.TrimSuffix(dir, "/") + "/" + p, nil
}

// asSessionError tells a session what became of it.
func asSessionError(err error) error {
	var e *files.Error
	if !errors.As(err, &e) || errors.Is(err, session.ErrUnknownOutcome) || errors.Is(err, session.ErrClosed) {
		return err
	}
	return &session.Error{Code: e.Code, Err: e}
}
