package question

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// maxTyped bounds what is typed at a prompt.
const maxTyped = 1024

var errNoTerminal = errors.New("there is no terminal to ask at")

// readAt prints prompt and reads a line, which is shown only with echo. The end of ctx ends it, where the terminal can be
// polled.
func readAt(ctx context.Context, tty *os.File, prompt string, echo bool) (typed []byte, err error) {
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
	shown := io.Discard
	if echo {
		shown = tty
	}
	typed, err = readLine(tty, shown)
	if ctx.Err() != nil {
		clear(typed)
		return nil, context.Cause(ctx)
	}
	return typed, err
}

var (
	// errCanceled is the answer of a person who gives none.
	errCanceled = errors.New("no answer was given")
	// errInterrupted is that of one who wants the program to stop.
	errInterrupted = fmt.Errorf("%w", errCanceled)
)

// readLine reads a line of a raw terminal with the few keys that edit one, and shows it.
func readLine(r io.Reader, shown io.Writer) ([]byte, error) {
	line := make([]byte, 0, maxTyped) // never moved, so that no copy stays behind
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
		case 3: // ^C
			return give(errInterrupted)
		case 4: // ^D
			return give(errCanceled)
		case 8, 0x7f: // backspace
			if len(line) > 0 {
				io.WriteString(shown, "\b \b")
			}
			for len(line) > 0 {
				last := line[len(line)-1]
				line = line[:len(line)-1]
				if last < 0x80 || last >= 0xc0 { // a whole character in UTF-8
					break
				}
			}
		case 21: // ^U
			for _, c := range line {
				if c < 0x80 || c >= 0xc0 {
					io.WriteString(shown, "\b \b")
				}
			}
			clear(line)
			line = line[:0]
		default:
			if len(line) == maxTyped {
				return give(fmt.Errorf("an answer has at most %d bytes", maxTyped))
			}
			line = append(line, c)
			if c >= ' ' {
				shown.Write(b[:])
			}
		}
	}
}
