package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// unframed is a one-off command on a host that gives no terminal. Its two streams are those of its channel, and no shell stays.
// Methods may be called concurrently.
type unframed struct {
	x     *Exec
	nonce framing.Token
	known chan struct{} // closed once pid is valid, or never will be

	mu     sync.Mutex // guards what follows
	stream seam.Piped[Exit]
	closed bool
	pid    int
	sent   int64 // of standard input
	sum    hash.Hash
}

// unframedQuiet is how long the streams of a command that has ended may be silent before they are closed: what it has left
// running may hold them open for ever.
const unframedQuiet = 2 * time.Second

// withoutTerminal runs x without a terminal where err says that the host gives none, or fails x where that cannot be. It
// reports false when err says something else.
func (s *Session) withoutTerminal(ctx context.Context, x *Exec, err error) bool {
	if !errors.Is(err, ErrNoTerminal) {
		return false
	}
	s.mu.Lock()
	s.warmed = nil // there are no shells to start ahead
	s.mu.Unlock()
	t, ok := s.transport().(seam.Unframed[Exit])
	why := ""
	switch {
	case !s.cfg.OneOff && !s.single:
		why = "an open session needs one, and single commands do not: use run, or exec without a session"
	case x.cmd.Interactive:
		why = "an interactive command needs one"
	case x.cmd.inner.wrapping != nil:
		why = "a job needs one, and single commands do not: use run"
	case x.cmd.inner.action != nil:
		why = "this work on files needs one where the host has no sftp"
	case x.held:
		why = "a shell that is held to reading needs one"
	case s.elevation != nil:
		why = "another account's shell needs one: run it as the account that logs in, with --become=none"
	case s.cfg.Program != nil:
		why = "a sandbox that the kernel enforces needs one"
	case !ok:
		why = "the shell needs one"
	}
	if why != "" {
		x.fail(StatusError, "no_terminal", fmt.Errorf("%w; %s", err, why))
		return true
	}
	if s.ready(ctx, x) {
		s.runUnframed(ctx, x, t)
	}
	return true
}

// bare reports whether x, an action, can be tried on a connection that gives no terminal: not everything needs a shell.
func (s *Session) bare(x *Exec, err error) bool {
	x.bare = x.cmd.inner.action != nil && s.cfg.Program == nil && s.elevation == nil && errors.Is(err, ErrNoTerminal) && s.transport() != nil
	return x.bare
}

// runUnframed starts x on t, or fails it.
func (s *Session) runUnframed(ctx context.Context, x *Exec, t seam.Unframed[Exit]) {
	spec := framing.Shell{Name: s.host.Shell, Login: s.host.Login, Env: s.host.Env, Clean: s.cfg.cleanEnv()}
	if x.res.Lane == laneClean {
		if spec.Login = false; s.cfg.ForeignEnv {
			spec.Env = nil
		}
	}
	u := &unframed{x: x, nonce: framing.NewToken(), known: make(chan struct{}), sum: sha256.New()}
	script, err := x.text(framing.POSIX)
	line := ""
	if err == nil {
		cmd := framing.Command{Script: script}
		if x.cmd.Merged {
			cmd.Mode = framing.Merged
		}
		if x.cmd.Stdin != nil {
			cmd.Stdin = "channel"
		}
		line, err = framing.Unframed(u.nonce, s.guarded(spec), cmd)
	}
	if err != nil {
		x.fail(StatusError, "invalid", err)
		return
	}
	x.mu.Lock()
	if !x.cmd.Merged {
		x.res.StderrMode = "channel"
	}
	x.sent = x.why == "" && ctx.Err() == nil
	sent := x.sent
	if sent {
		x.unframed = u
	}
	x.mu.Unlock()
	if !sent {
		s.failStart(ctx, x, ctxerr.Of(ctx))
		return
	}
	x.sending()
	x.startLimits()
	if f := s.cfg.Trace.Sent; f != nil {
		f(ctx, s.host, x.id, len(line))
	}
	// The end of the caller's context is for the ladder now: the command may have begun.
	start, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if s.cfg.Ready > 0 {
		start, cancel = context.WithTimeoutCause(start, s.cfg.Ready, fmt.Errorf("the host did not start the command within %v", s.cfg.Ready))
	}
	stream, release, err := s.openUnframed(start, x, t, line)
	late := ctxerr.Of(start)
	cancel()
	switch {
	case err != nil && late == nil && !errors.Is(err, ErrClosed): // the server has refused it
		x.mu.Lock()
		x.sent = false
		x.mu.Unlock()
		close(u.known)
		s.failStart(ctx, x, err)
		return
	case err != nil:
		close(u.known)
		x.fail(StatusLost, "lost", fmt.Errorf("%w: %w", ErrUnknownOutcome, cmp.Or(late, err)))
		return
	}
	if x.cmd.Stdin == nil { // start files may read it, too
		_ = stream.CloseWrite()
	}
	u.mu.Lock()
	u.stream = stream
	closed := u.closed
	u.mu.Unlock()
	if closed {
		stream.Close()
	}
	if s.cfg.Ready > 0 {
		x.ready = time.AfterFunc(s.cfg.Ready, func() {
			select {
			case <-x.begun:
			default:
				u.close()
			}
		})
	}
	s.wg.Go(func() {
		defer release()
		u.run(stream)
	})
}

