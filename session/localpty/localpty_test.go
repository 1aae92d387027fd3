//go:build unix

package localpty_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLocalShellKeepsTheContractOfATransport(t *testing.T) {
	sessiontest.RunTransport(t, func(t *testing.T) session.Transport {
		tr, err := localpty.New(localpty.Config{})
		require.NoError(t, err)
		return tr
	})
}

func TestACommandThatYieldsAShellIsTypedAt(t *testing.T) {
	for name, argv := range map[string][]string{
		"sh":            {"sh"},
		"a shell in sh": {"sh", "-c", "exec sh"},
		"bash":          {"bash", "--norc", "--noprofile"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				needs.Part(t, "%s is not installed", argv[0])
			}
			tr := local(t, localpty.Config{Command: argv})
			s, err := tr.Open(t.Context(), session.Program{Line: `printf 'a%sb\n' "$TERM"; exec sh -c 'read -r x; exit "$x"'`, Term: "vt100"})
			require.NoError(t, err)
			until(t, s, "avt100b")
			_, err = s.Write([]byte("5\n"))
			require.NoError(t, err)
			_, err = io.ReadAll(s)
			require.NoError(t, err)
			exit, err := s.Wait()
			require.NoError(t, err)
			assert.Equal(t, session.Exit{Code: 5}, exit)
			require.NoError(t, s.Close())
		})
	}
}

// Line editors take lines of a limited length, or print them again for each key.
func TestALongLineReachesEveryShellThatACommandYieldsAndOnlyItsOutputComesBack(t *testing.T) {
	for _, argv := range [][]string{{"bash"}, {"busybox", "ash"}, {"dash"}, {"fish"}, {"ksh93"}, {"mksh"}, {"tcsh"}, {"zsh"}} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				needs.Part(t, "%s is not installed", argv[0])
			}
			home := t.TempDir()
			tr := local(t, localpty.Config{Command: argv, Dir: home, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}})
			for _, times := range []int{40, 2000} {
				long := strings.Repeat("\tx ", times)
				s, err := tr.Open(t.Context(), session.Program{Line: "exec sh -c 'x=\"" + long + "\"\nprintf \"be%s%s%s\" gin \"$x\" \"$1\"; read -r x; exit \"$x\"' sh end."})
				require.NoError(t, err)
				assert.Equal(t, "begin"+long, until(t, s, "end."), "no banner, prompt or echo")
				_, err = s.Write([]byte("5\n"))
				require.NoError(t, err)
				_, err = io.ReadAll(s)
				require.NoError(t, err)
				exit, err := s.Wait()
				require.NoError(t, err)
				assert.Equal(t, session.Exit{Code: 5}, exit)
				require.NoError(t, s.Close())
			}
		})
	}
}

func TestACommandThatTakesNoInputEndsWithTheContext(t *testing.T) {
	tr := local(t, localpty.Config{Command: []string{"sleep", "600"}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := tr.Open(ctx, session.Program{Line: "secret" + strings.Repeat("x", 1<<20)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotContains(t, err.Error(), "secret")
}

func TestACommandThatDoesNotExistIsNamed(t *testing.T) {
	tr := local(t, localpty.Config{Command: []string{"no-such-program", "argument"}})
	_, err := tr.Open(t.Context(), session.Program{Line: "secret"})
	require.ErrorIs(t, err, exec.ErrNotFound)
	assert.ErrorContains(t, err, "localpty: no-such-program does not start")
	assert.NotContains(t, err.Error(), "secret")
	_, err = local(t, localpty.Config{}).Open(t.Context(), session.Program{})
	assert.ErrorContains(t, err, "needs a command line")
	_, err = localpty.New(localpty.Config{Command: []string{}})
	assert.ErrorContains(t, err, "is empty")
}

func TestAProgramThatIgnoresTheHangUpIsKilledAndReaped(t *testing.T) {
	tr := local(t, localpty.Config{Grace: -1})
	s, err := tr.Open(t.Context(), session.Program{Line: `trap '' HUP; printf '%s.' $$; while :; do sleep 600; done`})
	require.NoError(t, err)
	pid, err := strconv.Atoi(until(t, s, "."))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	exit, err := s.Wait()
	require.NoError(t, err)
	assert.Equal(t, session.Exit{Signal: "KILL"}, exit)
	process, err := os.FindProcess(pid)
	require.NoError(t, err)
	assert.Error(t, process.Signal(syscall.Signal(0)), "not even a zombie is left")
}

func TestTheEnvironmentIsTheProcesssUnlessOneIsGiven(t *testing.T) {
	t.Setenv("FAIRLEAD_TEST", "inherited")
	t.Setenv("TERM", "ansi")
	print := session.Program{Line: `printf '%s %s %s.' "$FAIRLEAD_TEST" "$OTHER" "$TERM"`}
	for name, c := range map[string]struct {
		cfg  localpty.Config
		want string
	}{
		"inherited": {localpty.Config{}, "inherited  dumb"},
		"given":     {localpty.Config{Env: []string{"OTHER=own", "PATH=" + os.Getenv("PATH")}}, " own dumb"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := local(t, c.cfg).Open(t.Context(), print)
			require.NoError(t, err)
			assert.Equal(t, c.want, until(t, s, "."))
		})
	}
}

func TestDialTakesHostsOfThisMachineOnly(t *testing.T) {
	tr, err := localpty.Dial(t.Context(), hosts.Host{Name: "here", Transport: hosts.Local})
	require.NoError(t, err)
	require.NoError(t, tr.Close())
	tr, err = localpty.Dial(t.Context(), hosts.Host{Name: "box", Transport: hosts.Command, Command: []string{"sh"}})
	require.NoError(t, err)
	require.NoError(t, tr.Close())
	_, err = localpty.Dial(t.Context(), hosts.Host{Name: "box", Transport: hosts.Command})
	assert.ErrorContains(t, err, "box has the transport \"command\" but no command")
	_, err = localpty.Dial(t.Context(), hosts.Host{Name: "web1"})
	assert.ErrorContains(t, err, "web1 is not reached on this machine")
}

// A command without a directory of its own means the same, whichever process sends it.
func TestDialedLocalShellsStartInTheHomeDirectory(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for value, want := range map[string]string{home: home, filepath.Join(home, "nosuch"): "/", "": "/"} {
		t.Setenv("HOME", value)
		tr, err := localpty.Dial(t.Context(), hosts.Host{Name: "here", Transport: hosts.Local})
		require.NoError(t, err)
		s, err := tr.Open(t.Context(), session.Program{Line: "printf %s. \"$(pwd -P)\""})
		require.NoError(t, err)
		assert.Equal(t, want, until(t, s, "."))
		s.Close()
		require.NoError(t, tr.Close())
	}
}

func local(t *testing.T, cfg localpty.Config) session.Transport {
	t.Helper()
	tr, err := localpty.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr
}

// until reads s until mark has appeared, and returns what came before it.
func until(t *testing.T, s session.Stream, mark string) string {
	t.Helper()
	var got []byte
	one := make([]byte, 1)
	for !strings.HasSuffix(string(got), mark) {
		n, err := s.Read(one)
		require.NoError(t, err, "%q never came, but %q", mark, got)
		got = append(got, one[:n]...)
	}
	return strings.TrimSuffix(string(got), mark)
}
