package approval_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// asAnother has the kernel take what fn does for another account's.
func asAnother(t *testing.T, uid int, fn func()) {
	t.Helper()
	needs.Root(t, "be another account")
	runtime.LockOSThread()
	_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)) // this thread alone
	require.Zero(t, errno)
	fn()
	_, _, errno = unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 0, ^uintptr(0))
	require.Zero(t, errno)
	runtime.UnlockOSThread() // else the thread ends with the test
}

// Who answers for a socket says what a person is shown, and hears what they say: a process of another account is sent
// nothing.
func TestAClientAsksNoProcessOfAnotherAccount(t *testing.T) {
	dir := place(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "1-x.sock"), Net: "unix"})
	require.NoError(t, err)
	defer l.Close()
	raw, err := l.SyscallConn()
	require.NoError(t, err)
	asAnother(t, 12345, func() {
		require.NoError(t, raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 8) })) // SO_PEERCRED is who listened last
		require.NoError(t, err)
	})
	heard := make(chan []byte, 8)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(c)
			c.Close()
			heard <- text
		}
	}()
	c := dial(t, dir)
	const want = "is not of this account, and was not asked"
	for name, call := range map[string]func(context.Context) error{
		"list": func(ctx context.Context) error { _, err := c.List(ctx); return err },
		"answer": func(ctx context.Context) error {
			return c.Answer(ctx, approval.Response{ID: "a_1", Approved: true, Reason: "hunter2"})
		},
		"sessions": func(ctx context.Context) error { _, err := c.ForSessions(ctx); return err },
	} {
		require.ErrorContains(t, call(t.Context()), want, name)
		assert.Empty(t, string(<-heard), name)
	}
	l.Close()
	<-done
}

// Without the kernel's word a caller is no account: least of all root, whose number is 0.
func TestWhoHasConnectedIsWhatTheKernelSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer l.Close()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer c.Close()
	uid, pid, err := approval.PeerOf(c)
	require.NoError(t, err)
	assert.Equal(t, []int{os.Getuid(), os.Getpid()}, []int{uid, pid})

	raw, err := c.SyscallConn()
	require.NoError(t, err)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.Dup3(int(null.Fd()), int(fd), unix.O_CLOEXEC) }))
	require.NoError(t, err)
	_, _, err = approval.PeerOf(c)
	require.ErrorIs(t, err, unix.ENOTSOCK)
	require.NoError(t, c.Close())
	_, _, err = approval.PeerOf(c)
	require.ErrorIs(t, err, net.ErrClosed)
	_, _, err = approval.PeerOf(new(net.UnixConn))
	require.ErrorIs(t, err, unix.EINVAL)
}

// What a process was started with tells whose it is.
func TestAnEnvironmentIsReadByName(t *testing.T) {
	getenv, err := approval.EnvironOf(os.Getpid())
	require.NoError(t, err)
	assert.Equal(t, os.Getenv("PATH"), getenv("PATH"))
	assert.Empty(t, getenv("PAT"))
	_, err = approval.EnvironOf(-1)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file of which the system does not say whose it is has no owner, least of all root.
func TestAFileWithoutAnOwnerHasNone(t *testing.T) {
	st, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	_, known := approval.Owner(st)
	assert.True(t, known)
	_, known = approval.Owner(withoutSys{st})
	assert.False(t, known)
}

// withoutSys is what a file system says that is not the system's.
type withoutSys struct{ os.FileInfo }

func (withoutSys) Sys() any { return nil }
