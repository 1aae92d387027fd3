package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// maxSecret bounds a passphrase, in bytes.
const maxSecret = 1024

// errNoAnswer is the answer of a person who gives none.
var errNoAnswer = errors.New("no passphrase was given")

// secret asks at the terminal for what must not be seen. Whoever gets it clears it.
func (b *Base) secret(ctx context.Context, prompt string) (said []byte, err error) {
	tty, done, err := b.tty(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	file, ok := tty.(syscall.Conn)
	if !ok {
		return nil, errNoTerminal
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	b.IO.Hold(func() {
		var before *term.State
		if cerr := raw.Control(func(fd uintptr) { before, err = term.MakeRaw(int(fd)) }); err != nil || cerr != nil {
			err = errNoTerminal
			return
		}
		defer raw.Control(func(fd uintptr) { term.Restore(int(fd), before) })
		defer io.WriteString(tty, "\r\n")
		iostreams.DropTyped(tty)
		if _, err = io.WriteString(tty, prompt); err == nil {
			said, err = readSecret(tty)
		}
	})
	if ctx.Err() != nil {
		clear(said)
		return nil, context.Cause(ctx)
	}
	return said, err
}

// readSecret reads a line of a raw terminal, with the few keys that edit one.
func readSecret(r io.Reader) ([]byte, error) {
	var s secret
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		switch {
		case n > 0:
			switch done, err := s.key(b[0]); {
			case err != nil:
				return nil, err
			case done:
				return s.line, nil
			}
		case errors.Is(err, io.EOF):
			s.wipe()
			return nil, errNoAnswer
		case err != nil:
			s.wipe()
			return nil, err
		}
	}
}

// secret is a line that is being typed and never shown.
type secret struct{ line []byte }

// key takes a byte of what is typed. done is the end of the line.
func (s *secret) key(c byte) (done bool, err error) {
	switch c {
	case '\r', '\n':
		return true, nil
	case 3, 4: // ^C, ^D
		s.wipe()
		return false, errNoAnswer
	case 8, 0x7f:
		s.rubOut()
	case 21: // ^U
		s.wipe()
	default:
		if s.line == nil {
			s.line = make([]byte, 0, maxSecret) // never moved, so that no copy stays behind
		}
		if len(s.line) == maxSecret {
			s.wipe()
			return false, fmt.Errorf("a passphrase has at most %d bytes", maxSecret)
		}
		s.line = append(s.line, c)
	}
	return false, nil
}

// rubOut takes the last character back, all bytes of it.
func (s *secret) rubOut() {
	for n := len(s.line); n > 0; n = len(s.line) {
		last := s.line[n-1]
		s.line[n-1] = 0
		s.line = s.line[:n-1]
		if last < 0x80 || last >= 0xc0 {
			return
		}
	}
}

func (s *secret) wipe() {
	clear(s.line)
	s.line = s.line[:0]
}
