package jobs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// home gives the test's account an empty home directory.
func home(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	return dir
}

// on returns the jobs of a host with the given shell, on this machine.
func on(t *testing.T, shell string, change ...func(*session.Config)) *jobs.Host {
	t.Helper()
	return jobs.On(pool(t, change...), hosts.Host{Name: "here", Transport: hosts.Local, Shell: shell})
}

func pool(t *testing.T, change ...func(*session.Config)) *session.Pool {
	t.Helper()
	cfg := session.Config{Principal: "operator/ada", Policy: policy.AllowAll, Audit: audit.Discard{}}
	for _, f := range change {
		f(&cfg)
	}
	p, err := session.NewPool(session.PoolConfig{Session: cfg, Dial: localpty.Dial})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// ended waits for the end of a job, and returns it with all of its output.
func ended(t *testing.T, h *jobs.Host, id string) jobs.Look {
	t.Helper()
	all := jobs.Look{}
	for {
		l, err := h.Look(t.Context(), id, jobs.LookOptions{Wait: 30 * time.Second,
			Stdout: jobs.Span{Offset: int64(len(all.Stdout)), Limit: 1 << 20}, Stderr: jobs.Span{Offset: int64(len(all.Stderr)), Limit: 1 << 20}})
		require.NoError(t, err)
		all.Job = l.Job
		all.Stdout, all.Stderr = append(all.Stdout, l.Stdout...), append(all.Stderr, l.Stderr...)
		if l.State != jobs.Running && len(l.Stdout)+len(l.Stderr) == 0 {
			return all
		}
	}
}

func started(t *testing.T, h *jobs.Host, command string) jobs.Job {
	t.Helper()
	j, r, err := h.Start(t.Context(), jobs.Spec{Command: command})
	require.NoError(t, err, "%s%s", r.Stdout, r.Stderr)
	return j
}

// left are the files below a directory.
func left(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			all = append(all, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	return all
}

func shells(t *testing.T) (all []string) {
	for _, name := range []string{"bash", "zsh", "dash", "mksh", "ksh93", "busybox"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed, and CI must not go without it", name)
			}
			t.Logf("%s is not installed", name)
			continue
		}
		switch name {
		case "busybox":
			name = "ash"
		case "ksh93":
			name = "ksh"
		}
		all = append(all, name)
	}
	return all
}

func TestAJobRunsAsTheSameCommandWould(t *testing.T) {
	for _, shell := range shells(t) {
		t.Run(shell, func(t *testing.T) {
			dir := home(t)
			h := on(t, shell)
			j, r, err := h.Start(t.Context(), jobs.Spec{Dir: "/usr", Command: "pwd\nx='it'\\''s'\nprintf '%s|' \"$x\" \"$#\"; printf 'a\\000b\\377' >&2; (exit 3)"})
			require.NoError(t, err, "%s%s", r.Stdout, r.Stderr)
			assert.Equal(t, "here", j.Host)
			l := ended(t, h, j.ID)
			assert.Equal(t, jobs.Ended, l.State)
			require.NotNil(t, l.ExitCode)
			assert.Equal(t, 3, *l.ExitCode)
			assert.Equal(t, "/usr\nit's|0|", string(l.Stdout))
			assert.Equal(t, "a\x00b\xff", string(l.Stderr))
			assert.Equal(t, jobs.Stream{Bytes: int64(len(l.Stdout)), Done: true}, l.Job.Stdout)
			assert.Equal(t, "operator/ada", l.Owner)
			assert.NotContains(t, left(t, dir), ".local/state/fairlead/jobs/"+j.ID+"/command", "the text is read and gone")

			all, more, err := h.List(t.Context(), "")
			require.NoError(t, err)
			assert.False(t, more)
			require.Len(t, all, 1)
			assert.Equal(t, j.ID, all[0].ID)
			_, err = h.Remove(t.Context(), j.ID, "")
			require.NoError(t, err)
			assert.Empty(t, left(t, dir))
		})
	}
}

func TestAJobIsStoppedWithAllOfItsSession(t *testing.T) {
	for _, shell := range shells(t) {
		t.Run(shell, func(t *testing.T) {
			dir := home(t)
			h := on(t, shell)
			j := started(t, h, "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & echo $!; wait")
			l, err := h.Look(t.Context(), j.ID, jobs.LookOptions{Wait: 10 * time.Second, Stdout: jobs.Span{Offset: 3, Limit: 100}})
			require.NoError(t, err)
			require.Equal(t, jobs.Running, l.State)
			_, err = h.Remove(t.Context(), j.ID, "")
			assert.Equal(t, jobs.CodeRunning, code(err))
			s, err := h.Stop(t.Context(), j.ID, time.Second, "")
			require.NoError(t, err)
			assert.Equal(t, jobs.Ended, s.State)
			assert.Equal(t, "KILL", s.StoppedBy)
			assert.False(t, s.MayRun)
			_, err = h.Remove(t.Context(), j.ID, "")
			require.NoError(t, err)
			assert.Empty(t, left(t, dir))
		})
	}
}

func code(err error) string {
	var e *session.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

func TestAProgramWithoutAPrincipalOwnsItsJobs(t *testing.T) {
	home(t)
	h := on(t, "sh", func(c *session.Config) { c.Principal = "" })
	j := started(t, h, "echo out")
	l := ended(t, h, j.ID)
	assert.Equal(t, session.DefaultPrincipal, l.Owner)
	assert.Empty(t, l.Damaged)
	all, _, err := h.List(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = on(t, "sh", func(c *session.Config) { c.Principal = session.DefaultPrincipal }).Remove(t.Context(), j.ID, "")
	require.NoError(t, err, "it is the same principal")
}

// A host lists more jobs than one look tells; of those that are damaged it says so.
func TestMoreJobsThanOneLookTellsAreListed(t *testing.T) {
	dir := home(t)
	h := on(t, "sh")
	j := started(t, h, "true")
	ended(t, h, j.ID)
	first := filepath.Join(dir, ".local/state/fairlead/jobs", j.ID)
	for i := range 1005 {
		require.NoError(t, os.CopyFS(filepath.Join(filepath.Dir(first), fmt.Sprintf("j_aaaaaaaaaaaaa-%d", i+1)), os.DirFS(first)))
	}
	for i, name := range []string{"j_aaaaaaaaaaaaa-5", "j_aaaaaaaaaaaaa-999"} {
		broken := filepath.Join(filepath.Dir(first), name)
		require.NoError(t, os.Remove(filepath.Join(broken, "stdout")))
		require.NoError(t, os.Symlink([]string{"stderr", "/nowhere"}[i], filepath.Join(broken, "stdout")))
	}
	all, more, err := h.List(t.Context(), "")
	require.NoError(t, err)
	assert.False(t, more)
	require.Len(t, all, 1006)
	damaged := 0
	for _, got := range all {
		if got.Damaged != "" {
			damaged++
			continue
		}
		require.Equal(t, jobs.Ended, got.State, "%s", got.ID)
	}
	assert.Equal(t, 2, damaged)
}
