package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/session"
)

// terminal is the one that the program was started on. raw takes it over, and restore, which may be called at any time
// and by anybody, gives it back.
type terminal struct {
	file *os.File
	fd   int
	wake [2]*os.File // a pipe: whatever is written to the second ends read

	mu     sync.Mutex   // guards what follows
	before *xterm.State // nil unless raw
	over   bool         // restored, for good
}

// openTerminal makes in a terminal. The caller closes it, which leaves in open.
func openTerminal(in io.Reader) (*terminal, error) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, errors.New("standard input is not a file")
	}
	t := &terminal{file: f, fd: int(f.Fd())}
	var err error
	if t.wake[0], t.wake[1], err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("cannot wait for keys: %w", err)
	}
	return t, nil
}

// close restores the terminal.
func (t *terminal) close() {
	t.restore()
	t.wake[0].Close()
	t.wake[1].Close()
}

// raw switches line editing, echo and the keys for signals off. Once more, it does so again: a program that was stopped
// and goes on finds the terminal as the local shell wants it.
func (t *terminal) raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil
	}
	before, err := xterm.MakeRaw(t.fd)
	if err != nil {
		return fmt.Errorf("cannot take over the terminal: %w", err)
	}
	if t.before == nil {
		t.before = before
	}
	return nil
}

// restore puts the terminal back as it was. What was typed for the host and not yet read goes nowhere: the local shell
// must not run it, nor a late answer to something that the host's output asked the terminal.
func (t *terminal) restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.before != nil && !t.over {
		_ = xterm.Restore(t.fd, t.before)
		_ = flushInput(t.fd)
	}
	t.over = true
}

// suspend gives the terminal back and stops this program, until it goes on.
func (t *terminal) suspend() {
	t.mu.Lock()
	if t.before != nil && !t.over {
		_ = xterm.Restore(t.fd, t.before)
	}
	t.mu.Unlock()
	Stop()
	_ = t.raw()
}

// notStopped is after how long a program goes on that nothing has stopped.
const notStopped = 200 * time.Millisecond

// Stop stops this program and those that were begun with it, as the key ^Z does, and returns once it goes on. Where there is no shell
// that could continue it, the system does not stop it.
func Stop() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if syscall.Kill(0, syscall.SIGTSTP) != nil {
		return
	}
	select { // the system may take a moment to stop all threads
	case <-on:
	case <-time.After(notStopped):
	}
}

// isRaw reports whether lines need a carriage return.
func (t *terminal) isRaw() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.before != nil && !t.over
}

// size is how large the terminal is; the zero Size where it does not know.
func (t *terminal) size() session.Size {
	cols, rows, err := xterm.GetSize(t.fd)
	if err != nil || cols <= 0 || rows <= 0 {
		return session.Size{}
	}
	return session.Size{Rows: rows, Cols: cols}
}

var (
	errWoken  = errors.New("woken")   // of read, after stop
	errNoKeys = errors.New("no keys") // of readFor, in time
)

// read waits for keys. io.EOF means that the terminal has gone.
func (t *terminal) read(p []byte) (int, error) { return t.get(p, t.wake[0], nil) }

// readFor is read that is no longer pending than d, and that stop does not end.
func (t *terminal) readFor(p []byte, d time.Duration) (int, error) {
	limit := unix.NsecToTimeval(max(0, d).Nanoseconds())
	return t.get(p, nil, &limit)
}

func (t *terminal) get(p []byte, wake *os.File, limit *unix.Timeval) (int, error) {
	top, pipe := t.fd, -1
	if wake != nil {
		pipe = int(wake.Fd())
		top = max(top, pipe)
	}
	if top >= unix.FD_SETSIZE {
		return 0, errors.New("too many files are open")
	}
	for {
		// select, because poll knows no terminals on some systems.
		var ready unix.FdSet
		ready.Set(t.fd)
		if wake != nil {
			ready.Set(pipe)
		}
		n, err := unix.Select(top+1, &ready, nil, nil, limit)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, fmt.Errorf("cannot wait for keys: %w", err)
		case n == 0:
			return 0, errNoKeys
		case wake != nil && ready.IsSet(pipe):
			return 0, errWoken
		}
		n, err = unix.Read(t.fd, p)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
			continue
		case err == unix.EIO || err == nil && n == 0:
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("cannot read keys: %w", err)
		}
		return n, nil
	}
}

// stop ends read, now and later.
func (t *terminal) stop() { _, _ = t.wake[1].Write([]byte{0}) }

// settings are the arguments of stty for what people change in their terminals: keys that differ from what "sane" gives
// everywhere, UTF-8, and the keys that hold output back.
func (t *terminal) settings() []string {
	tio, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return nil
	}
	var args []string
	if tio.Iflag&unix.IUTF8 != 0 {
		args = append(args, "iutf8")
	}
	if tio.Iflag&unix.IXON == 0 {
		args = append(args, "-ixon")
	}
	for _, k := range []struct {
		name  string
		index int
		sane  byte
	}{
		{"intr", unix.VINTR, 3}, {"quit", unix.VQUIT, 28}, {"erase", unix.VERASE, 127}, {"kill", unix.VKILL, 21},
		{"eof", unix.VEOF, 4}, {"susp", unix.VSUSP, 26}, {"werase", unix.VWERASE, 23}, {"lnext", unix.VLNEXT, 22},
	} {
		if c := tio.Cc[k.index]; c != k.sane {
			if text := key(c); text != "" {
				args = append(args, k.name+" "+text)
			}
		}
	}
	return args
}

// key spells a key for stty, inside of single quotes; "" for those that cannot be spelled safely everywhere.
func key(c byte) string {
	switch {
	case c == noKey:
		return "undef"
	case c == 0x7f:
		return `"^?"`
	case c > 0 && c <= 26:
		return `"^` + string(rune(c+'@')) + `"`
	}
	return ""
}
