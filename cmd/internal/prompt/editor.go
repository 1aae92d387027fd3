package prompt

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Terminal is a terminal: a file of the system.
type Terminal interface {
	io.ReadWriter
	syscall.Conn
	SetReadDeadline(t time.Time) error
}

// editor reads lines at a terminal.
type editor struct {
	tty  Terminal
	keys *keys
	line *term.Terminal
}

// What became of a line.
type ended int

const (
	entered   ended = iota
	fromPaste       // it is a part of a text that was pasted
	dropped         // ^C
)

type completer = func(line string, at int) (newLine string, newAt int, ok bool)

func newEditor(tty Terminal, h *history, complete completer) *editor {
	k := &keys{tty: tty}
	e := &editor{tty: tty, keys: k, line: term.NewTerminal(k, "")}
	e.line.History = h
	e.line.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key == searchKey {
			found, ok := h.search(line)
			if !ok {
				return line, at, true
			}
			return found, len(found), true
		}
		if key != '\t' {
			return "", 0, false
		}
		newLine, newAt, ok := complete(line, at)
		if !ok {
			return line, at, true // no tab is typed
		}
		return newLine, newAt, true
	}
	return e
}

// read reads a line. The end of ctx ends it, with its cause.
func (e *editor) read(ctx context.Context, prompt string) (line string, how ended, err error) {
	var before *term.State
	var width, height int
	if err := e.control(func(fd int) (err error) {
		width, height, err = term.GetSize(fd)
		if err != nil {
			return err
		}
		before, err = term.MakeRaw(fd)
		return err
	}); err != nil {
		return "", entered, err
	}
	defer func() { _ = e.control(func(fd int) error { return term.Restore(fd, before) }) }()
	defer context.AfterFunc(ctx, func() { _ = e.tty.SetReadDeadline(time.Unix(1, 0)) })()
	if width <= 0 {
		width, height = 80, 24 // of a terminal that does not say
	}
	_ = e.line.SetSize(width, height)
	defer e.followSize()()
	e.line.SetPrompt(prompt)
	e.line.SetBracketedPasteMode(true)
	defer e.line.SetBracketedPasteMode(false)
	line, err = e.line.ReadLine()
	switch {
	case errors.Is(err, term.ErrPasteIndicator):
		return line, fromPaste, nil
	case ctx.Err() != nil:
		return "", entered, context.Cause(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed), errors.Is(err, syscall.EIO): // the terminal is gone
		_, _ = io.WriteString(e.tty, "\r\n")
		return "", entered, io.EOF
	case err != nil:
		return "", entered, err
	case e.keys.interrupted.Swap(false):
		return "", dropped, nil
	}
	return line, entered, nil
}

// followSize draws the line anew whenever the terminal gets another size, until stop.
func (e *editor) followSize() (stop func()) {
	resized, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(resized, syscall.SIGWINCH)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-resized:
				_ = e.control(func(fd int) error {
					width, height, err := term.GetSize(fd)
					if err != nil || width <= 0 {
						return err
					}
					return e.line.SetSize(width, height)
				})
			}
		}
	})
	return func() {
		signal.Stop(resized)
		close(done)
		wg.Wait()
	}
}

func (e *editor) control(f func(fd int) error) error {
	raw, err := e.tty.SyscallConn()
	if err != nil {
		return err
	}
	var ferr error
	if err := raw.Control(func(fd uintptr) { ferr = f(int(fd)) }); err != nil {
		return err
	}
	return ferr
}
