package session_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// hasty does not wait long for a command to stop.
func hasty() session.Config {
	cfg := permissive()
	cfg.Grace = 300 * time.Millisecond
	return cfg
}

func letters(s string) io.Reader { return strings.NewReader(s) }

// sites are all ways to a host that faults can be injected in.
func sites(t *testing.T, cfg session.Config, mark sessiontest.Mark) []*site {
	return []*site{localSite(t, cfg, mark), serverSite(t, cfg, mark, 0), sshdSite(t, cfg, mark)}
}

// onEverySite runs f in a session of its own for every shell on this machine, and for some at every other site. What the sites leave is
// told in the end.
func onEverySite(t *testing.T, cfg session.Config, f func(t *testing.T, w *site, s *session.Session, shell string)) {
	onSites(t, cfg, nil, f)
}

// onSites is onEverySite for what takes too long to be tried with every shell: the first is tried everywhere, and all on this machine.
func onSites(t *testing.T, cfg session.Config, shells []string, f func(t *testing.T, w *site, s *session.Session, shell string)) {
	mark := sessiontest.NewMark(t)
	all := sites(t, cfg, mark)
	for _, shell := range slices.Concat(shells, shellsOver("local")) {
		needShell(t, shell)
	}
	t.Run("at", func(t *testing.T) { everySite(t, all, shells, f) })
	nothingIsLeft(t, mark)
}

func everySite(t *testing.T, all []*site, shells []string, f func(t *testing.T, w *site, s *session.Session, shell string)) {
	for _, site := range all {
		t.Run(site.name, func(t *testing.T) {
			t.Parallel()
			these := shellsOver(site.name)
			if shells != nil {
				if these = shells; site.name != "local" {
					these = shells[:1]
				}
			}
			for _, shell := range these {
				t.Run(shell, func(t *testing.T) {
					s := mustOpen(t, site.pool, site.on(shell))
					f(t, site, s, shell)
					require.NoError(t, s.Close())
				})
			}
			require.NoError(t, site.pool.Close())
		})
	}
}

func nothingIsLeft(t *testing.T, mark sessiontest.Mark) {
	t.Helper()
	if !assert.Eventually(t, func() bool { return len(mark.Processes(t)) == 0 }, 5*time.Second, 10*time.Millisecond, "processes are left") {
		t.Log(mark.Describe(t))
	}
	assert.Empty(t, mark.Files(t), "files are left")
}

// started runs a command and waits until it has printed text.
func started(t *testing.T, s *session.Session, cmd session.Command, text string) *session.Exec {
	t.Helper()
	x, err := s.Start(t.Context(), cmd)
	require.NoError(t, err)
	until(t, x, text)
	return x
}

// waited waits for the end of a command, which must come.
func waited(t *testing.T, x *session.Exec) session.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := x.Wait(ctx)
	require.NoError(t, err)
	return r
}

func TestARunningCommandIsAHandle(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, _ *site, s *session.Session, _ string) {
		x := started(t, s, session.Command{Script: "echo begun; sleep 100"}, "begun\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		r, err := x.Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, session.Running, r.State)
		assert.Equal(t, x.ID(), r.Exec)
		r, err = s.Run(t.Context(), session.Command{Script: "echo second"})
		require.ErrorIs(t, err, session.ErrBusy)
		assert.Equal(t, x.ID(), r.Err.Exec)
		assert.Equal(t, "begun\n", string(x.Result().Stdout))
		require.Eventually(t, func() bool { // a shell that has not started sleep yet takes it and goes on
			_ = x.Signal(t.Context(), "INT")
			return x.Result().State == session.Done
		}, 30*time.Second, 50*time.Millisecond)
		r = waited(t, x)
		assert.Equal(t, session.Done, r.State)
		assert.Contains(t, []session.Status{session.StatusExit, session.StatusOK}, r.Status, "%v", r.Err)
		runCase(t, s, sessionCase{steps: []step{ok}})
	})
}

// The command goes on only when somebody has seen what it printed.
func TestOutputArrivesAsItIsPrinted(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, _ *site, s *session.Session, _ string) {
		dir := t.TempDir()
		seen := writer(func(p []byte) {
			for _, n := range strings.Fields(string(p)) {
				assert.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o600))
			}
		})
		script := "for i in 1 2 3; do echo $i; until [ -e " + dir + "/$i ]; do sleep 0.01; done; echo e$i >&2; until [ -e " + dir + "/e$i ]; do sleep 0.01; done; done"
		r := succeed(t, s, session.Command{Script: script, Stdout: seen, Stderr: seen, Timeout: 30 * time.Second})
		assert.Equal(t, "1\n2\n3\n", string(r.Stdout))
		assert.Equal(t, "e1\ne2\ne3\n", string(r.Stderr))
	})
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestLateOutputIsStray(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, _ *site, s *session.Session, _ string) {
		flag := t.TempDir() + "/printed"
		succeed(t, s, session.Command{Script: "(sleep 0.2; echo late; : >" + flag + ") &"})
		require.Eventually(t, func() bool { _, err := os.Stat(flag); return err == nil }, 20*time.Second, 5*time.Millisecond)
		r := succeed(t, s, session.Command{Script: "echo now"})
		assert.Equal(t, "now\n", string(r.Stdout))
		assert.Equal(t, "late\n", string(r.Stray))
	})
}

