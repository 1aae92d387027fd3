package approval_test

import (
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestAnAddressIsReadAsTheKernelWritesIt(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the addresses below are those of a machine that writes the lowest byte first")
	}
	for text, want := range map[string]string{
		"0100007F:0016":                         "127.0.0.1:22",
		"0200000A:FFFF":                         "10.0.0.2:65535",
		"00000000000000000000000001000000:0016": "[::1]:22",
		"0000000000000000FFFF00000100007F:0016": "127.0.0.1:22",
		"":                                      "", "local_address": "", "0100007F": "", "0100007F:": "", ":0016": "", "0100007G:0016": "", "0100007F:10000": "", "0100007F:x": "",
		"01000:0016": "", "010000:0016": "", "0100007F00:0016": "", "0100007F0100007F:0016": "",
	} {
		a, ok := approval.KernelAddr(text)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, a.String())
		}
	}
}

func TestWhatAnotherLoginHasStartedIsOfThatLogin(t *testing.T) {
	const self, login, shell, editor, daemon, other, mine = 1, 20, 21, 22, 30, 31, 2
	logins := map[int]string{self: "3", mine: "3", login: "7", shell: "7", editor: "7", daemon: "", other: ""}
	all := func() []int { return []int{self, mine, login, shell, editor, daemon, other} }
	of := func(pid int) string { return logins[pid] }
	assert.Equal(t, []int{login, editor}, approval.LoginMates(shell, self, all, of))
	assert.Empty(t, approval.LoginMates(mine, self, all, of), "it is ours")
	assert.Empty(t, approval.LoginMates(daemon, self, all, of), "what belongs to no login has nothing in common")
	logins[self] = ""
	assert.Empty(t, approval.LoginMates(daemon, self, all, of))
	assert.Equal(t, []int{self}, approval.LoginMates(mine, login, all, func(pid int) string { return map[int]string{self: "3", mine: "3"}[pid] }))
}

// A program that was given the client's end holds it too; one that was not is no holder, nor is the server.
func TestWhoHoldsAConnectionIsWhoHasTheClientsEndOfIt(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil && addr == "[::1]:0" {
			continue // a machine without IPv6
		}
		require.NoError(t, err)
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		defer c.Close()
		served, err := l.Accept()
		require.NoError(t, err)
		defer served.Close()
		file := func(c net.Conn) *os.File {
			f, err := c.(*net.TCPConn).File()
			require.NoError(t, err)
			return f
		}
		client, server := file(c), file(served)
		given, other := runs(t, client), runs(t, server)
		assert.Equal(t, []int{os.Getpid(), given}, approval.Holders(c))
		require.NoError(t, client.Close())
		require.NoError(t, c.Close())
		assert.Equal(t, []int{given}, approval.Holders(c))
		assert.NotContains(t, approval.Holders(served), given)
		assert.Contains(t, approval.Holders(served), other, "each end is found by its own addresses")
		require.NoError(t, server.Close())
		assert.Empty(t, approval.Holders(unheld(t)), "what is closed belongs to no process")
	}
}

// runs starts a program that has a file, and ends it with the test.
func runs(t *testing.T, f *os.File) (pid int) {
	cmd := exec.Command("sleep", "1000")
	cmd.ExtraFiles = []*os.File{f}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// unheld is a connection that was there and is not any more.
func unheld(t *testing.T) net.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	other, err := l.Accept()
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, c.Close())
	return c
}
