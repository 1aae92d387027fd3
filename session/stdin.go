package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// feed is a command's standard input on its way: a program on the host, on a stream of its own, that passes it into a
// named pipe.
type feed struct {
	x       *Exec
	src     io.Reader
	stream  Stream
	f       framing.Feeder
	release func() // gives back a connection that was borrowed for it

	mu     sync.Mutex // guards what follows
	sent   int64
	sum    hash.Hash
	closed bool
}

// openFeed starts the program, without perl where that does not start. ctx bounds that.
func (s *Session) openFeed(ctx context.Context, x *Exec, noPerl bool) (*feed, error) {
	nonce := framing.NewToken()
	stream, release, err := s.second(ctx, Program{Line: framing.Loader(nonce)}, x.wantOnce())
	if err != nil {
		return nil, fmt.Errorf("standard input needs a second program on the connection: %w", err)
	}
	ctx, cancel := boundAfter(ctx, stream)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	f, err := readyFeed(stream, nonce, noPerl)
	if !stop() && ctx.Err() != nil {
		err = ctxerr.Of(ctx)
	}
	if err != nil {
		stream.Close()
		release()
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return &feed{x: x, src: x.cmd.Stdin, stream: stream, f: f, release: release, sum: sha256.New()}, nil
}

func readyFeed(stream Stream, nonce framing.Token, noPerl bool) (framing.Feeder, error) {
	up := framing.NewStartup(nonce)
	var early, said []byte // before the program's text was sent, and after
	buf := make([]byte, 4096)
	loaded := false
	for len(said) < 1<<16 {
		n, err := stream.Read(buf)
		if !loaded {
			early = append(early, buf[:min(n, 4096-len(early))]...)
			ok, _, _, uperr := up.Feed(buf[:n])
			if uperr != nil {
				return framing.Feeder{}, uperr
			}
			if ok {
				loaded = true
				if err := typeText(stream, framing.FeedScript(nonce, noPerl)); err != nil {
					return framing.Feeder{}, endedEarly(nil)
				}
			}
		} else {
			said = append(said, buf[:n]...)
			f, ready, failed := framing.Feeding(said, nonce)
			if failed {
				return f, errors.New("the host can make no named pipe for it: that takes mkdir, mkfifo, and a directory that can be written (TMPDIR, /tmp, /dev/shm, /var/tmp or the home directory). fairlead ssh passes it on without one")
			}
			if ready {
				return f, nil
			}
		}
		if err != nil {
			if !loaded {
				said = early
			}
			return framing.Feeder{}, endedEarly(said)
		}
	}
	return framing.Feeder{}, errors.New("the host printed too much before the program was ready")
}

// endedEarly is the error of a program that ended, with what it printed: such as that no process could be started.
func endedEarly(said []byte) error {
	text := printable.Heard(strings.TrimSpace(string(said)), 200)
	if text == "" {
		return errors.New("the host closed the program before it was ready")
	}
	return fmt.Errorf("the host closed the program before it was ready; it printed %q", text)
}

// second starts a program beside the session's shell: on its connection, or, where that has no room, on another one of
// the session's pool.
func (s *Session) second(ctx context.Context, p Program, w want) (Stream, func(), error) {
	t := s.transport()
	if t == nil {
		return nil, nil, errNoConn
	}
	stream, err := s.held(t).Open(ctx, p)
	if s.roomFor(err) {
		stream, err = s.held(t).Open(ctx, p)
	}
	if err == nil || s.pool == nil || !errors.Is(err, ErrFull) {
		return stream, func() {}, err
	}
	release, err := s.elsewhere(ctx, w, func(t Transport) (err error) {
		stream, err = s.held(t).Open(ctx, p)
		return err
	})
	return stream, release, err
}

// runBeside runs a line of the framing's on the host, beside the session's shell, and returns what it prints; "" where that cannot be.
// ctx bounds it.
func (s *Session) runBeside(ctx context.Context, line string, place want) string {
	stream, release, err := s.second(ctx, Program{Line: line}, place) // processes are the same on any connection
	if err != nil {
		return ""
	}
	defer release()
	defer stream.Close()
	defer context.AfterFunc(ctx, func() { stream.Close() })()
	said, _ := io.ReadAll(io.LimitReader(stream, 1<<16))
	return string(said)
}

// feedPiece is how much is read from the caller at once.
const feedPiece = 32 << 10

// run passes the caller's bytes on, once the command has opened the pipe. It ends with the input, or when the stream is
// closed. It is a goroutine of its own: a caller's reader that blocks may keep it past the command's end.
func (f *feed) run() {
	if _, err := io.WriteString(f.stream, framing.Go); err != nil {
		return
	}
	go io.Copy(io.Discard, f.stream) // nothing comes; ends with the stream
	buf := make([]byte, feedPiece)
	var piece []byte
	for {
		n, err := f.src.Read(buf)
		if n > 0 {
			piece = f.f.AppendPiece(piece[:0], buf[:n])
			if !f.count(buf[:n]) || typeAll(f.stream, piece) != nil {
				return // the command reads no more, or has ended
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			typeAll(f.stream, f.f.AppendPiece(piece[:0], nil))
			return
		case err != nil:
			f.x.inputFailed(err)
			return
		}
	}
}

func typeAll(w io.Writer, p []byte) error {
	_, err := w.Write(p)
	return err
}

// count notes what is about to leave; false once the command has ended.
func (f *feed) count(p []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.sent += int64(len(p))
	f.sum.Write(p)
	return true
}

// close ends the program on the host, and says how much was given to it.
func (f *feed) close() (sent int64, sum string) {
	f.mu.Lock()
	f.closed = true
	sent, sum = f.sent, hex.EncodeToString(f.sum.Sum(nil))
	f.mu.Unlock()
	f.stream.Close()
	f.release()
	return sent, sum
}

// inputFailed stops a command whose input cannot be read to its end: what it got is not what was meant.
func (x *Exec) inputFailed(err error) {
	x.mu.Lock()
	x.inErr = err
	x.mu.Unlock()
	x.stop(StatusError)
}
