package audit_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// twice opens a file two times, as two writers do.
func twice(t *testing.T) (a, b *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock")
	both := make([]*os.File, 2)
	for i := range both {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		both[i] = f
	}
	return both[0], both[1]
}

func TestALockIsHeldByOneWriterOrByReaders(t *testing.T) {
	for _, tt := range []struct{ first, second, both bool }{
		{true, true, false}, {true, false, false}, {false, true, false}, {false, false, true},
	} {
		a, b := twice(t)
		ok, err := audit.TryLock(a, tt.first)
		require.NoError(t, err)
		require.True(t, ok)
		ok, err = audit.TryLock(b, tt.second)
		require.NoError(t, err)
		assert.Equal(t, tt.both, ok, "%+v", tt)
		audit.Unlock(a)
		ok, err = audit.TryLock(b, tt.second)
		require.NoError(t, err)
		assert.True(t, ok, "%+v", tt)
		require.NoError(t, b.Close())
		ok, err = audit.TryLock(b, tt.second)
		require.Error(t, err, "a file that is closed is not locked")
		assert.False(t, ok)
	}
}

func TestWhoWaitsForALockSleepsAndGivesUp(t *testing.T) {
	a, b := twice(t)
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, audit.WaitLock(a, true, time.Minute))
		began := time.Now()
		err := audit.WaitLock(b, true, time.Minute)
		require.ErrorIs(t, err, audit.ErrUnavailable)
		require.ErrorContains(t, err, "another process holds it")
		assert.Greater(t, time.Since(began), time.Minute)
		assert.Less(t, time.Since(began), time.Minute+time.Second)

		for _, patience := range []time.Duration{time.Minute, -1} { // the second waits as long as it takes
			began = time.Now()
			free := time.AfterFunc(50*time.Second, func() { audit.Unlock(a) })
			require.NoError(t, audit.WaitLock(b, true, patience))
			assert.Less(t, time.Since(began), 51*time.Second)
			assert.False(t, free.Stop(), "it was held until then")
			audit.Unlock(b)
			require.NoError(t, audit.WaitLock(a, true, patience))
		}
	})
}
