package fairleadtest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
)

// keeperSurroundings gives a script a keeper of its own, should it start one, and ends that with the script. The name of
// a socket must be short.
func keeperSurroundings(e *testscript.Env) error {
	dir, err := os.MkdirTemp("", "fl")
	if err != nil {
		return err
	}
	e.Setenv("XDG_RUNTIME_DIR", dir)
	places := listen.Places{Socket: filepath.Join(dir, "fairlead", "keeper.sock")}
	e.Defer(func() {
		defer os.RemoveAll(dir)
		if _, err := os.Stat(filepath.Dir(places.Socket)); err != nil {
			return // none was ever started
		}
		ctx, cancel := context.WithTimeout(context.Background(), AwaitAtMost)
		defer cancel()
		if err := reach.Stop(ctx, places); err != nil && !errors.Is(err, reach.ErrNone) {
			e.T().Log("the keeper does not end: ", err)
			e.T().FailNow()
		}
	})
	return nil
}

// KeeperHome is a directory for HOME and XDG_RUNTIME_DIR, and stop ends the keeper that has been started there; the end of
// the test does so too. The name of a socket must be short.
func KeeperHome(t *testing.T) (dir string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fl")
	require.NoError(t, err)
	places := listen.Places{Socket: filepath.Join(dir, "fairlead", "keeper.sock")}
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), AwaitAtMost)
		defer cancel()
		if err := reach.Stop(ctx, places); !errors.Is(err, reach.ErrNone) { // what was tried may need none
			assert.NoError(t, err)
		}
	})
	t.Cleanup(func() {
		stop()
		os.RemoveAll(dir)
	})
	return dir, stop
}

// Program puts a copy of the program into dir: the binary of a test starts no keeper.
func Program(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	name := filepath.Join(dir, "bin", "fairlead")
	require.NoError(t, os.Mkdir(filepath.Dir(name), 0o700))
	if os.Link(self, name) == nil {
		return name
	}
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return name
}
