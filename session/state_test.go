package session_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// everywhere runs f on every shell on this machine, and on some over every other transport.
func everywhere(t *testing.T, f func(t *testing.T, s *session.Session, shell string)) {
	for _, via := range transports {
		t.Run(via.name, func(t *testing.T) {
			t.Parallel()
			connect := dialers[via.name](t)
			for _, shell := range shellsOver(via.name) {
				t.Run(shell, func(t *testing.T) {
					needShell(t, shell)
					t.Parallel()
					s := open(t, connect(t), shell)
					f(t, s, shell)
					require.NoError(t, s.Close())
				})
			}
		})
	}
}

func succeed(t *testing.T, s *session.Session, cmd session.Command) session.Result {
	t.Helper()
	r, err := s.Run(t.Context(), cmd)
	require.NoError(t, err)
	require.Equal(t, session.StatusOK, r.Status, "%s%s", r.Stdout, r.Stderr)
	return r
}

func TestStateOutlivesTheShell(t *testing.T) {
	everywhere(t, func(t *testing.T, s *session.Session, shell string) {
		succeed(t, s, session.Command{Script: "cd /usr; export A=1 B='it'\\''s'; umask 027; unset MANPAGER; C=2; f() { :; }"})
		r, _ := s.Run(t.Context(), session.Command{Script: "exit 3"})
		assert.Equal(t, 3, *r.ExitCode)
		r = succeed(t, s, session.Command{Script: `pwd; umask; echo "$A $B ${MANPAGER-unset} ${C-unset}"; f 2>/dev/null || echo no f`})
		assert.Equal(t, []string{"/usr", "027", "1 it's unset unset", "no f"}, strings.Split(strings.TrimSpace(strings.Replace(string(r.Stdout), "0027", "027", 1)), "\n"))
		assert.True(t, r.ShellRestarted)
		assert.Equal(t, []string{"cwd", "umask", "env"}, r.Restored)
		r = succeed(t, s, session.Command{Script: "echo $A"})
		assert.Empty(t, r.Restored)
		assert.False(t, r.ShellRestarted)
		s.Run(t.Context(), session.Command{Script: "A=3; kill -9 $$"})
		r = succeed(t, s, session.Command{Script: "echo $A"})
		assert.Equal(t, "1\n", string(r.Stdout), "what was not told before the shell died is not known")
	})
}

func TestStandardInputIsExact(t *testing.T) {
	everywhere(t, func(t *testing.T, s *session.Session, shell string) {
		const piece = "\x00\x01\x03\x04\x11\x13\x1a\x1c\x1e\r\n\xff~.\n.\n 0123456789abcdef"
		for _, n := range []int{map[bool]int{true: 40_000, false: 5_000}[shell == "bash"], 5_000} { // much is the same for all shells: no part goes through them
			data := bytes.Repeat([]byte(piece), n)
			want := fmt.Sprintf("%x  -\n", sha256.Sum256(data))
			r := succeed(t, s, session.Command{Script: "sha256sum", Stdin: bytes.NewReader(data)})
			assert.Equal(t, want, string(r.Stdout))
			assert.EqualValues(t, len(data), r.StdinBytes)
			assert.Equal(t, want[:64], r.StdinSHA256)
		}
		r := succeed(t, s, session.Command{Script: "cat; echo end", Stdin: strings.NewReader("")})
		assert.Equal(t, "end\n", string(r.Stdout), "an empty input ends at once")
		r = succeed(t, s, session.Command{Script: "head -c 3", Stdin: strings.NewReader(strings.Repeat("abc", 300_000))})
		assert.Equal(t, "abc", string(r.Stdout), "a command need not read all")
		r = succeed(t, s, session.Command{Script: "read x; read y; echo \"$x-$y\"; cat", Stdin: strings.NewReader("one\ntwo\nthree")})
		assert.Equal(t, "one-two\nthree", string(r.Stdout))
		succeed(t, s, session.Command{Script: "true", Stdin: strings.NewReader("nobody reads this")})
		r = succeed(t, s, session.Command{Script: "cat; ls -d ${TMPDIR:-/tmp}/.fairlead-" + s.ID() + "* 2>/dev/null; echo ok"})
		assert.Equal(t, "ok\n", string(r.Stdout))
	})
}

