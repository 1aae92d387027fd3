package sinks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit/sinks"
)

// A head that is not on a disk is not acknowledged.
func TestAFileThatKeepsNothingIsNoPlace(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for path, want := range map[string]string{"/dev/full": "no space left on device", "/dev/null": "invalid argument", fifo: "illegal seek"} {
		assert.EqualError(t, place(t, sinks.Config{File: path}).Anchor(t.Context(), head(t)), want, path)
	}
}

// Some directories, as those of /proc, cannot be synced: that says nothing about the file.
func TestADirectoryThatCannotBeSyncedIsPassedOver(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "heads"))
	require.NoError(t, err)
	defer f.Close()
	a := head(t)
	require.NoError(t, place(t, sinks.Config{File: fmt.Sprintf("/proc/self/fd/%d", f.Fd())}).Anchor(t.Context(), a))
	got, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	assert.Equal(t, string(a.Line())+"\n", string(got))
}

func TestNoFileIsLeftOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what was forgotten
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(open)
	}
	dir, a := t.TempDir(), head(t)
	before := count()
	for i := range 20 {
		require.NoError(t, place(t, sinks.Config{File: filepath.Join(dir, fmt.Sprint(i))}).Anchor(t.Context(), a))
	}
	assert.Less(t, count(), before+20)
}
