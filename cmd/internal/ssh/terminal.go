package ssh

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/cmd/internal/shell"
	"github.com/fairlead-ssh/fairlead/session"
)

var errHungUp = errors.New("hung up at the keyboard")

// takeTerminal switches the caller's terminal to raw, if in is one, tells its sizes as they change, and returns what is typed there
// without escape sequences.
func (r *runner) takeTerminal(in io.Reader, resize func(session.Size), hangUp func()) (typed io.Reader, restore func(), err error) {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return in, func() {}, nil
	}
	char, err := escapeOf(r.c.escape)
	if err != nil {
		return nil, nil, err
	}
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return nil, nil, err
	}
	tell := func() {
		if cols, rows, err := term.GetSize(int(file.Fd())); err == nil {
			resize(session.Size{Rows: rows, Cols: cols})
		}
	}
	changed, done, over := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		defer close(over)
		tell()
		for {
			select {
			case <-changed:
				tell()
			case <-done:
				return
			}
		}
	}()
	suspend := func() {
		raw, err := term.GetState(int(file.Fd()))
		_ = term.Restore(int(file.Fd()), before)
		shell.Stop()
		if err == nil {
			_ = term.Restore(int(file.Fd()), raw)
		}
		tell()
	}
	return shell.Escapes(in, char, r.f.IO.Err, hangUp, suspend), func() {
		signal.Stop(changed)
		close(done)
		<-over
		_ = term.Restore(int(file.Fd()), before)
	}, nil
}

// sizeOf is the size of the terminal that in is; 0 where it is none.
func sizeOf(in io.Reader) (rows, cols int) {
	if file, ok := in.(*os.File); ok {
		cols, rows, _ = term.GetSize(int(file.Fd()))
	}
	return rows, cols
}

// caller is the program that has called fairlead.
func (r *runner) caller() string {
	if name := r.f.Getenv(begunBy); name != "" && r.c.background {
		return name
	}
	return caller()
}

// caller is the name of the program that has called this one, for the audit log; "" where that cannot be seen.
func caller() string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(os.Getppid()), "comm"))
	if err != nil {
		return ""
	}
	return strings.Map(func(c rune) rune {
		if c > ' ' && c <= '~' {
			return c
		}
		return -1
	}, string(text[:min(len(text), 40)]))
}
