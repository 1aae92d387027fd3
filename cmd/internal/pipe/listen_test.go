package pipe

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// These are inside the package because a machine without ::1 cannot be had in a test, and another address that is missing can.

// greet listens as listen does, and returns the port where connections are greeted.
func greet(t *testing.T, listen func() (net.Listener, error)) (port string, l net.Listener) {
	t.Helper()
	l, err := listen()
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello")
			c.Close()
		}
	}()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), l
}

func greeting(host, port string) string {
	c, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	text, _ := io.ReadAll(c)
	return string(text)
}

// needsIPv6 skips where the machine has no ::1.
func needsIPv6(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		needs.Part(t, "the machine has no ::1")
	}
	l.Close()
}

func TestLocalhostIsBothLoopbackAddresses(t *testing.T) {
	needsIPv6(t)
	port, l := greet(t, func() (net.Listener, error) { return Listen(hosts.Forward{Option: "-D", Bind: "localhost"}) })
	for range 2 {
		assert.Equal(t, "hello", greeting("127.0.0.1", port))
		assert.Equal(t, "hello", greeting("::1", port))
	}
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err := l.Accept()
	assert.ErrorIs(t, err, net.ErrClosed)
	assert.Contains(t, greeting("127.0.0.1", port), "refused")
	assert.Contains(t, greeting("::1", port), "refused")

	port, _ = greet(t, func() (net.Listener, error) { return Listen(hosts.Forward{Option: "-D", Bind: "127.0.0.1"}) })
	assert.Equal(t, "hello", greeting("127.0.0.1", port))
	assert.Contains(t, greeting("::1", port), "refused", "an address that is named is the only one")
}

func TestAPortThatIsInUseOnOneLoopbackAddressIsAnError(t *testing.T) {
	needsIPv6(t)
	for _, address := range loopback {
		taken, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
		require.NoError(t, err)
		defer taken.Close()
		port := uint16(taken.Addr().(*net.TCPAddr).Port)
		_, err = Listen(hosts.Forward{Option: "-D", Bind: "localhost", Port: port})
		assert.ErrorIs(t, err, syscall.EADDRINUSE)
		assert.ErrorContains(t, err, taken.Addr().String())
	}
}

func TestAnAddressThatTheMachineLacksIsLeftOut(t *testing.T) {
	const nowhere = "2001:db8::1"
	port, _ := greet(t, func() (net.Listener, error) { return listenOn([]string{"127.0.0.1", nowhere}, 0) })
	assert.Equal(t, "hello", greeting("127.0.0.1", port))
	port, _ = greet(t, func() (net.Listener, error) { return listenOn([]string{nowhere, "127.0.0.1"}, 0) })
	assert.Equal(t, "hello", greeting("127.0.0.1", port))
	_, err := listenOn([]string{nowhere}, 0)
	assert.ErrorContains(t, err, nowhere)
}

func TestASocketToListenOn(t *testing.T) {
	dir, err := os.MkdirTemp("", "fl") // paths of sockets are short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	f := hosts.Forward{Option: "-D", Bind: path}
	l, err := Listen(f)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = Listen(f)
	assert.ErrorContains(t, err, "a file of that name is there: remove it; a socket gives way with --unlink")
	require.NoError(t, l.Close())
	assert.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	f.Unlink = true
	_, err = Listen(f)
	assert.ErrorContains(t, err, "a file of that name is there", "only sockets give way")
	assert.FileExists(t, path)
	f.Bind = filepath.Join(dir, strings.Repeat("x", 104))
	_, err = Listen(f)
	assert.ErrorContains(t, err, "the path of a socket has at most 103 bytes, and this one has "+strconv.Itoa(len(f.Bind)))
}
