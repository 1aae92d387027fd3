package held_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// shell is a real shell on a real terminal.
type shell struct {
	t     testing.TB
	tty   *os.File
	hello framing.Hello
	dec   *framing.Decoder
	told  []string // of refused calls
	close func()   // hangs up and waits for the supervisor
}

// supervisors are what holds a shell on a host.
var supervisors = []string{"perl", "python3"}

// by makes spec a shell that one of the supervisors holds: python3 does where the PATH has no perl.
func by(t testing.TB, supervisor string, spec framing.Shell) framing.Shell {
	t.Helper()
	if supervisor == "python3" {
		spec.Env = append(slices.Clip(spec.Env), "PATH="+withoutPerl(t))
	}
	return spec
}

// supervisor is the program of the parent of a shell; "" where that lets nobody of the account look into it.
func (s *shell) supervisor(t testing.TB) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.hello.PID))
	require.NoError(t, err)
	parent := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))[2] // proc_pid_stat(5)
	path, err := os.Readlink("/proc/" + parent + "/exe")
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return ""
	}
	require.NoError(t, err)
	return filepath.Base(path)
}

// isOf checks which program the parent is, where that can be seen.
func (s *shell) isOf(t testing.TB, supervisor string) {
	t.Helper()
	if name := s.supervisor(t); name != "" {
		assert.Contains(t, name, strings.TrimSuffix(supervisor, "3"))
	}
}

// python is a python3 that any account can run: not what a version manager puts before it. FAIRLEAD_PYTHON3 names another one.
func python(t testing.TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("FAIRLEAD_PYTHON3"), "/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	needs.Part(t, "python3 is not installed")
	return ""
}

// made is the directory that programs has made.
var made string

// programs is a directory with links to all programs but perl.
var programs = sync.OnceValues(func() (dir string, err error) {
	// Not TempDir: other accounts cannot look into that, and one test after another uses it.
	if dir, err = os.MkdirTemp("/tmp", "fairlead-programs-"); err != nil {
		return "", err
	}
	made = dir
	if err = os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		all, _ := os.ReadDir(from)
		for _, e := range all {
			if name := e.Name(); !strings.HasPrefix(name, "perl") && !strings.HasPrefix(name, "python") {
				os.Symlink(filepath.Join(from, name), filepath.Join(dir, name)) // the first one counts
			}
		}
	}
	return dir, nil
})

// withoutPerl is the PATH of a host that has python3 and no perl.
func withoutPerl(t testing.TB) string {
	t.Helper()
	python := python(t)
	dir, err := programs()
	require.NoError(t, err)
	if err := os.Symlink(python, filepath.Join(dir, "python3")); !errors.Is(err, fs.ErrExist) {
		require.NoError(t, err)
	}
	return dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		os.RemoveAll(made)
	}
	os.Exit(code)
}

// silence is how long a shell may say nothing before a test fails.
const silence = 2 * time.Minute

// start starts a shell as the user who is given; nil is the one who runs the tests. The error is the host's.
func start(t testing.TB, spec framing.Shell, as *syscall.Credential) (*shell, error) {
	t.Helper()
	return startWith(t, spec, as, nil)
}

// startWith is start where the shell inherits a file as descriptor 3, if there is one.
func startWith(t testing.TB, spec framing.Shell, as *syscall.Credential, inherited *os.File) (*shell, error) {
	t.Helper()
	nonce := framing.NewToken()
	cmd := exec.Command("/bin/sh", "-c", framing.Loader(nonce))
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh")
	cmd.Dir = "/"
	if inherited != nil {
		cmd.ExtraFiles = []*os.File{inherited}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: as}
	tty, err := pty.StartWithAttrs(cmd, nil, cmd.SysProcAttr)
	require.NoError(t, err)
	// A descriptor in blocking mode, which pty gives, knows no deadlines.
	fd, err := syscall.Dup(int(tty.Fd()))
	require.NoError(t, err)
	syscall.CloseOnExec(fd)
	require.NoError(t, syscall.SetNonblock(fd, true))
	tty.Close()
	s := &shell{t: t, tty: os.NewFile(uintptr(fd), "terminal")}
	s.close = sync.OnceFunc(func() {
		s.tty.Close()
		cmd.Wait()
	})
	t.Cleanup(s.close)
	text, err := framing.Bootstrap(nonce, spec)
	require.NoError(t, err)
	up := framing.NewStartup(nonce)
	for s.dec == nil {
		p, err := s.read()
		require.NoErrorf(t, err, "it printed %q", up.Noise())
		loaded, h, d, err := up.Feed(p)
		if err != nil {
			return nil, err
		}
		if loaded && up.Python() {
			text, err = framing.BootstrapPython(nonce, spec)
			require.NoError(t, err)
		}
		if loaded {
			_, err := s.tty.Write(text)
			require.NoError(t, err)
		}
		s.hello, s.dec = h, d
	}
	return s, nil
}

func (s *shell) read() ([]byte, error) {
	buf := make([]byte, 1<<16)
	if err := s.tty.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return nil, err
	}
	n, err := s.tty.Read(buf)
	return buf[:n], err
}

// outcome is what a command gave. A shell that ended with it is gone.
type outcome struct {
	stdout, stderr string
	code           int
	gone           bool
}

// run runs a command to its end.
func (s *shell) run(script string) (o outcome) {
	s.t.Helper()
	tok := framing.NewToken()
	text, err := framing.Append(nil, s.hello.Dialect, tok, framing.Command{Script: script})
	require.NoError(s.t, err)
	s.dec.Expect(tok)
	go s.tty.Write(text)
	var out, errs bytes.Buffer
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
			case framing.Refused:
				s.told = append(s.told, string(ev.Data))
			case framing.Broken:
				s.t.Fatalf("broken: %v", ev.Err)
			case framing.Ended:
				return outcome{out.String(), errs.String(), ev.Trailer.ExitCode, false}
			case framing.Exited:
				return outcome{out.String(), errs.String(), ev.Exit.Code, true}
			}
		}
		p, err := s.read()
		if err != nil {
			s.t.Fatalf("%v; %q %q of %.100q", err, out.String(), errs.String(), script)
		}
		s.dec.Feed(p)
	}
}

// program is what a shell's name stands for.
func program(name string) string {
	return strings.Replace(name, "ash", "busybox", map[bool]int{true: 1}[name == "ash"])
}
