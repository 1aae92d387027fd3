package shell

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// The causes that end a shell from this side; a signal is another.
var (
	errHungUp   = errors.New("hung up at the keyboard")
	errGone     = errors.New("the terminal here has gone")
	errNoOutput = errors.New("the terminal here takes no output")
)

// maxTyped is how much of what is typed may wait for the host.
const maxTyped = 64 << 10

// bridge connects a program on a host with the terminal here until one of them ends.
//
// Its goroutines, all of them ended and awaited before run returns:
//
//	keys      reads the terminal, finds escape sequences      ended by terminal.stop and queue.Close
//	typing    writes to the host what keys found              ended by queue.Close and Stream.Close
//	sizes     passes on the terminal's size                   ended by the channel ended, and Stream.Close
//	hang-up   restores the terminal and closes the stream     ended by the end of ctx, or by ended
//
// The goroutine that calls run shows and records what the program prints.
type bridge struct {
	term   *terminal
	stream session.Stream
	out    io.Writer // the terminal
	rec    *terminals.Recording
	esc    escape
	typed  bool // record what is typed, too
	size   session.Size
	winch  <-chan os.Signal // SIGWINCH and SIGCONT, caught since before size was taken

	queue *terminals.Queue
	sent  int64 // written by typing, read when it has ended
}

// watchSize catches what tells that the terminal has another size, or needs to be taken over again.
func watchSize() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}

// run returns how the program ended. The error is the cause when this side ended it, or the stream's own.
func (b *bridge) run(ctx context.Context) (exit session.Exit, o terminals.Outcome, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b.queue = terminals.NewQueue(maxTyped)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	spawn := func(f func()) {
		wg.Go(func() {
			calm := false
			defer func() {
				if !calm { // a panic is about to end the program
					b.term.restore()
				}
			}()
			f()
			calm = true
		})
	}
	spawn(func() { b.keys(cancel) })
	spawn(b.typing)
	spawn(func() { b.sizes(ended) })
	spawn(func() {
		select {
		case <-ctx.Done():
			b.term.restore() // at once: what follows may take seconds
			b.stream.Close()
		case <-ended:
		}
	})

	modes := screen.New(screen.Config{Memory: 1})
	var asked queries
	sum := sha256.New()
	buf := make([]byte, 32<<10)
	for {
		n, rerr := b.stream.Read(buf)
		if n > 0 && ctx.Err() == nil {
			p := buf[:n]
			if _, werr := b.out.Write(p); werr != nil {
				cancel(errNoOutput)
			}
			b.rec.Output(p)
			_, _ = modes.Write(p)
			asked.see(p, time.Now())
			_, _ = sum.Write(p)
			o.Shown += int64(n)
		}
		if rerr != nil {
			break
		}
	}
	exit, err = b.stream.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	close(ended)
	b.stream.Close()
	b.queue.Close()
	b.term.stop()
	wg.Wait()
	asked.settle(b.term, b.out, time.Now())
	b.term.restore()
	// A program that was killed could not clean up either; one in a container dies with a code, and no signal, for that.
	if m := modes.Modes(); err != nil || exit.Signal != "" || exit.Code > 128 || m.Alternate {
		_, _ = io.WriteString(b.out, calm(m))
	}
	o.Typed, o.ShownSHA256 = b.sent, hex.EncodeToString(sum.Sum(nil))
	return exit, o, err
}

// keys reads the terminal.
func (b *bridge) keys(cancel context.CancelCauseFunc) {
	buf := make([]byte, 4<<10)
	var pass []byte
	defer func() { clear(buf); clear(pass) }() // there may be passwords in them
	for {
		n, err := b.term.read(buf)
		if errors.Is(err, errWoken) {
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = errors.Join(errGone, err)
			} else {
				err = errGone
			}
			cancel(err)
			return
		}
		for rest := buf[:n]; len(rest) > 0; {
			var do action
			pass, do, rest = b.esc.filter(pass[:0], rest)
			if len(pass) > 0 {
				if b.typed {
					b.rec.Input(pass)
				}
				if !b.queue.Put(pass) {
					return
				}
			}
			switch do {
			case hangUp:
				cancel(errHungUp)
				return
			case suspend:
				b.term.suspend()
			case showHelp:
				_, _ = io.WriteString(b.out, b.esc.help())
			case refuse:
				_, _ = io.WriteString(b.out, b.esc.refusal())
			}
		}
	}
}

// typing writes to the host. An error means that the program has ended, which the reader of its output learns too.
func (b *bridge) typing() {
	buf := make([]byte, 1<<10)
	defer clear(buf)
	for {
		n := b.queue.Take(buf)
		if n == 0 {
			return
		}
		if _, err := b.stream.Write(buf[:n]); err != nil {
			b.queue.Close()
			return
		}
		b.sent += int64(n)
	}
}

// sizes passes on the terminal's size when it changes.
func (b *bridge) sizes(ended <-chan struct{}) {
	resizer, _ := b.stream.(session.Resizer)
	for {
		select {
		case <-ended:
			return
		case s := <-b.winch:
			if s == syscall.SIGCONT {
				_ = b.term.raw()
			}
		}
		size := b.term.size()
		if size == b.size || size == (session.Size{}) {
			continue
		}
		b.size = size
		b.rec.Resize(size)
		if resizer != nil {
			_ = resizer.Resize(size) // fails when the program has ended
		}
	}
}

// calm is what takes a terminal out of the modes of programs that could not clean up: colours, a hidden cursor, keys and
// mouse reported in other ways, and the second screen where it is shown (xterm's control sequences).
func calm(m screen.Modes) string {
	text := "\x1b[0m\x1b[?25h\x1b[?7h\x1b[?1l\x1b>\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l"
	if m.Top != 0 || m.Bottom != 0 {
		text += "\x1b7\x1b[r\x1b8"
	}
	if m.Drawing != [2]bool{} || m.Shifted {
		text += "\x1b(B\x1b)B\x0f"
	}
	if m.OtherKeys {
		text += "\x1b[>4;0m"
	}
	if m.KeyFlags > 0 {
		text += fmt.Sprintf("\x1b[<%du", m.KeyFlags)
	}
	if m.Alternate {
		text += "\x1b[?1049l"
	}
	return text
}