func TestCloseEndsWhatRunsInTheBackground(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, _ *site, s *session.Session, _ string) {
		r := succeed(t, s, session.Command{Script: "sleep 300 & echo $!"})
		pid, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
		require.NoError(t, err)
		require.DirExists(t, fmt.Sprintf("/proc/%d", pid))
		require.NoError(t, s.Close())
		assert.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 5*time.Millisecond)
	})
}

// gone says that a process has ended, whether or not its parent has noticed.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(state, "Z")
}

func TestNoPagerHangs(t *testing.T) {
	repo := t.TempDir()
	onSites(t, permissive(), []string{"bash", "dash"}, func(t *testing.T, _ *site, s *session.Session, _ string) {
		for _, script := range []string{
			"less /etc/passwd", "more /etc/passwd </dev/null", "cd " + repo + "; git init -q .; git log", "git -C " + repo + " --paginate status",
			"man ls", "systemctl status", "top -b -n 1 | head -1",
		} {
			r, err := s.Run(t.Context(), session.Command{Script: script, Timeout: 20 * time.Second})
			require.NoError(t, err, script)
			require.NotNil(t, r.ExitCode, script)
		}
		runCase(t, s, sessionCase{steps: []step{ok}})
	})
}

func TestAnEditorWithoutATerminalDoesNotTakeTheSession(t *testing.T) {
	onSites(t, hasty(), []string{"bash", "dash"}, func(t *testing.T, _ *site, s *session.Session, _ string) {
		_, _ = s.Run(t.Context(), session.Command{Script: "cd " + t.TempDir() + "; vi", Timeout: 500 * time.Millisecond})
		runCase(t, s, sessionCase{steps: []step{sh(`printf 'a\nb'`, "a\nb"), ok}})
	})
}

func TestAPythonPromptWorksEverywhere(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, _ *site, s *session.Session, _ string) {
		x := started(t, s, session.Command{Interactive: true, Script: "HOME=" + t.TempDir() + " PATH=/usr/bin:$PATH python3 -q"}, ">>> ")
		require.NoError(t, x.Input(t.Context(), []byte("print(6*7)\n")))
		until(t, x, "42\r\n>>> ") // its editor loses what comes while it takes the terminal over
		require.NoError(t, x.Input(t.Context(), []byte{4}))
		assert.Equal(t, session.StatusOK, waited(t, x).Status)
		runCase(t, s, sessionCase{steps: []step{ok}})
	})
}

func TestAPasswordThatIsTypedIsInNoRecord(t *testing.T) {
	const secret = "hunter2-and-more"
	var mu sync.Mutex
	var records []string
	cfg := session.Config{Policy: policy.AllowAll, Audit: audit.SinkFunc(func(_ context.Context, e audit.Event) error {
		mu.Lock()
		defer mu.Unlock()
		records = append(records, fmt.Sprintf("%+v %s", e, e.Exact))
		return nil
	})}
	onEverySite(t, cfg, func(t *testing.T, _ *site, s *session.Session, _ string) {
		x := started(t, s, session.Command{Interactive: true, Script: `stty -echo; printf 'Password: '; read p; stty echo; echo; echo "${#p} letters"`}, "Password: ")
		require.NoError(t, x.InputSecret(t.Context(), []byte(secret+"\n")))
		r := waited(t, x)
		assert.Equal(t, "Password: \r\n16 letters\r\n", string(r.Stdout))
		runCase(t, s, sessionCase{steps: []step{ok}})
	})
	all := strings.Join(records, "\n")
	assert.Contains(t, all, "command.input")
	assert.NotContains(t, all, secret)
}

func TestAConnectionCutWhileIdleIsMadeAgain(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, w *site, s *session.Session, _ string) {
		succeed(t, s, session.Command{Script: "cd /usr; export A='it'\\''s'; umask 027; f() { :; }"})
		succeed(t, s, session.Command{Script: ":"})
		closed := w.closed.Load()
		w.breaker.Cut()
		require.Eventually(t, func() bool { return w.closed.Load() > closed && !s.ShellLives() }, 20*time.Second, time.Millisecond)
		r := succeed(t, s, session.Command{Script: "pwd; umask; echo $A; f 2>/dev/null || echo no f"})
		assert.Equal(t, "/usr\n027\nit's\nno f\n", strings.Replace(string(r.Stdout), "0027", "027", 1))
		assert.True(t, r.ShellRestarted)
		assert.True(t, r.Reconnected)
		assert.Equal(t, []string{"cwd", "umask", "env"}, r.Restored)
	})
}