func TestInputThatCannotBeReadStopsTheCommand(t *testing.T) {
	s := open(t, transports[0].open(t), "bash")
	r, err := s.Run(t.Context(), session.Command{Script: "cat", Stdin: io.MultiReader(strings.NewReader("half"), brokenReader{})})
	require.ErrorContains(t, err, "standard input could not be read: the disk is gone")
	assert.Equal(t, session.StatusError, r.Status)
	assert.Equal(t, "stdin", r.Err.Code)
	assert.Equal(t, "ok\n", string(succeed(t, s, session.Command{Script: "echo ok"}).Stdout))
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestACommandThatIsSilentForTooLongIsStopped(t *testing.T) {
	s := open(t, transports[0].open(t), "bash")
	r, err := s.Run(t.Context(), session.Command{Script: "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; sleep 100", Idle: 400 * time.Millisecond})
	require.Error(t, err)
	assert.Equal(t, session.StatusTimeout, r.Status)
	assert.Equal(t, "idle", r.Err.Code)
	assert.Equal(t, "1\n2\n3\n4\n5\n6\n", string(r.Stdout))
	assert.Equal(t, "ok\n", string(succeed(t, s, session.Command{Script: "echo ok"}).Stdout))
}

// until waits until the command has printed something.
func until(t *testing.T, x *session.Exec, text string) {
	t.Helper()
	if !assert.Eventually(t, func() bool { return strings.Contains(string(x.Result().Stdout), text) }, 20*time.Second, 2*time.Millisecond) {
		require.FailNow(t, "not printed", "%q is not in the output, which is %q", text, x.Result().Stdout)
	}
}

func TestAnInteractiveCommandIsTalkedTo(t *testing.T) {
	everywhere(t, func(t *testing.T, s *session.Session, shell string) {
		x, err := s.Start(t.Context(), session.Command{Interactive: true, Script: "test -t 0 && test -t 2 && stty size; sh -c 'printf \"Name: \"; read x; echo \"<$x>\"; exit 5'", Size: session.Size{Rows: 30, Cols: 90}})
		require.NoError(t, err)
		until(t, x, "Name: ")
		require.NoError(t, x.Input(t.Context(), []byte("ada\nnobody reads this")))
		r, err := x.Wait(t.Context())
		require.NoError(t, err)
		assert.Contains(t, string(r.Stdout), "30 90\r\n")
		assert.Contains(t, string(r.Stdout), "<ada>\r\n")
		assert.Equal(t, 5, *r.ExitCode)
		assert.Equal(t, "merged", r.StderrMode)
		require.ErrorIs(t, x.Input(t.Context(), []byte("late\n")), session.ErrNotInteractive)
		for range 3 {
			r = succeed(t, s, session.Command{Script: `printf 'a\nb'; cat; echo $TERM >&2`})
			assert.Equal(t, "a\nb", string(r.Stdout))
			assert.Equal(t, "dumb\n", string(r.Stderr))
			assert.False(t, r.ShellRestarted)
		}
		x, err = s.Start(t.Context(), session.Command{Script: "sleep 100"})
		require.NoError(t, err)
		require.ErrorIs(t, x.Input(t.Context(), []byte("x")), session.ErrNotInteractive)
		x.Stop()
	})
}

// Who has started an interactive command may type at once.
func TestAnInteractiveCommandIsTalkedToFromItsStart(t *testing.T) {
	everywhere(t, func(t *testing.T, s *session.Session, shell string) {
		for range 3 {
			x, err := s.Start(t.Context(), session.Command{Interactive: true, Script: "read x; echo \"<$x>\"", Timeout: time.Minute})
			require.NoError(t, err)
			require.NoError(t, x.Input(t.Context(), []byte("ada\n")))
			r, err := x.Wait(t.Context())
			require.NoError(t, err)
			assert.Contains(t, string(r.Stdout), "<ada>\r\n")
			require.ErrorIs(t, x.Input(t.Context(), []byte("late\n")), session.ErrNotInteractive)
		}
	})
}

func TestAPythonPromptIsTalkedTo(t *testing.T) {
	s := open(t, transports[2].open(t), "bash")
	x, err := s.Start(t.Context(), session.Command{Interactive: true, Script: "HOME=" + t.TempDir() + " python3 -q"})
	require.NoError(t, err)
	until(t, x, ">>> ")
	require.NoError(t, x.Input(t.Context(), []byte("print(6*7)\n")))
	until(t, x, "42\r\n")
	require.NoError(t, x.Input(t.Context(), []byte("import time; print('sl'+'eeps'); time.sleep(100)\n")))
	until(t, x, "sleeps\r\n")
	require.NoError(t, x.Signal(t.Context(), "INT"))
	require.Eventually(t, func() bool {
		_, after, ok := strings.Cut(string(x.Result().Stdout), "KeyboardInterrupt")
		return ok && strings.Contains(after, ">>> ")
	}, 20*time.Second, 2*time.Millisecond)
	require.NoError(t, x.Input(t.Context(), []byte{4}))
	r, err := x.Wait(t.Context())
	require.NoError(t, err)
	assert.Contains(t, []int{0, 130}, *r.ExitCode, "python may end as if by the interrupt that it has survived")
	assert.Equal(t, "ok\n", string(succeed(t, s, session.Command{Script: "echo ok"}).Stdout))
}

func TestAnInteractiveProgramThatIgnoresTheKeyboardIsStopped(t *testing.T) {
	for _, shell := range []string{"bash", "dash"} {
		s := open(t, transports[1].open(t), shell)
		x, err := s.Start(t.Context(), session.Command{Interactive: true, Script: "stty raw -echo -isig; sh -c 'echo ready; exec sleep 100'"}) // the program is there when it says so
		require.NoError(t, err)
		until(t, x, "ready")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		go x.Stop()
		r, err := x.Wait(ctx)
		require.NoError(t, err)
		assert.Equal(t, session.StatusCanceled, r.Status)
		assert.Equal(t, "TERM", r.StoppedBy)
		assert.Equal(t, "a\nb", string(succeed(t, s, session.Command{Script: `printf 'a\nb'`}).Stdout))
	}
}

// A program may take the key for its own end, as top does, and a builtin that reads may go on after it. bash forgets over the key
// that it was to end its command.
func TestNothingRunsBehindAnInteractiveProgramThatIsStopped(t *testing.T) {
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		if shell == "bash" {
			return
		}
		for _, script := range []string{`sh -c 'trap "exit 0" INT; echo ready; while :; do sleep 0.1; done'`, "echo ready; read x"} {
			s := openWithin(t, tr, shell, grace)
			x, err := s.Start(t.Context(), session.Command{Interactive: true, Script: script + "; echo never"})
			require.NoError(t, err)
			until(t, x, "ready")
			x.Stop()
			r := x.Result()
			assert.Equal(t, session.StatusCanceled, r.Status)
			assert.NotContains(t, string(r.Stdout), "never", script)
			assert.Equal(t, "a\nb", string(succeed(t, s, session.Command{Script: `printf 'a\nb'`}).Stdout))
			require.NoError(t, s.Close())
		}
	})
}

