package sshconn_test

import (
	"io"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestAServerListensForTheOtherSide(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	first, err := c.Listen(t.Context(), "localhost", 0)
	require.NoError(t, err)
	second, err := c.Listen(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	require.NotZero(t, first.Port())
	assert.NotEqual(t, first.Port(), second.Port())
	assert.Equal(t, net.JoinHostPort("localhost", strconv.Itoa(int(first.Port()))), first.Addr())
	for _, l := range []*sshconn.Listener{first, second} {
		outside, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(l.Port()))))
		require.NoError(t, err)
		defer outside.Close()
		inside, err := l.Accept()
		require.NoError(t, err)
		_, err = outside.Write([]byte("to here\x00\xff"))
		require.NoError(t, err)
		require.NoError(t, outside.(*net.TCPConn).CloseWrite())
		text, err := io.ReadAll(inside)
		require.NoError(t, err)
		assert.Equal(t, "to here\x00\xff", string(text))
		_, err = inside.Write([]byte("and back"))
		require.NoError(t, err)
		require.NoError(t, inside.CloseWrite())
		text, err = io.ReadAll(outside)
		require.NoError(t, err)
		assert.Equal(t, "and back", string(text))
		require.NoError(t, inside.Close())
	}
	require.NoError(t, first.Close())
	require.NoError(t, first.Close())
	_, err = first.Accept()
	assert.ErrorIs(t, err, session.ErrClosed)
	_, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(first.Port()))))
	assert.Error(t, err, "the server listens no more")
	again, err := c.Listen(t.Context(), "localhost", first.Port())
	require.NoError(t, err, "and the port is free")
	require.NoError(t, again.Close())

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = c.Listen(t.Context(), "127.0.0.1", uint16(taken.Addr().(*net.TCPAddr).Port))
	assert.ErrorIs(t, err, sshconn.ErrRefused, "it is in use")
	assert.ErrorContains(t, err, "the port may be in use there")
	require.NoError(t, c.Close())
	_, err = second.Accept()
	assert.ErrorIs(t, err, session.ErrClosed)
	_, err = c.Listen(t.Context(), "localhost", 0)
	assert.ErrorIs(t, err, session.ErrClosed)
}

func TestAServerThatAllowsNoForwardsSaysSo(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "AllowTcpForwarding no")
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	_, err := c.Listen(t.Context(), "localhost", 0)
	assert.ErrorIs(t, err, sshconn.ErrRefused)
	assert.ErrorContains(t, err, "AllowTcpForwarding or PermitListen may not allow it")
	_, err = c.Pipe(t.Context(), sshconn.Piped{Host: "127.0.0.1", Port: 1})
	assert.ErrorContains(t, err, "does not forward connections")
}

func TestSocketsAreConnectedToAndListenedOn(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	dir := t.TempDir()
	path := filepath.Join(dir, "a:b c")
	l, err := c.Listen(t.Context(), path, 0)
	require.NoError(t, err)
	assert.Equal(t, path, l.Addr())
	assert.Zero(t, l.Port())
	port, err := c.Listen(t.Context(), "localhost", 0)
	require.NoError(t, err)
	p, err := c.Pipe(t.Context(), sshconn.Piped{Host: path})
	require.NoError(t, err)
	inside, err := l.Accept()
	require.NoError(t, err)
	for _, way := range [][2]*sshconn.Pipe{{p, inside}, {inside, p}} {
		_, err = way[0].Write([]byte("all bytes\x00\xff"))
		require.NoError(t, err)
		require.NoError(t, way[0].CloseWrite())
		text, err := io.ReadAll(way[1])
		require.NoError(t, err)
		assert.Equal(t, "all bytes\x00\xff", string(text))
	}
	_, err = c.Listen(t.Context(), path, 0)
	assert.ErrorIs(t, err, sshconn.ErrRefused, "it is there already")
	assert.ErrorContains(t, err, "a file of that name may be there")
	require.NoError(t, l.Close())
	_, err = l.Accept()
	assert.ErrorIs(t, err, session.ErrClosed)
	require.NoError(t, port.Close())
	_, err = c.Pipe(t.Context(), sshconn.Piped{Host: filepath.Join(dir, "none")})
	assert.ErrorContains(t, err, "nothing may listen on it")
}

func TestAServerThatAllowsNoSocketsSaysSo(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "AllowStreamLocalForwarding no")
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	path := filepath.Join(t.TempDir(), "s")
	_, err := c.Listen(t.Context(), path, 0)
	assert.ErrorIs(t, err, sshconn.ErrRefused)
	assert.ErrorContains(t, err, "AllowStreamLocalForwarding may not allow it")
	_, err = c.Pipe(t.Context(), sshconn.Piped{Host: path})
	assert.ErrorContains(t, err, "AllowStreamLocalForwarding not allow it")
	server := sessiontest.Server(t, sshserver.Config{})
	own := dial(t, static(t, server), sessiontest.Host(t, "own", server.Addr())).(*sshconn.Conn)
	_, err = own.Pipe(t.Context(), sshconn.Piped{Host: path})
	assert.ErrorContains(t, err, "cannot connect to sockets")
	_, err = own.Listen(t.Context(), path, 0)
	assert.ErrorIs(t, err, sshconn.ErrRefused)
}