// openUnframed starts a line on t, or on another connection of the session's pool where that one has no room.
func (s *Session) openUnframed(ctx context.Context, x *Exec, t seam.Unframed[Exit], line string) (stream seam.Piped[Exit], release func(), err error) {
	stream, err = t.Unframed(ctx, line)
	if s.roomFor(err) {
		stream, err = t.Unframed(ctx, line)
	}
	if err == nil || s.pool == nil || !errors.Is(err, ErrFull) {
		return stream, func() {}, err
	}
	release, err = s.elsewhere(ctx, x.wantOnce(), func(t Transport) (err error) {
		other, ok := t.(seam.Unframed[Exit])
		if !ok {
			return errNoConn
		}
		stream, err = other.Unframed(ctx, line)
		return err
	})
	return stream, release, err
}

// run passes the streams on until the command has ended.
func (u *unframed) run(stream seam.Piped[Exit]) {
	x := u.x
	var printed, streams sync.WaitGroup
	come := make(chan struct{}, 1)
	begun := make(chan beginning, 2)
	copyOut := func(r io.Reader, kind framing.Kind) { u.copyOut(r, kind, begun, come) }
	streams.Go(func() { copyOut(stream, framing.Stdout) })
	streams.Go(func() { copyOut(stream.Stderr(), framing.Stderr) })
	eof := make(chan struct{})
	printed.Go(func() { streams.Wait(); close(eof) })
	one, two := <-begun, <-begun
	refused := cmp.Or(one.err, two.err)
	if refused == nil && !(one.ok && two.ok) {
		refused = notBegun(cmp.Or(one.noise, two.noise))
	}
	close(u.known)
	if refused == nil {
		if x.ready != nil {
			x.ready.Stop()
		}
		x.mu.Lock()
		x.started = true
		close(x.begun)
		x.mu.Unlock()
		if x.cmd.Stdin != nil {
			go u.feed(stream) // ends with the input, or the stream
		}
	}
	exit, err := stream.Wait()
	for quiet := time.NewTimer(unframedQuiet); ; quiet.Reset(unframedQuiet) {
		select {
		case <-come:
			continue
		case <-quiet.C:
		case <-eof:
		}
		quiet.Stop()
		break
	}
	u.close()
	printed.Wait()
	switch {
	case refused != nil && err == nil:
		x.mu.Lock()
		x.sent = false // the shell says that it has not begun
		x.mu.Unlock()
		x.fail(StatusUnreachable, "shell", refused)
	case err != nil:
		x.streamEnded(err, nil)
	default:
		x.endedBy(exit.Code, exit.Signal, "")
	}
}

// beginning is what a stream said of the command's: that it has begun, why not, or something else before the stream ended.
type beginning struct {
	ok    bool
	err   error
	noise string
}