func TestOnlyWhatCanBeSentIsSignaled(t *testing.T) {
	s := open(t, transports[0].open(t), "bash")
	x, err := s.Start(t.Context(), session.Command{Script: "trap '' INT; sh -c 'echo ready; exec sleep 100'"})
	require.NoError(t, err)
	until(t, x, "ready")
	require.ErrorContains(t, x.Signal(t.Context(), "HUP"), "INT, TERM and KILL")
	require.NoError(t, x.Signal(t.Context(), "TERM"))
	r, err := x.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 143, *r.ExitCode)
	require.Error(t, x.Signal(t.Context(), "TERM"))
}

// A host that is gone before its shell can be asked for its state.
func TestStateThatIsOlderThanTheLastCommandIsTold(t *testing.T) {
	mark := sessiontest.NewMark(t)
	var site *site
	cfg := permissive()
	cfg.Trace = &session.Trace{Done: func(_ context.Context, r session.Result) {
		if r.Command == "export A=2" {
			site.breaker.Cut()
		}
	}}
	site = serverSite(t, cfg, mark, 0)
	s := mustOpen(t, site.pool, site.on("bash"))
	defer s.Close()
	succeed(t, s, session.Command{Script: "export A=1"})
	succeed(t, s, session.Command{Script: "export A=2"})
	r, err := s.Run(t.Context(), session.Command{Script: `echo $A`})
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); { // the cut may be noticed only now
		r, err = s.Run(t.Context(), session.Command{Script: `echo $A`})
	}
	require.NoError(t, err)
	assert.Equal(t, "1\n", string(r.Stdout))
	assert.Contains(t, r.Restored, "env")
	assert.Contains(t, r.Restored, session.RestoredStale)
	r = succeed(t, s, session.Command{Script: "echo $A"})
	assert.Empty(t, r.Restored)
}

// With an IFS that cannot be changed bash takes no frame's header for one any more: it reads, and answers nothing.
func TestAShellThatDoesNotAnswerAnyMoreIsReplaced(t *testing.T) {
	needShell(t, "bash")
	cfg := permissive()
	cfg.Ready = 2 * time.Second
	site := localSite(t, cfg, sessiontest.NewMark(t))
	s := mustOpen(t, site.pool, site.on("bash"))
	defer s.Close()
	succeed(t, s, session.Command{Script: "cd /usr; export A=1"})
	r := succeed(t, s, session.Command{Script: "IFS=x; readonly IFS; echo a"})
	assert.Equal(t, "a\n", string(r.Stdout))
	r = succeed(t, s, session.Command{Script: "echo $A; pwd"})
	assert.Equal(t, "1\n/usr\n", string(r.Stdout))
	assert.True(t, r.ShellRestarted)
	assert.Contains(t, r.Restored, session.RestoredStale)
}