func TestACommandThatWasCutOffIsLostAndNeverRunsAgain(t *testing.T) {
	type cutOff struct{ runs, done string }
	var mu sync.Mutex
	var all []cutOff
	dir := t.TempDir()
	onEverySite(t, permissive(), func(t *testing.T, w *site, s *session.Session, shell string) {
		c := cutOff{filepath.Join(dir, w.name+shell), filepath.Join(dir, w.name+shell+"done")}
		mu.Lock()
		all = append(all, c)
		mu.Unlock()
		x := started(t, s, session.Command{Script: "echo run >>" + c.runs + "; echo begun; sleep 2; touch " + c.done}, "begun\n")
		w.breaker.Cut()
		r := waited(t, x)
		assert.Equal(t, session.StatusLost, r.Status)
		require.ErrorIs(t, r.Err, session.ErrUnknownOutcome)
		assert.True(t, r.Err.Sent)
		assert.False(t, r.Err.Retriable)
		assert.Equal(t, "begun\n", string(r.Stdout))
		assert.Nil(t, r.ExitCode)
		require.Eventually(t, func() bool { // whoever asks at once may be told that this is lost too
			r, _ := s.Run(t.Context(), session.Command{Script: "echo ok"})
			return r.Status == session.StatusOK
		}, 20*time.Second, time.Millisecond)
		runCase(t, s, sessionCase{steps: []step{ok}})
	})
	for _, c := range all {
		text, err := os.ReadFile(c.runs)
		assert.NoError(t, err)
		assert.Equal(t, "run\n", string(text), c.runs)
		assert.NoFileExists(t, c.done)
	}
}

func TestTwoSessionsOnOneConnectionDoNotMix(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, w *site, s *session.Session, shell string) {
		other := mustOpen(t, w.pool, w.on(shell))
		defer other.Close()
		var wg sync.WaitGroup
		for name, s := range map[string]*session.Session{"one": s, "two": other} {
			wg.Go(func() {
				for i := range 5 {
					r, err := s.Run(t.Context(), session.Command{Script: fmt.Sprintf("X=%s; i=0; while [ $i -lt 50 ]; do echo ${X}%d; echo e$X >&2; i=$((i+1)); done", name, i)})
					assert.NoError(t, err)
					assert.Equal(t, strings.Repeat(fmt.Sprintf("%s%d\n", name, i), 50), string(r.Stdout))
					assert.Equal(t, strings.Repeat("e"+name+"\n", 50), string(r.Stderr))
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 1, w.pool.Stats().Used)
	})
}

func TestLimitsAndOptionsAreKept(t *testing.T) {
	onEverySite(t, permissive(), func(t *testing.T, _ *site, s *session.Session, _ string) {
		succeed(t, s, session.Command{Script: "umask 077; ulimit -n 64; cd /; set -o noglob"})
		r := succeed(t, s, session.Command{Script: "umask; ulimit -n; pwd; echo /*"})
		assert.Equal(t, "77\n64\n/\n/*\n", strings.TrimLeft(string(r.Stdout), "0"))
		r = succeed(t, s, session.Command{Script: "(umask 022; ulimit -n 32; cd /usr; sh -c 'umask; ulimit -n; pwd'); sh -c 'ulimit -n'"})
		assert.Equal(t, "0022\n32\n/usr\n64\n", string(r.Stdout))
	})
}

func TestTwoMillionLinesAreCounted(t *testing.T) {
	onSites(t, permissive(), []string{"bash", "dash"}, func(t *testing.T, _ *site, s *session.Session, _ string) {
		lines := 0
		r := succeed(t, s, session.Command{Script: "seq 2000000", Stdout: writer(func(p []byte) { lines += bytes.Count(p, []byte{'\n'}) })})
		assert.Equal(t, 2_000_000, lines)
		assert.EqualValues(t, 14_888_896, r.StdoutBytes)
		assert.EqualValues(t, 14_888_896, int64(len(r.Stdout))+r.OmittedStdout)
		assert.True(t, strings.HasPrefix(string(r.Stdout), "1\n2\n") && strings.HasSuffix(string(r.Stdout), "\n2000000\n"))
	})
}

func TestWhatALoopOfBuiltinsCostsIsTold(t *testing.T) {
	onSites(t, hasty(), []string{"bash", "dash"}, func(t *testing.T, _ *site, s *session.Session, _ string) {
		succeed(t, s, session.Command{Script: "cd /usr; A=1; export B=2"})
		succeed(t, s, session.Command{Script: ":"})
		r, _ := s.Run(t.Context(), session.Command{Script: "while :; do :; done", Timeout: 200 * time.Millisecond})
		assert.Equal(t, session.StatusTimeout, r.Status)
		next := succeed(t, s, session.Command{Script: "pwd; echo $A-$B"})
		assert.Contains(t, []string{"INT", "shell"}, r.StoppedBy)
		if r.StoppedBy == "shell" || next.ShellRestarted {
			assert.True(t, next.ShellRestarted)
			assert.Equal(t, []string{"cwd", "env", session.RestoredStale}, next.Restored)
			assert.Equal(t, "/usr\n-2\n", string(next.Stdout))
		} else {
			assert.Equal(t, "/usr\n1-2\n", string(next.Stdout))
		}
	})
}
