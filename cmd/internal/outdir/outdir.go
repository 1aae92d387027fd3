// Package outdir writes what each host of a run printed into files of its own: DIR/HOST/stdout, stderr and result.json.
//
// The directory of a host appears under its name only when it is whole; until then it is DIR/.HOST.partial. Nothing that
// exists is overwritten. There is no global state.
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

	"github.com/fairlead-ssh/fairlead/session"
)

// Dir is a directory of outputs. It may be used concurrently, for one host by one goroutine at a time.
type Dir struct {
	path string

	mu    sync.Mutex // guards what follows
	hosts map[string]*host
}

// host is what is being written of a host.
type host struct {
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
		return nil, err
	}
	d := &Dir{path: abs, hosts: map[string]*host{}}
	for _, label := range labels {
		for _, name := range []string{d.final(label), d.partial(label)} {
			if _, err := os.Lstat(name); err == nil {
				return nil, fmt.Errorf("%s exists already: choose another directory, or remove it", name)
			} else if !errors.Is(err, os.ErrNotExist) {
				return nil, err
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
	dir := d.partial(label)
	if h.err = os.Mkdir(dir, 0o700); errors.Is(h.err, os.ErrExist) {
		h.err = nil // of an attempt before
	}
	for name, f := range map[string]*file{"stdout": h.stdout, "stderr": h.stderr} {
		if h.err == nil {
			f.f, h.err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		}
	}
	return h
}

// close closes both files and returns the first thing that went wrong.
func (h *host) close() error {
	return errors.Join(h.err, h.stdout.close(), h.stderr.close())
}

// Done ends a host's files, writes result.json, and gives the directory its name. An error says what is not there.
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
	dir := d.partial(label)
	if err := os.WriteFile(filepath.Join(dir, "result.json"), append(text, '\n'), 0o600); err != nil {
		return err
	}
	final := d.final(label)
	if _, err := os.Lstat(final); err == nil {
		return fmt.Errorf("%s exists already; the output is in %s", final, dir)
	}
	return os.Rename(dir, final)
}

// file takes writes until one fails, and remembers why.
type file struct {
	f   *os.File
	err error
}

func (f *file) Write(p []byte) (int, error) {
	if f.f != nil && f.err == nil {
		_, f.err = f.f.Write(p)
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
