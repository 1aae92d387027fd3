package hostfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

const (
	pidMark  = "fairlead-pid " // is in front of the process id of a program, on a line of its own
	doneMark = "fairlead-done" // is printed once a program has ended well: not all that starts instead would say so
	killTime = 2 * time.Second // for a signal to arrive, and for what it does
	chatter  = 64 << 10        // bytes that start files may print
)

// errHungUp is why a program was not waited for.
type errHungUp struct{ why string }

func (e *errHungUp) Error() string { return e.why }

// ProgramError is a program that failed.
type ProgramError struct {
	what string
	err  error
}

func (e *ProgramError) Error() string { return fmt.Sprintf("%s on the host failed: %v", e.what, e.err) }
func (e *ProgramError) Unwrap() error { return e.err }

// Program implements Programs: it returns what it prints once it has ended well. What does not end by itself is ended, and is no lost
// connection: others things go on over it.
func (s *SFTP) Program(ctx context.Context, p Program) (string, error) {
	t, ok := s.t.(seam.Unframed[session.Exit])
	if !ok {
		return "", errors.ErrUnsupported
	}
	if p.Wait == 0 {
		p.Wait = ProgramWait
	}
	text, err := runProgram(ctx, t, p)
	if err != nil && ctx.Err() != nil {
		return "", ctxerr.Of(ctx)
	}
	if err != nil {
		return "", &ProgramError{p.What, err}
	}
	return text, nil
}

func runProgram(whole context.Context, t seam.Unframed[session.Exit], p Program) (string, error) {
	silent := &errHungUp{fmt.Sprintf("it did nothing for %v, and was ended", p.Wait)}
	ctx, idle, stop := withIdle(whole, p.Wait, silent)
	defer stop()
	c, err := t.Unframed(ctx, "sh -c 'echo "+pidMark+"$$; "+p.Line+" && echo "+doneMark+"'")
	if err != nil {
		if cause := context.Cause(ctx); whole.Err() == nil && cause != nil {
			return "", cause
		}
		return "", err
	}
	defer c.HangUp()
	said, complained := &heard{left: p.Most + chatter}, &heard{left: p.Most + chatter}
	talks := func() { idle.cancel(&errHungUp{errTalks.Error() + ", and was ended"}) }
	said.full, complained.full = talks, talks
	// None of these is waited for where the program goes on: they end with the channel, or the connection.
	out, eof := make(chan struct{}), make(chan struct{})
	go func() { defer close(eof); hear(ctx, c.Stderr(), idleWriter{complained, idle}) }()
	go func() { defer close(out); hear(ctx, c, idleWriter{said, idle}) }()
	go func() {
		if p.In != nil {
			_, _ = io.Copy(pieces{c, idle}, p.In)
		}
		_ = c.CloseWrite()
	}()
	ended := make(chan struct{})
	var exit session.Exit
	go func() {
		defer close(ended)
		exit, err = c.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s := said.String()
		end(t, pidOf(s), ended)
		return s, context.Cause(ctx)
	}
	if err != nil {
		return "", err
	}
	// All that it has printed comes before the end of the channel, which what it has left running may hold open.
	for _, pipe := range []chan struct{}{out, eof} {
		select {
		case <-pipe:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	text := said.String()
	_, body, _ := strings.Cut(text, pidMark) // start files may print before
	_, body, _ = strings.Cut(body, "\n")
	body, done := strings.CutSuffix(strings.TrimRight(body, "\n"), doneMark)
	switch {
	case exit.Signal != "":
		return text, fmt.Errorf("SIG%s ended it", strings.TrimPrefix(exit.Signal, "SIG"))
	case exit.Code != 0:
		if first, _, _ := strings.Cut(strings.TrimSpace(complained.String()), "\n"); first != "" {
			return text, fmt.Errorf("it exited with %d and printed %q", exit.Code, heardOf(first))
		}
		return text, fmt.Errorf("it exited with %d", exit.Code)
	case !done:
		return text, errors.New("the account may not run it")
	}
	return body, nil
}

// hear passes on what a program prints, while ctx lasts: what comes after that stays unread, which holds the program back.
func hear(ctx context.Context, r io.Reader, w io.Writer) {
	buf := make([]byte, 32<<10)
	for ctx.Err() == nil {
		n, err := r.Read(buf)
		_, _ = w.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// pieces gives input to a program a piece at a time, each of which is progress.
type pieces struct {
	w io.Writer
	i *idle
}

func (p pieces) Write(b []byte) (done int, err error) {
	for done < len(b) && err == nil {
		var n int
		n, err = p.w.Write(b[done:min(len(b), done+32<<10)])
		done += n
		p.i.beat()
	}
	return done, err
}

// pidOf is what a program has said of itself; 0 is nothing.
func pidOf(said string) int {
	for line := range strings.Lines(said) {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), pidMark); ok {
			if pid, err := strconv.Atoi(text); err == nil && pid > 1 {
				return pid
			}
		}
	}
	return 0
}

// end ends a program with all that it has started. What minds nothing may go on where the host does not say its number.
func end(t seam.Unframed[session.Exit], pid int, ended <-chan struct{}) {
	if pid == 0 {
		return
	}
	for _, signal := range []string{"TERM", "KILL"} {
		ctx, cancel := context.WithTimeout(context.Background(), killTime)
		c, err := t.Unframed(ctx, framing.SignalTree(pid, signal))
		if err == nil {
			_ = c.CloseWrite()
			go hear(ctx, c.Stderr(), io.Discard)
			go hear(ctx, c, io.Discard)
			select {
			case <-ended:
			case <-ctx.Done():
			}
			c.HangUp()
		}
		cancel()
		select {
		case <-ended:
			return
		default:
		}
	}
}

// Word implements Programs.
func (s *SFTP) Word(text string) (string, bool) { return text, safeWord(text) }

// safeWord reports whether every login shell takes a path in quotes as it is.
func safeWord(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/._+,@%=:-", c) >= 0) {
			return false
		}
	}
	return s != ""
}
