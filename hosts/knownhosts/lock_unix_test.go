//go:build unix && !solaris && !aix

package knownhosts_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

// locked makes a file that another program has locked, until it is closed.
func locked(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return f
}

// appending appends to a file in the background, until the lock is waited for.
func appending(file string) (err chan error) {
	err = make(chan error, 1)
	key := testKeys().ed.PublicKey()
	go func() { err <- knownhosts.Append(file, "web", key, knownhosts.AppendOptions{}) }()
	synctest.Wait()
	return err
}

func TestAppendWaitsForTheLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "known_hosts")
	synctest.Test(t, func(t *testing.T) {
		f := locked(t, name)
		done := appending(name)
		time.Sleep(knownhosts.LockWait - 2*knownhosts.LockStep)
		assert.Empty(t, done)
		require.NoError(t, f.Close())
		assert.NoError(t, <-done)
	})
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	assert.NoError(t, db.Check(knownhosts.Query{Host: "web"}, testKeys().ed.PublicKey()))
}

func TestAppendWaitsForTheLockNoLongerThanItsLimit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "known_hosts")
	synctest.Test(t, func(t *testing.T) {
		f := locked(t, name)
		defer f.Close()
		began := time.Now()
		assert.ErrorContains(t, <-appending(name), "another program holds its lock")
		assert.Equal(t, knownhosts.LockWait, time.Since(began).Truncate(time.Second))
	})
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Empty(t, data)
}

func TestAppendWritesToTheFileThatTookTheOldOnesPlace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "known_hosts")
	synctest.Test(t, func(t *testing.T) {
		f := locked(t, name)
		done := appending(name)
		require.NoError(t, os.WriteFile(name+".new", []byte("# from an editor\n"), 0o600))
		require.NoError(t, os.Rename(name+".new", name))
		require.NoError(t, f.Close())
		assert.NoError(t, <-done)
	})
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "# from an editor\nweb "+line(testKeys().ed.PublicKey())+"\n", string(data))
}

func TestAppendGivesUpOnAFileThatIsReplacedAllTheTime(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "known_hosts")
	synctest.Test(t, func(t *testing.T) {
		f := locked(t, name)
		done := appending(name)
		var replaced []*os.File
		for range knownhosts.MaxReopen {
			assert.Empty(t, done)
			other, err := os.Open(name)
			require.NoError(t, err)
			defer other.Close()
			replaced = append(replaced, other)
			next := locked(t, name+".new")
			require.NoError(t, os.Rename(name+".new", name))
			require.NoError(t, f.Close())
			f = next
			time.Sleep(knownhosts.LockStep)
			synctest.Wait()
		}
		defer f.Close()
		assert.ErrorContains(t, <-done, "replaced again and again")
		for _, other := range replaced {
			assert.NoError(t, syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), "no lock is kept on what was replaced")
		}
	})
}

func TestAFileThatCannotBeLockedIsAnError(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.ErrorIs(t, knownhosts.Lock(f), syscall.EBADF)
}

func TestOnlyALockOfAnotherAndASignalPass(t *testing.T) {
	for err, want := range map[error]bool{syscall.EWOULDBLOCK: true, syscall.EINTR: true, syscall.EBADF: false, syscall.ENOLCK: false, syscall.ENOTSUP: false} {
		assert.Equal(t, want, knownhosts.Passing(err), err)
		assert.Equal(t, want, knownhosts.Passing(os.NewSyscallError("flock", err)), err)
	}
}

func TestAFIFOIsRefusedWithoutWaitingForItsOtherEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	_, err := knownhosts.Open(name)
	assert.ErrorContains(t, err, "not a regular file")
}
