package jobs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

func jobDir(home, id string) string { return filepath.Join(home, ".local/state/fairlead/jobs", id) }

// What stands in a job's directory may have been put there by somebody else.
func TestADirectoryThatWasTamperedWithIsNotFollowed(t *testing.T) {
	for name, tamper := range map[string]func(t *testing.T, dir, secret string){
		"an output that is a link": func(t *testing.T, dir, secret string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "stdout")))
			require.NoError(t, os.Symlink(secret, filepath.Join(dir, "stdout")))
		},
		"an output of two names": func(t *testing.T, dir, secret string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "stderr")))
			require.NoError(t, os.Link(secret, filepath.Join(dir, "stderr")))
		},
		"others may write": func(t *testing.T, dir, _ string) { require.NoError(t, os.Chmod(dir, 0o777)) },
		"a directory that is a link": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Rename(dir, dir+".away"))
			require.NoError(t, os.Symlink(dir+".away", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := home(t)
			secret := filepath.Join(dir, "secret")
			require.NoError(t, os.WriteFile(secret, []byte("hidden"), 0o600))
			h := on(t, "bash")
			j := started(t, h, "echo mine; exit 0")
			ended(t, h, j.ID)
			tamper(t, jobDir(dir, j.ID), secret)
			l, err := h.Look(t.Context(), j.ID, jobs.LookOptions{Stdout: jobs.Span{Limit: 100}, Stderr: jobs.Span{Limit: 100}})
			assert.Equal(t, jobs.CodeTampered, code(err))
			assert.NotContains(t, string(l.Stdout)+string(l.Stderr), "hidden")
			_, err = h.Remove(t.Context(), j.ID, "")
			assert.Equal(t, jobs.CodeTampered, code(err))
			assert.FileExists(t, secret)
		})
	}
}

// The number of a process may be anybody's by now, or have been written by anybody.
func TestAProcessThatTheJobHasNotStartedIsLeftAlone(t *testing.T) {
	dir := home(t)
	h := on(t, "bash")
	j := started(t, h, "sleep 1000")
	other := exec.Command("sleep", "1000")
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	pidFile := filepath.Join(jobDir(dir, j.ID), "pid")
	right, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	f := strings.Fields(string(right))
	require.Len(t, f, 3)

	for name, text := range map[string]string{
		"a number that was used again": pidOf(other) + " 1 " + f[2] + "\n",
		"before the machine began":     f[0] + " " + f[1] + " 00000000-0000-0000-0000-000000000000\n",
		"no number":                    "$(touch x) 1 1\n",
		"nothing":                      "",
	} {
		require.NoError(t, os.WriteFile(pidFile, []byte(text), 0o600))
		s, err := h.Stop(t.Context(), j.ID, time.Second, "")
		require.NoError(t, err, name)
		assert.Equal(t, jobs.Lost, s.State, name)
	}
	began := strings.Fields(statAfterName(t, pidOf(other)))[19]
	require.NoError(t, os.WriteFile(pidFile, []byte(pidOf(other)+" "+began+" "+f[2]+"\n"), 0o600))
	_, err = h.Stop(t.Context(), j.ID, time.Second, "")
	assert.Equal(t, jobs.CodeTampered, code(err), "a process that runs, and is not the job's")
	assert.Contains(t, statAfterName(t, pidOf(other))[:2], "S")

	require.NoError(t, os.WriteFile(pidFile, right, 0o600))
	s, err := h.Stop(t.Context(), j.ID, time.Second, "")
	require.NoError(t, err)
	assert.Equal(t, jobs.Ended, s.State)
}

func pidOf(c *exec.Cmd) string { return strconv.Itoa(c.Process.Pid) }

// statAfterName is what proc_pid_stat(5) has from the third field on.
func statAfterName(t *testing.T, pid string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if os.IsNotExist(err) {
		t.Skip("the system has no /proc")
	}
	require.NoError(t, err)
	return string(text[strings.LastIndexByte(string(text), ')')+2:])
}

func TestAJobIsItsOwnersAndOperatorsSeeThoseOfAgents(t *testing.T) {
	home(t)
	as := func(who string) *jobs.Host { return on(t, "bash", func(c *session.Config) { c.Principal = who }) }
	mine, agents := started(t, as("operator/ada"), "exit 0"), started(t, as("agent/claude"), "exit 0")
	for who, want := range map[string][]string{
		"operator/ada": {mine.ID, agents.ID}, "operator/bob": {agents.ID}, "agent/claude": {agents.ID}, "agent/other": nil, "agent/*": nil,
	} {
		all, _, err := as(who).List(t.Context(), "")
		require.NoError(t, err)
		var ids []string
		for _, j := range all {
			ids = append(ids, j.ID)
		}
		assert.ElementsMatch(t, want, ids, who)
	}
	_, err := as("agent/other").Stop(t.Context(), mine.ID, 0, "")
	assert.Equal(t, jobs.CodeNotFound, code(err))
}

type says policy.Verdict

func (v says) Decide(context.Context, policy.Request) (policy.Decision, error) {
	return policy.Decision{Verdict: policy.Verdict(v), Rule: "test"}, nil
}

func TestWhatIsDeniedStartsNothing(t *testing.T) {
	dir := home(t)
	h := on(t, "bash", func(c *session.Config) { c.Policy = says(policy.Deny) })
	_, r, err := h.Start(t.Context(), jobs.Spec{Command: "true"})
	require.Error(t, err)
	assert.Equal(t, session.StatusDenied, r.Status)
	assert.Empty(t, left(t, dir))
}

// A job would leave the place in which the session's programs are held.
func TestAJobDoesNotLeaveASandbox(t *testing.T) {
	dir := home(t)
	p := pool(t, func(c *session.Config) {
		c.Program = func(p session.Program) (session.Program, error) { return p, nil }
	})
	h := jobs.On(p, hosts.Host{Name: "here", Transport: hosts.Local, Shell: "bash"})
	_, _, err := h.Start(t.Context(), jobs.Spec{Command: "true"})
	assert.ErrorContains(t, err, "held in a place of their own")
	assert.Equal(t, jobs.CodeInvalid, code(err))
	assert.Empty(t, left(t, dir))
}

// A file that gets another name while the directory is looked at has not been tampered with: a job writes what it says of its end
// that way.
func TestAFileThatIsRenamedDuringALookIsTheJobsStill(t *testing.T) {
	dir := home(t)
	h := on(t, "bash")
	j := started(t, h, "exit 0")
	ended(t, h, j.ID)
	at := filepath.Join(jobDir(dir, j.ID), "rc.t")
	require.NoError(t, os.WriteFile(at, nil, 0o600))
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		names := [2]string{at, strings.TrimSuffix(at, "rc.t") + "pid.t"}
		for i := 0; ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := os.Rename(names[i%2], names[(i+1)%2]); err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 15 {
		_, err := h.Look(t.Context(), j.ID, jobs.LookOptions{})
		assert.NoError(t, err)
	}
	close(stop)
	require.NoError(t, <-stopped)
}
