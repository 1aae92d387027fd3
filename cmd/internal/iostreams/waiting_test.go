package iostreams_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func waits(f io.Reader) bool { return iostreams.New(f, io.Discard, io.Discard).InWaits() }

func TestBytesInAPipeWaitUntilTheyAreRead(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	assert.False(t, waits(r), "nothing was written yet")
	_, err = w.WriteString("abc")
	require.NoError(t, err)
	assert.True(t, waits(r))
	require.NoError(t, w.Close())
	assert.True(t, waits(r), "and the writer's end changes nothing")
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(got), "asking took nothing")
	assert.False(t, waits(r))
}

func TestBytesInASocketWait(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	a, b := os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	defer a.Close()
	assert.False(t, waits(a))
	_, err = b.WriteString("x")
	require.NoError(t, err)
	assert.True(t, waits(a))
	require.NoError(t, b.Close())
	_, err = io.ReadAll(a)
	require.NoError(t, err)
	assert.False(t, waits(a), "closed empty")
}

func TestTheRestOfAFileWaits(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, []byte("abc"), 0o600))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	assert.True(t, waits(f))
	_, err = io.ReadAll(f)
	require.NoError(t, err)
	assert.False(t, waits(f))
}

func TestDevicesTerminalsAndClosedFilesNeverWait(t *testing.T) {
	for _, dev := range []string{"/dev/null", "/dev/zero"} {
		f, err := os.Open(dev)
		require.NoError(t, err)
		assert.False(t, waits(f), dev)
		require.NoError(t, f.Close())
		assert.False(t, waits(f), "closed")
	}
	master, tty, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer tty.Close()
	_, err = master.WriteString("typed\n")
	require.NoError(t, err)
	assert.False(t, waits(tty))
	assert.False(t, waits(strings.NewReader("x")), "not a file of the system")
}
