package inventory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	one = "version: 1\nhosts: [{name: a, tier: dev}]\n"
	two = "version: 1\nhosts: [{name: a, tier: dev}, {name: b}]\n"
)

// following is a Live with its reloads on a channel.
type following struct {
	*inventory.Live
	path    string
	reloads chan error
}

func follow(t *testing.T, path string) *following {
	t.Helper()
	f := &following{path: path, reloads: make(chan error, 100)}
	live, err := inventory.Watch(path, inventory.WatchOptions{
		Options:  quiet,
		OnReload: func(err error) { f.reloads <- err },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, live.Close()) })
	f.Live = live
	return f
}

// next waits for a reload.
func (f *following) next(t *testing.T) error {
	t.Helper()
	select {
	case err := <-f.reloads:
		return err
	case <-time.After(30 * time.Second): // only ever reached by a failure
		t.Fatal("the change went unnoticed")
		return nil
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// replace writes the way editors do.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".new", text)
	require.NoError(t, os.Rename(path+".new", path))
}

func TestLiveFollowsItsFile(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path, text string){"written": write, "replaced": replace} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.yaml")
			write(t, path, one)
			f := follow(t, path)
			before := f.Current()
			assert.Equal(t, 1, before.Len())
			assert.Empty(t, f.Warnings())

			change(t, path, two)
			for f.next(t) != nil { // the file may be seen half written
			}
			assert.Equal(t, 2, f.Current().Len())
			assert.Len(t, f.Warnings(), 1)
			assert.Equal(t, 1, before.Len(), "an inventory that was handed out has changed")
		})
	}
}

func TestLiveKeepsTheOldInventoryOnAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	write(t, path, one)
	f := follow(t, path)
	before := f.Current()

	replace(t, path, "version: 1\nhosts: [{name: a, prot: 22}]\n")
	require.ErrorContains(t, f.next(t), path+`:2: unknown key "prot" in a host (did you mean port?)`)
	assert.Same(t, before, f.Current())

	replace(t, path, two)
	require.NoError(t, f.next(t))
	assert.Equal(t, 2, f.Current().Len())
}

func TestLiveOutlivesItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	write(t, path, one)
	f := follow(t, path)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, f.Reload(), fs.ErrNotExist)
	assert.Equal(t, 1, f.Current().Len())

	replace(t, path, two)
	require.NoError(t, f.next(t))
	assert.Equal(t, 2, f.Current().Len())
}

// Configuration managers put a new directory beside the old one and move a link.
func TestLiveFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for version, text := range map[string]string{"v1": one, "v2": two} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		write(t, filepath.Join(dir, version, "x.yaml"), text)
	}
	require.NoError(t, os.Symlink("v1", filepath.Join(dir, "data")))
	path := filepath.Join(dir, "x.yaml")
	require.NoError(t, os.Symlink("data/x.yaml", path))
	f := follow(t, path)

	require.NoError(t, os.Symlink("v2", filepath.Join(dir, "data.new")))
	require.NoError(t, os.Rename(filepath.Join(dir, "data.new"), filepath.Join(dir, "data")))
	require.NoError(t, f.next(t))
	assert.Equal(t, 2, f.Current().Len())

	replace(t, filepath.Join(dir, "v2", "x.yaml"), one)
	require.NoError(t, f.next(t), "a change behind the link")
	assert.Equal(t, 1, f.Current().Len())
}

func TestReloadReadsNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	write(t, path, one)
	f := follow(t, path)
	replace(t, path, two)
	require.NoError(t, f.Reload())
	assert.Equal(t, 2, f.Current().Len())

	replace(t, path, "version: 9")
	require.ErrorContains(t, f.Reload(), "not supported")
	assert.Equal(t, 2, f.Current().Len())
}

func TestWatchFailsWhereLoadDoes(t *testing.T) {
	dir := t.TempDir()
	_, err := inventory.Watch(filepath.Join(dir, "none.yaml"), inventory.WatchOptions{Options: quiet})
	require.ErrorIs(t, err, fs.ErrNotExist)
	none := filepath.Join(dir, "none", "none.yaml")
	_, err = inventory.Watch(none, inventory.WatchOptions{Options: quiet})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "there is no file "+none)

	path := filepath.Join(dir, "x.yaml")
	write(t, path, "version: 9")
	_, err = inventory.Watch(path, inventory.WatchOptions{Options: quiet})
	assert.ErrorContains(t, err, path+":1: ")
}

func TestClosingTwiceIsHarmless(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	write(t, path, one)
	f := follow(t, path)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	assert.Equal(t, 1, f.Current().Len(), "what was read stays readable")
	assert.NoError(t, f.Reload(), "and can be read again")
}

// Readers, a writer and explicit reloads at the same time: for the race detector.
func TestLiveIsSafeForConcurrentUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.yaml")
	write(t, path, one)
	f := follow(t, path)
	done := make(chan error)
	go func() {
		var errs []error
		for range 50 {
			errs = append(errs, f.Reload())
		}
		done <- errors.Join(errs...)
	}()
	for i := range 50 {
		replace(t, path, map[bool]string{true: one, false: two}[i%2 == 0])
		assert.NotZero(t, f.Current().Len())
	}
	assert.NoError(t, <-done)
}

func TestLiveLooksForItselfWhereTheSystemWatchesNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inventory.yaml")
	write(t, path, one)
	f := &following{path: path, reloads: make(chan error, 100)}
	o := inventory.WatchOptions{Options: quiet, OnReload: func(err error) { f.reloads <- err }}
	live, err := inventory.Watch(path, o.WithoutWatchers(os.NewSyscallError("inotify_init1", syscall.EMFILE), time.Millisecond))
	require.NoError(t, err)
	f.Live = live
	replace(t, path, two)
	require.NoError(t, f.next(t))
	assert.Equal(t, 2, f.Current().Len())
	write(t, path, "nonsense: true\n")
	require.Error(t, f.next(t))
	assert.Equal(t, 2, f.Current().Len(), "the old one stays")
	require.NoError(t, live.Close())

	_, err = inventory.Watch(path, o.WithoutWatchers(syscall.EACCES, time.Millisecond))
	require.ErrorIs(t, err, syscall.EACCES)
}
