package framing_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"hash/crc32"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// shells are the ones that every property is proved on, by the names that a Shell takes.
var shells = []string{"bash", "zsh", "dash", "ash", "ksh", "mksh"}

// have returns the path of a program that the tests want to be real. In CI its absence is a failure.
func have(t testing.TB, name string) string {
	t.Helper()
	if name == "ash" {
		name = "busybox"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// haveReader is have for what keeps the streams apart; the shell's own loop is always there.
func haveReader(t testing.TB, reader string) {
	t.Helper()
	if reader != "" && reader != "lines" {
		have(t, reader)
	}
}

// installed are the shells that this machine has. In CI that is all of them.
func installed(t testing.TB) (all []string) {
	t.Helper()
	for _, name := range shells {
		program := map[string]string{"ash": "busybox"}[name]
		if _, err := exec.LookPath(cmp.Or(program, name)); err == nil || os.Getenv("CI") == "true" {
			all = append(all, name)
		}
	}
	return all
}

// room bounds how many shells live at once, on a machine with many cores too.
var room = make(chan struct{}, 8)

// shell is a real shell on a real terminal.
type shell struct {
	t      testing.TB
	tty    *os.File
	dec    *framing.Decoder
	hello  framing.Hello
	cmd    *exec.Cmd
	nonce  framing.Token
	tokens []framing.Token // of all frames, the last one last
	wire   *bytes.Buffer   // if set, a copy of all that the terminal prints
	trace  bool
	cooked bool
	ended  bool // it said so
	chunk  int  // bytes per read; 0 means as many as there are
	buf    []byte
	close  func() // hangs up; a test that starts many shells calls it between them
}

// outcome is all that a frame gave.
type outcome struct {
	stdout, stderr, stray string
	trailer               framing.Trailer
	exit                  *framing.Exit
}

// account is how a login reaches a shell: what sshd would start, and the environment that it would give.
type account struct {
	login []string // the login shell and its option for a command; nil is sh -c
	env   []string // nil is the environment of the test

	record bool // keep all that the terminal prints
}

func start(t testing.TB, sh framing.Shell) *shell {
	t.Helper()
	have(t, sh.Name)
	return startAs(t, account{}, sh)
}

func startAs(t testing.TB, acc account, sh framing.Shell) *shell {
	t.Helper()
	haveReader(t, sh.Reader)
	s, err := tryStart(t, acc, sh)
	require.NoError(t, err)
	return s
}

// endTime is much more than the end of a shell takes on a machine that is busy.
const endTime = 3 * time.Minute

// tryStart returns the error that a host reports instead of starting a shell.
func tryStart(t testing.TB, acc account, sh framing.Shell) (*shell, error) {
	t.Helper()
	nonce := framing.NewToken()
	if acc.login == nil {
		acc.login = []string{"/bin/sh", "-c"}
	}
	if acc.env == nil {
		acc.env = append(os.Environ(), "SHELL=/bin/sh")
	}
	cmd := exec.Command(acc.login[0], append(slices.Clone(acc.login[1:]), framing.Loader(nonce))...)
	cmd.Env = acc.env
	room <- struct{}{}
	tty, err := pty.Start(cmd)
	if err != nil {
		<-room
	}
	require.NoError(t, err)
	tty = nonblocking(t, tty)
	s := &shell{t: t, tty: tty, cmd: cmd, nonce: nonce}
	if acc.record {
		s.wire = new(bytes.Buffer)
	}
	s.close = sync.OnceFunc(func() {
		tty.Close()
		late := time.AfterFunc(endTime, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		cmd.Wait()
		if !late.Stop() {
			t.Errorf("what ran at a terminal was there %v after that had gone, and was killed", endTime)
		}
		<-room
	})
	t.Cleanup(s.close)
	text, err := framing.Bootstrap(nonce, sh)
	require.NoError(t, err)
	up := framing.NewStartup(nonce)
	for s.dec == nil {
		p, err := s.read()
		require.NoErrorf(t, err, "the shell printed %q", up.Noise())
		loaded, h, d, err := up.Feed(p)
		if err != nil {
			return nil, err
		}
		if loaded && up.Python() {
			text, err = framing.BootstrapPython(nonce, sh)
			require.NoError(t, err)
		}
		if loaded {
			s.write(text)
		}
		s.hello, s.dec = h, d
	}
	return s, nil
}

// nonblocking makes deadlines work: pty.Start leaves the descriptor in blocking mode.
func nonblocking(t testing.TB, f *os.File) *os.File {
	// A terminal that another test's process inherits would never be hung up.
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	require.NoError(t, syscall.SetNonblock(fd, true))
	f.Close()
	return os.NewFile(uintptr(fd), "terminal")
}

// both are the readers that keep every byte; allReaders is all there are.
var (
	both       = []string{"perl", "hexdump"}
	allReaders = []string{"perl", "hexdump", "lines"}
)

// every has eachShell leave nothing out.
var every = flag.Bool("framing.every", false, "run every test on every shell with every reader")

// meet reports whether a test is for that pair. With perl, which most hosts have, all shells take each test: the drivers are what
// differs most. With another reader two of the six do, others in each test, so that every pair has its share of all there is to try.
// The race detector looks at the decoder, which is the same with all: under it half as many do.
func meet(test, name, reader string) bool {
	turn := slices.Index(shells, name) + int(crc32.ChecksumIEEE([]byte(test))%6) + slices.Index(allReaders, reader)
	switch {
	case *every:
		return true
	case reader == "perl":
		return !needs.Sample || turn%2 == 0
	case needs.Sample:
		return turn%6 == 0
	}
	return turn%3 == 0
}

// eachShell runs f on the shells with the readers, side by side.
func eachShell(t *testing.T, readers []string, f func(t *testing.T, sh framing.Shell)) {
	t.Parallel()
	for _, name := range shells {
		for _, reader := range readers {
			if !meet(t.Name(), name, reader) {
				continue
			}
			t.Run(name+"/"+reader, func(t *testing.T) {
				have(t, name)
				haveReader(t, reader)
				t.Parallel()
				f(t, framing.Shell{Name: name, Reader: reader})
			})
		}
	}
}

// tries reports whether case i of a long table is for that shell: all of them with perl, which most hosts have, and one of
// three with another reader. Under the race detector it is one of four.
func tries(i int, sh framing.Shell) bool {
	turn := i + slices.Index(shells, sh.Name)
	switch {
	case needs.Sample:
		return turn%4 == 0
	case sh.Reader != "perl" && !*every:
		return turn%3 == 0
	}
	return true
}

var errSilent = errors.New("nothing came for a minute")

// read returns what the terminal prints next. It is valid until the next call.
func (s *shell) read() ([]byte, error) {
	if s.buf == nil {
		s.buf = make([]byte, 1<<16)
	}
	buf := s.buf
	if s.chunk > 0 {
		buf = buf[:s.chunk]
	}
	if err := s.tty.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	k, err := s.tty.Read(buf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSilent
	}
	if s.wire != nil {
		s.wire.Write(buf[:k])
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
	s.tokens = append(s.tokens, tok)
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

// ok runs a command that prepares something: it must succeed and print nothing.
func (s *shell) ok(script string) {
	s.t.Helper()
	o := s.run(script)
	require.Nil(s.t, o.exit, script)
	require.Equal(s.t, outcome{trailer: framing.Trailer{Dir: o.trailer.Dir}}, o, script)
}

// output runs a command that must succeed, and returns its standard output.
func (s *shell) output(script string) string {
	s.t.Helper()
	o := s.run(script)
	require.Nil(s.t, o.exit, script)
	require.Equal(s.t, 0, o.trailer.ExitCode, "%s: %q %q", script, o.stdout, o.stderr)
	require.Empty(s.t, o.stderr, script)
	require.Empty(s.t, o.stray, script)
	return o.stdout
}

func (s *shell) wait() outcome {
	s.t.Helper()
	return s.waitSeeing(func(framing.Event) bool { return true })
}

// waitSeeing waits for the frame's end and shows every event to see; when that reports false, it is no longer pending.
func (s *shell) waitSeeing(see func(framing.Event) bool) outcome {
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
				o.exit, s.ended = &ev.Exit, true
			}
			if !see(ev) || ev.Kind == framing.Ended || ev.Kind == framing.Exited {
				o.stdout, o.stderr, o.stray = out.String(), errs.String(), stray.String()
				return o
			}
		}
		p, err := s.read()
		if err != nil {
			s.t.Fatalf("%v; stdout %.200q, stderr %.200q, stray %.200q; its processes:\n%s", err, out.String(), errs.String(), stray.String(), states(s.cmd.Process.Pid))
		}
		s.dec.Feed(p)
	}
}
