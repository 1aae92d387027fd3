package files_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func here(t *testing.T) *files.Host {
	return openOn(t, pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local})
}

func TestAnEditPutsTheNewTextWhereTheOldOneWas(t *testing.T) {
	h, path := here(t), filepath.Join(t.TempDir(), "f")
	long := strings.Repeat("long", 1000)
	for _, before := range []string{"", "before\n", long} {
		for _, after := range []string{"", "\nafter", long} {
			for _, new := range []string{"", "n", "new", "newer", "old and more", long + "new" + long} {
				require.NoError(t, os.WriteFile(path, []byte(before+"old"+after), 0o600))
				i, err := h.Edit(t.Context(), path, []byte("old"), []byte(new), files.WriteOptions{})
				require.NoError(t, err)
				got, err := os.ReadFile(path)
				require.NoError(t, err)
				want := before + new + after
				assert.True(t, string(got) == want, "%.20q, %.20q, %.20q", before, new, after)
				assert.Equal(t, sum(want), i.SHA256)
				assert.EqualValues(t, len(want), i.Size)
			}
		}
	}
}

// A file that is as large as may be is in memory once while it is edited, and a second one waits for its turn.
func TestAnEditHoldsAFileOnce(t *testing.T) {
	dir, h := t.TempDir(), [2]*files.Host{here(t), here(t)}
	text := bytes.Repeat([]byte("0123456789abcde\n"), files.MaxEdit/16)
	copy(text[files.MaxEdit/2:], "once and for all")
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	edit := func(i int, name, old, new string) {
		_, err := h[i].Edit(t.Context(), filepath.Join(dir, name), []byte(old), []byte(new), files.WriteOptions{})
		assert.NoError(t, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	edit(0, "a", "once and for all", "once, and for all")
	runtime.ReadMemStats(&after)
	if !needs.Detector {
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(files.MaxEdit+4<<20))
	}

	require.NoError(t, os.Truncate(filepath.Join(dir, "a"), files.MaxEdit))
	var both sync.WaitGroup
	both.Go(func() { edit(0, "a", "once, and for all", "once for all") })
	both.Go(func() { edit(1, "b", "once and for all", "once for all") })
	both.Wait()
}

// A large file that grows by a large text is edited too.
func TestAnEditMayMakeALargeFileTwiceAsLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, append(bytes.Repeat([]byte("x"), files.MaxEdit-4), "here"...), 0o600))
	i, err := here(t).Edit(t.Context(), path, []byte("here"), bytes.Repeat([]byte("y"), files.MaxEdit), files.WriteOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2*files.MaxEdit-4, i.Size)
}

// While another large file is being edited, an edit waits as long as its caller does, and changes nothing.
func TestAnEditWaitsForRoomAsLongAsItsCaller(t *testing.T) {
	release := files.HoldAllRoom(t)
	h, path := here(t), filepath.Join(t.TempDir(), "f")
	text := append(bytes.Repeat([]byte("x"), 4<<20), "here"...)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, leave)
	_, err := h.Edit(ctx, path, []byte("here"), []byte("there"), files.WriteOptions{})
	require.ErrorIs(t, err, context.Canceled)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(text, got), "nothing was changed")

	small := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(small, []byte("here"), 0o600))
	_, err = h.Edit(t.Context(), small, []byte("here"), []byte("there"), files.WriteOptions{})
	require.NoError(t, err, "a small file needs no room")

	done := make(chan error)
	go func() {
		_, err := h.Edit(t.Context(), path, []byte("here"), []byte("there"), files.WriteOptions{})
		done <- err
	}()
	release()
	require.NoError(t, <-done)
}
