package iostreams

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// hushEnv makes this program one that is quiet until it is terminated.
const hushEnv = "FAIRLEAD_TEST_HUSH"

func TestMain(m *testing.M) {
	if os.Getenv(hushEnv) != "" {
		hushUntilTerminated()
		return
	}
	os.Exit(m.Run())
}

func hushUntilTerminated() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, unix.SIGTERM, unix.SIGINT)
	loud := System(os.Getenv).Hush()
	fmt.Printf("READY %d\n", os.Getpid())
	<-end
	if os.Getenv(hushEnv) == "abort" {
		Unhush()
		os.Exit(3)
	}
	loud()
}

// screen is what a terminal shows.
type shown struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func TestWhatIsTypedWhileACommandRunsIsNeitherShownNorLeft(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("bash is not installed")
		}
		t.Skip("bash is not installed")
	}
	me, err := os.Executable()
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		how string
		act func(t *testing.T, tty *os.File, out *shown, pid int)
	}{
		"it ends":           {"end", func(t *testing.T, _ *os.File, _ *shown, pid int) { require.NoError(t, unix.Kill(pid, unix.SIGTERM)) }},
		"it ends at once":   {"abort", func(t *testing.T, _ *os.File, _ *shown, pid int) { require.NoError(t, unix.Kill(pid, unix.SIGTERM)) }},
		"it is interrupted": {"end", func(t *testing.T, tty *os.File, _ *shown, _ int) { tty.WriteString("\x03") }},
		"it is stopped and goes on": {"end", func(t *testing.T, tty *os.File, out *shown, pid int) {
			tty.WriteString("\x1a")
			require.Eventually(t, func() bool { return strings.Contains(out.String(), "STOPPED") }, 5*time.Second, 10*time.Millisecond, out)
			assert.NotContains(t, afterWord(out.String(), "STOPPED"), "-echo ", "the shell has its echo while it is stopped")
			require.Eventually(t, func() bool { return echoOff(t, tty) }, 5*time.Second, 10*time.Millisecond, out)
			tty.WriteString("secret again\n")
			require.NoError(t, unix.Kill(pid, unix.SIGTERM))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			script := fmt.Sprintf(`set -m; trap : INT
%s=%s %s
if [ $? -gt 145 ]; then stty -a; echo STOPPED; fg >/dev/null; fi
if read -r -t 1 line; then echo "LEFT:$line"; fi; stty -a; echo END`, hushEnv, tt.how, me)
			cmd := exec.Command(bash, "--norc", "--noprofile", "-c", script)
			tty, err := pty.Start(cmd)
			require.NoError(t, err)
			defer tty.Close()
			out := &shown{}
			read := make(chan struct{})
			go func() {
				defer close(read)
				buf := make([]byte, 1024)
				for {
					n, err := tty.Read(buf)
					out.Write(buf[:n])
					if err != nil {
						return
					}
				}
			}()
			pid := 0
			require.Eventually(t, func() bool {
				_, err := fmt.Sscanf(afterWord(out.String(), "READY"), "%d", &pid)
				return err == nil && strings.Contains(out.String(), "\n")
			}, 20*time.Second, 10*time.Millisecond, out)
			tty.WriteString("secret\nmore")
			tt.act(t, tty, out, pid)
			require.Eventually(t, func() bool { return strings.Contains(out.String(), "END") }, 30*time.Second, 10*time.Millisecond, out)
			_ = cmd.Process.Signal(syscall.SIGKILL)
			_ = cmd.Wait()
			tty.Close()
			<-read
			assert.NotContains(t, out.String(), "secret")
			assert.NotContains(t, out.String(), "more")
			assert.NotContains(t, out.String(), "LEFT")
			assert.NotContains(t, out.String(), "-echo ", "the echo is on again")
		})
	}
}

func afterWord(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	return rest
}

func echoOff(t *testing.T, tty *os.File) bool {
	now, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	require.NoError(t, err)
	return now.Lflag&unix.ECHO == 0
}

func TestHushLeavesWhatIsNoTerminalAlone(t *testing.T) {
	ios, _, _, _ := Test()
	ios.Hush()()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	New(r, w, w).Hush()()
	Unhush()
}
