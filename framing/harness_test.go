package framing_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// shells are the ones that every property is proved on, by the names that a Shell takes.
var shells = []string{"bash", "zsh", "dash", "ash", "ksh"}

// have returns the path of a program that the tests want to be real. In CI its absence is a failure.
func have(t testing.TB, name string) string {
	t.Helper()
	if name == "ash" {
		name = "busybox"
	}
	path, err := exec.LookPath(name)
	if err != nil && name == "ksh" {
		path, err = exec.LookPath("mksh")
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// shell is a real shell on a real terminal.
type shell struct {
	t      testing.TB
	tty    *os.File
	dec    *framing.Decoder
	hello  framing.Hello
	cmd    *exec.Cmd
	trace  bool
	cooked bool
	chunk  int // bytes per read; 0 means as many as there are
}

// outcome is all that a frame gave.
type outcome struct {
	stdout, stderr, stray string
	trailer               framing.Trailer
	exit                  *framing.Exit
}

func start(t testing.TB, sh framing.Shell) *shell {
	t.Helper()
	have(t, sh.Name)
	nonce := framing.NewToken()
	cmd := exec.Command("/bin/sh", "-c", framing.Loader(nonce))
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh")
	tty, err := pty.Start(cmd)
	require.NoError(t, err)
	tty = nonblocking(t, tty)
	s := &shell{t: t, tty: tty, cmd: cmd}
	t.Cleanup(func() {
		tty.Close()
		cmd.Wait()
	})
	text, err := framing.Bootstrap(nonce, sh)
	require.NoError(t, err)
	up := framing.NewStartup(nonce)
	for s.dec == nil {
		p, err := s.read()
		require.NoErrorf(t, err, "the shell printed %q", up.Noise())
		loaded, h, d, err := up.Feed(p)
		require.NoError(t, err)
		if loaded {
			s.write(text)
		}
		s.hello, s.dec = h, d
	}
	return s
}

// nonblocking makes deadlines work: pty.Start leaves the descriptor in blocking mode.
func nonblocking(t testing.TB, f *os.File) *os.File {
	fd, err := syscall.Dup(int(f.Fd()))
	require.NoError(t, err)
	require.NoError(t, syscall.SetNonblock(fd, true))
	f.Close()
	return os.NewFile(uintptr(fd), "terminal")
}

var errSilent = errors.New("nothing came for ten seconds")

func (s *shell) read() ([]byte, error) {
	n := s.chunk
	if n == 0 {
		n = 1 << 16
	}
	buf := make([]byte, n)
	if err := s.tty.SetReadDeadline(time.Now().Add(4 * time.Second)); err != nil {
		return nil, err
	}
	k, err := s.tty.Read(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSilent
	}
	return buf[:k], err
}

func (s *shell) write(p []byte) {
	_, err := s.tty.Write(p)
	require.NoError(s.t, err)
}

// send types a frame.
func (s *shell) send(cmd framing.Command) {
	s.t.Helper()
	cmd.Trace = s.trace
	tok := framing.NewToken()
	text, err := framing.Append(nil, s.hello.Dialect, tok, cmd)
	require.NoError(s.t, err)
	s.dec.Expect(tok)
	// A writer of its own: a long script and a shell that already answers would wait for each other.
	go s.tty.Write(text)
}

// run sends a command and waits for its end or the shell's.
func (s *shell) run(script string) outcome {
	s.t.Helper()
	if s.cooked {
		s.send(framing.Command{Script: framing.Repair, Mode: framing.Tty})
		s.wait()
		s.cooked = false
	}
	s.send(framing.Command{Script: script})
	return s.wait()
}

func (s *shell) wait() outcome {
	s.t.Helper()
	var o outcome
	var out, errs, stray strings.Builder
	for {
		for {
			ev, ok := s.dec.Next()
			if !ok {
				break
			}
			switch ev.Kind {
			case framing.Stdout:
				out.Write(ev.Data)
			case framing.Stderr:
				errs.Write(ev.Data)
			case framing.Stray:
				stray.Write(ev.Data)
			case framing.Broken:
				s.t.Fatalf("broken: %v", ev.Err)
			case framing.Ended:
				o.trailer = ev.Trailer
				s.trace = ev.Trailer.Trace
				s.cooked = ev.Trailer.Cooked
			case framing.Exited:
				o.exit = &ev.Exit
			}
			if ev.Kind == framing.Ended || ev.Kind == framing.Exited {
				o.stdout, o.stderr, o.stray = out.String(), errs.String(), stray.String()
				return o
			}
		}
		p, err := s.read()
		require.NoErrorf(s.t, err, "stdout %.200q, stderr %.200q, stray %.200q", out.String(), errs.String(), stray.String())
		s.dec.Feed(p)
	}
}
