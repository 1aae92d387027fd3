package dialer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// maxSecret bounds what is typed at a prompt.
const maxSecret = 1024

var errNoTerminal = errors.New("there is no terminal to ask for the passphrase; add the key to the SSH agent with ssh-add")

// askPassphrase asks for the passphrase of a key file on the terminal of the process, wherever its streams go: one
// question at a time, and nothing else is written meanwhile.
func askPassphrase(ctx context.Context, ios *iostreams.IOStreams, keyfile string) ([]byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, errNoTerminal
	}
	defer tty.Close()
	var secret []byte
	ios.Hold(func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			return
		}
		secret, err = ask(ctx, tty, fmt.Sprintf("Passphrase for %s: ", printable.Cell(keyfile)))
	})
	return secret, err
}

// ask prints prompt and reads a line without echo. The end of ctx ends it, where the terminal can be polled.
func ask(ctx context.Context, tty *os.File, prompt string) (secret []byte, err error) {
	raw, err := tty.SyscallConn()
	if err != nil {
		return nil, err
	}
	var before *term.State
	if cerr := raw.Control(func(fd uintptr) { before, err = term.MakeRaw(int(fd)) }); err != nil || cerr != nil {
		return nil, errNoTerminal
	}
	defer raw.Control(func(fd uintptr) { term.Restore(int(fd), before) })
	defer io.WriteString(tty, "\r\n")
	defer context.AfterFunc(ctx, func() { tty.SetReadDeadline(time.Unix(1, 0)) })()
	iostreams.DropTyped(tty)
	if _, err := io.WriteString(tty, prompt); err != nil {
		return nil, err
	}
	secret, err = readSecret(tty)
	if ctx.Err() != nil {
		clear(secret)
		return nil, context.Cause(ctx)
	}
	return secret, err
}

// errCanceled is the answer of a person who gives none.
var errCanceled = errors.New("no passphrase was given")

// readSecret reads a line of a raw terminal with the few keys that edit one.
func readSecret(r io.Reader) ([]byte, error) {
	line := make([]byte, 0, maxSecret) // never moved, so that no copy stays behind
	var b [1]byte
	give := func(err error) ([]byte, error) {
		clear(line)
		return nil, err
	}
	for {
		n, err := r.Read(b[:])
		if n == 0 {
			if err == nil {
				continue
			}
			if errors.Is(err, io.EOF) {
				return give(errCanceled)
			}
			return give(err)
		}
		switch c := b[0]; c {
		case '\r', '\n':
			return line, nil
		case 3, 4: // ^C, ^D
			return give(errCanceled)
		case 8, 0x7f: // backspace
			for len(line) > 0 {
				last := line[len(line)-1]
				line = line[:len(line)-1]
				if last < 0x80 || last >= 0xc0 { // a whole character in UTF-8
					break
				}
			}
		case 21: // ^U
			clear(line)
			line = line[:0]
		default:
			if len(line) == maxSecret {
				return give(fmt.Errorf("a passphrase has at most %d bytes", maxSecret))
			}
			line = append(line, c)
		}
	}
}
