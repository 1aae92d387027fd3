// Package outdir writes what each host of a run printed into files of its own: DIR/HOST/stdout, stderr and result.json.
//
// The directory of a host appears under its name only when it is whole; until then it is DIR/.HOST.partial. Nothing that
// exists is overwritten, also where several programs write into one DIR at once. There is no global state.
package outdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/session"
)

// Dir is a directory of outputs. It may be used concurrently, for one host by one goroutine at a time.
type Dir struct {
	path string

	mu    sync.Mutex // guards what follows
	hosts map[string]*host
	made  map[string]string // the partial directories, by label
}

// host is what is being written of a host.
type host struct {
	dir            string
	stdout, stderr *file
	err            error // why there are no files
}

// New returns the Dir at path, which it makes, for hosts with these labels. An error names what is in the way.
func New(path string, labels []string) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, reason.NewFile(path, err)
	}
	d := &Dir{path: abs, hosts: map[string]*host{}, made: map[string]string{}}
	for _, label := range labels {
		for _, name := range []string{d.final(label), d.partial(label)} {
			if _, err := os.Lstat(name); err == nil {
				return nil, fmt.Errorf("%s exists already: choose another directory, or remove it", name)
			} else if !errors.Is(err, os.ErrNotExist) {
				return nil, reason.File(name, err)
			}
		}
	}
	return d, nil
}

func (d *Dir) final(label string) string   { return filepath.Join(d.path, Name(label)) }
func (d *Dir) partial(label string) string { return filepath.Join(d.path, "."+Name(label)+".partial") }

// Name is the name of a host's directory: its label, with what a file name cannot hold, or begin with, written as %XX.
func Name(label string) string {
	var b strings.Builder
	for i := range len(label) {
		switch c := label[i]; {
		case c == '/' || c == '\\' || c == '%' || c < ' ' || c == 0x7f || c == '.' && i == 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Start returns writers of a host's outputs, which never fail: Done tells. A host that starts again starts anew.
func (d *Dir) Start(label string) (stdout, stderr io.Writer) {
	h := d.start(label)
	d.mu.Lock()
	old := d.hosts[label]
	d.hosts[label] = h
	d.mu.Unlock()
	if old != nil {
		old.close()
	}
	return h.stdout, h.stderr
}

func (d *Dir) start(label string) *host {
	h := &host{stdout: &file{}, stderr: &file{}}
	if h.dir, h.err = d.own(label); h.err != nil {
		return h
	}
	for name, f := range map[string]*file{"stdout": h.stdout, "stderr": h.stderr} {
		if h.err == nil {
			name = filepath.Join(h.dir, name)
			f.f, h.err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			h.err = reason.NewFile(name, h.err)
		}
	}
	return h
}

// own returns the partial directory of a host. Only this Dir writes to it: where another program has made the one with the
// usual name since New looked, it is another one.
func (d *Dir) own(label string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if dir := d.made[label]; dir != "" {
		return dir, nil // of an attempt before
	}
	dir := d.partial(label)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		dir, err = os.MkdirTemp(d.path, filepath.Base(dir)+"-")
	}
	if err == nil {
		d.made[label] = dir
	}
	return dir, reason.NewFile(dir, err)
}

// close closes both files and returns the first thing that went wrong.
func (h *host) close() error {
	return errors.Join(h.err, h.stdout.close(), h.stderr.close())
}

// Done ends a host's files, writes result.json, and gives the directory its name. An error says what is not there; it is
// [os.ErrExist] where another program was faster, and then says where the output is.
func (d *Dir) Done(label string, r session.Result) error {
	d.mu.Lock()
	h := d.hosts[label]
	delete(d.hosts, label)
	d.mu.Unlock()
	if h == nil { // it never began
		h = d.start(label)
	}
	if err := h.close(); err != nil {
		return err
	}
	r.Stdout, r.Stderr = nil, nil
	r.OmittedStdout, r.OmittedStderr, r.CutStdout, r.CutStderr = 0, 0, 0, 0 // the files have all of it
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(h.dir, "result.json")
	if err := os.WriteFile(name, append(text, '\n'), 0o600); err != nil {
		return reason.NewFile(name, err)
	}
	final := d.final(label)
	if _, err := os.Lstat(final); err == nil {
		return &takenError{final, h.dir}
	}
	err = os.Rename(h.dir, final)
	if errors.Is(err, os.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.ENOTDIR) {
		return &takenError{final, h.dir}
	}
	return err
}

// takenError is that another program has made the directory of a host.
type takenError struct{ final, dir string }

func (e *takenError) Error() string { return e.final + " exists already; the output is in " + e.dir }
func (e *takenError) Unwrap() error { return os.ErrExist }

// Drop removes the files of a host whose output did not come whole, so that another attempt finds its place free.
func (d *Dir) Drop(label string) error {
	d.mu.Lock()
	h, dir := d.hosts[label], d.made[label]
	delete(d.hosts, label)
	delete(d.made, label)
	d.mu.Unlock()
	if h != nil {
		_ = h.close() // what it holds goes
	}
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// file takes writes until one fails, and remembers why.
type file struct {
	f   *os.File
	err error
}

func (f *file) Write(p []byte) (int, error) {
	if f.f != nil && f.err == nil {
		_, err := f.f.Write(p)
		f.err = reason.File(f.f.Name(), err)
	}
	return len(p), nil
}

func (f *file) close() error {
	if f.f == nil {
		return f.err
	}
	err := f.f.Close()
	f.f = nil
	return errors.Join(f.err, err)
}
