package reach

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALogThatIsAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keeper.log")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	done := make(chan error, 1)
	go func() {
		_, err := openLog(path)
		done <- err
	}()
	select {
	case err := <-done:
		assert.ErrorContains(t, err, path+" is not a regular file")
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the pipe's other end")
	}
}