// copyOut passes on one stream, without its preamble. It tells begun once how that was.
func (u *unframed) copyOut(r io.Reader, kind framing.Kind, begun chan<- beginning, come chan<- struct{}) {
	pre := framing.NewPreamble(u.nonce)
	told := false
	tell := func(b beginning) {
		if !told {
			told = true
			begun <- b
		}
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		data := buf[:n]
		if !told {
			own, began, perr := pre.Feed(data)
			if data = own; began {
				u.begins(pre.PID())
			}
			if began || perr != nil {
				tell(beginning{ok: began, err: perr})
			}
		}
		if len(data) > 0 {
			u.x.output(framing.Event{Kind: kind, Data: data})
		}
		if n > 0 {
			select {
			case come <- struct{}{}:
			default:
			}
		}
		if err != nil {
			tell(beginning{noise: pre.Noise()})
			return
		}
	}
}

func (u *unframed) begins(pid int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pid = pid
}

// notBegun says in the host's own words why a command did not begin.
func notBegun(noise string) error {
	said := printable.Heard(noise, 200)
	if said == "" {
		return errors.New("the host ended the command before it began")
	}
	return fmt.Errorf("the host ended the command before it began; it printed %q%s", said, loginHint(said))
}

// feed passes standard input on.
func (u *unframed) feed(stream seam.Piped[Exit]) {
	buf := make([]byte, feedPiece)
	for {
		n, err := u.x.cmd.Stdin.Read(buf)
		if n > 0 {
			u.mu.Lock()
			closed := u.closed
			if !closed {
				u.sent += int64(n)
				u.sum.Write(buf[:n])
			}
			u.mu.Unlock()
			if closed || typeAll(stream, buf[:n]) != nil {
				return // the command reads no more, or has ended
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = stream.CloseWrite()
			return
		case err != nil:
			u.x.inputFailed(err)
			return
		}
	}
}

// given is how much standard input the command was given.
func (u *unframed) given() (sent int64, sum string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	return u.sent, hex.EncodeToString(u.sum.Sum(nil))
}

// close hangs up.
func (u *unframed) close() {
	u.mu.Lock()
	u.closed = true
	stream := u.stream
	u.mu.Unlock()
	if stream != nil {
		stream.Close()
	}
}

// climb is the ladder of a command without a terminal: every step is a signal to its shell and to all that this has started,
// through a second program. After the last one the command may go on.
func (u *unframed) climb() {
	x := u.x
	if grace := x.s.cfg.Grace; grace > 0 {
		for _, name := range []string{"INT", "TERM", "KILL"} {
			x.tried(name)
			if u.signal(name, max(grace, signalTimeout)) && (x.endsWithin(grace) || x.drains(grace)) {
				return
			}
		}
	}
	x.tried("shell")
	u.close()
}

// signal reports whether the signal was sent. limit bounds it.
func (u *unframed) signal(name string, limit time.Duration) (sent bool) {
	x := u.x
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	select {
	case <-u.known:
	case <-ctx.Done():
		return false
	}
	u.mu.Lock()
	pid := u.pid
	u.mu.Unlock()
	if pid == 0 {
		return false
	}
	x.during(func() {
		line := framing.SignalTree(pid, name)
		run := func(t Transport) (err error) {
			sent, err = runPiped(ctx, t, line, pid)
			return err
		}
		err := run(x.s.transport())
		if errors.Is(err, ErrFull) && x.s.pool != nil { // the process is the same on any connection
			if release, err := x.s.elsewhere(ctx, x.wantOnce(), run); err == nil {
				release()
			}
		}
	})
	return sent
}

// runPiped runs a line that says for ParseSignaled what it has done.
func runPiped(ctx context.Context, t Transport, line string, pid int) (sent bool, err error) {
	p, ok := t.(seam.Unframed[Exit])
	if !ok {
		return false, errNoConn
	}
	stream, err := p.Unframed(ctx, line)
	if err != nil {
		return false, err
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	var drained sync.WaitGroup
	defer drained.Wait()
	drained.Go(func() { _, _ = io.Copy(io.Discard, stream.Stderr()) })
	_ = stream.CloseWrite()
	said, _ := io.ReadAll(io.LimitReader(stream, 1<<16))
	stream.Close()
	return framing.ParseSignaled(string(said), pid).Done, nil
}
