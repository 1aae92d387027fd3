package quotas_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/quotas"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// engine is one of a program of its own: the file is all that they share.
func engine(t *testing.T, dir, limits string) *rules.Engine {
	t.Helper()
	f, err := rules.Parse([]byte("version: 1\nprincipals:\n  - {name: role=agent, "+limits+"}\n"), "policy.yaml")
	require.NoError(t, err)
	return rules.New(rules.Config{User: f, Quotas: quotas.Dir(dir)})
}

func TestWhatProgramsUseTogetherIsCounted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fairlead", "quotas")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var admitted atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		e := engine(t, dir, "daily: 20")
		wg.Go(func() {
			for range 10 {
				var over *rules.QuotaError
				switch err := e.Admit("agent/a", now); {
				case err == nil:
					admitted.Add(1)
				default:
					assert.ErrorAs(t, err, &over)
				}
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 20, admitted.Load())
	e := engine(t, dir, "daily: 20")
	require.NoError(t, e.Admit("agent/b", now), "everybody has a count of their own")
	require.NoError(t, e.Admit("operator/a", now))
	require.NoError(t, e.Admit("agent/a", now.Add(24*time.Hour)))
	info, err := os.Stat(filepath.Join(dir, "agent%2Fa.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestARateGoesOnInTheNextProgram(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 3 {
		require.NoError(t, engine(t, dir, "rate: 3/m").Admit("agent/a", now))
	}
	require.Error(t, engine(t, dir, "rate: 3/m").Admit("agent/a", now))
	require.Error(t, engine(t, dir, "rate: 3/m").Admit("agent/a", now.Add(-time.Hour)), "a clock that goes back gives nothing back")
	require.NoError(t, engine(t, dir, "rate: 3/m").Admit("agent/a", now.Add(20*time.Second)))
	require.Error(t, engine(t, dir, "rate: 600/m").Admit("agent/a", now.Add(20*time.Second)), "another rate fills nothing at once")
	require.NoError(t, engine(t, dir, "rate: 3/m").Admit("agent/a", now.Add(time.Hour)))
}

// What cannot be counted is not admitted, and the error says what to do.
func TestWhatCannotBeCountedIsNotAdmitted(t *testing.T) {
	defer quotas.SetPatience(10 * time.Millisecond)()
	for name, tt := range map[string]struct {
		do  func(t *testing.T, file string)
		why string
	}{
		"no count in it": {func(t *testing.T, file string) { require.NoError(t, os.WriteFile(file, []byte("{"), 0o600)) }, "holds no count: remove it"},
		"a link":         {func(t *testing.T, file string) { require.NoError(t, os.Symlink("elsewhere", file)) }, "too many levels of symbolic links"},
		"a lock that is held": {func(t *testing.T, file string) {
			f, err := os.Create(file)
			require.NoError(t, err)
			t.Cleanup(func() { f.Close() })
			require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		}, "another program holds the lock"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tt.do(t, filepath.Join(dir, "agent%2Fa.json"))
			err := engine(t, dir, "rate: 3/m").Admit("agent/a", time.Now())
			require.ErrorContains(t, err, "the requests of agent/a cannot be counted: ")
			require.ErrorContains(t, err, tt.why)
			_, err = os.Lstat(filepath.Join(dir, "elsewhere"))
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

func TestAChangeThatFailsIsNotKept(t *testing.T) {
	d, no := quotas.Dir(t.TempDir()), errors.New("no")
	require.NoError(t, d.Use("agent/a", func(u *rules.Usage) error { u.Today, u.Tokens = 1000, 0.123456789; return nil }))
	require.ErrorIs(t, d.Use("agent/a", func(u *rules.Usage) error { u.Today = 7; return no }), no)
	require.NoError(t, d.Use("agent/a", func(u *rules.Usage) error {
		assert.Equal(t, 1000, u.Today)
		u.Today, u.Tokens = 1, 0 // which is shorter
		return nil
	}))
	require.NoError(t, d.Use("agent/a", func(u *rules.Usage) error { assert.Equal(t, rules.Usage{Today: 1}, *u); return nil }))
}
