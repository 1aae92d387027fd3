//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package localpty

import (
	"fmt"
	"io"
	"os/exec"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/tty"
)

// stream is one program on its terminal.
type stream struct {
	t *Transport
	p *tty.Process
}

func start(t *Transport, p session.Program) (*stream, error) {
	argv := t.cfg.Command
	if argv == nil {
		argv = []string{"sh", "-c", p.Line}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = t.environ(p.Term, p.Env), t.cfg.Dir
	if p.Size == (session.Size{}) {
		p.Size = session.Size{Rows: 24, Cols: 80}
	}
	modes := tty.Raw
	if p.Cooked && t.cfg.Command == nil {
		modes = nil // as new ones are
	}
	proc, err := tty.Start(cmd, tty.Options{Rows: p.Size.Rows, Cols: p.Size.Cols, Modes: modes, Grace: t.cfg.Grace})
	if err != nil {
		return nil, fmt.Errorf("localpty: %s does not start: %w", argv[0], err)
	}
	return &stream{t: t, p: proc}, nil
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.p.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("localpty: cannot read from the terminal: %w", err)
	}
	return n, err
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.p.Write(b)
	if err != nil {
		err = fmt.Errorf("localpty: the program has ended and takes no input: %w", session.ErrClosed)
	}
	return n, err
}

func (s *stream) Resize(size session.Size) error {
	if err := s.p.Resize(size.Rows, size.Cols); err != nil {
		return fmt.Errorf("localpty: cannot resize the terminal: %w", err)
	}
	return nil
}

func (s *stream) Wait() (session.Exit, error) {
	code, signal := s.p.Wait()
	return session.Exit{Code: code, Signal: signal}, nil
}

func (s *stream) Close() error {
	defer s.t.forget(s)
	return s.p.Close()
}
