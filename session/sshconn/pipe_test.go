package sshconn_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// through runs p to its end.
func through(t *testing.T, on session.Transport, p sshconn.Piped, stdin string) (stdout, stderr string, exit session.Exit) {
	t.Helper()
	pipe, err := on.(*sshconn.Conn).Pipe(t.Context(), p)
	require.NoError(t, err)
	defer pipe.Close()
	var out, errOut bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(pipe, strings.NewReader(stdin)); _ = pipe.CloseWrite() })
	wg.Go(func() { _, _ = io.Copy(&errOut, pipe.Stderr()) })
	_, err = io.Copy(&out, pipe)
	require.NoError(t, err)
	wg.Wait()
	exit, err = pipe.Wait()
	require.NoError(t, err)
	return out.String(), errOut.String(), exit
}

func TestAPipeHasExactStreams(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "AcceptEnv PIPED_*")
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	out, errOut, exit := through(t, c, sshconn.Piped{Line: "cat; printf 'e\\0' >&2; exit 9"}, "a\r\n\x00\xff")
	assert.Equal(t, "a\r\n\x00\xff", out)
	assert.Equal(t, "e\x00", errOut)
	assert.Equal(t, session.Exit{Code: 9}, exit)
	_, _, exit = through(t, c, sshconn.Piped{Line: "kill -TERM $$"}, "")
	assert.Equal(t, session.Exit{Signal: "TERM"}, exit)
	out, _, _ = through(t, c, sshconn.Piped{Line: "printf %s-%s \"$PIPED_A\" \"$OTHER\"", Env: []string{"PIPED_A=x=y", "OTHER=no"}}, "")
	assert.Equal(t, "x=y-", out)
	out, _, _ = through(t, c, sshconn.Piped{}, "echo from $((1+1))\n")
	assert.Contains(t, out, "from 2\n")
	large := strings.Repeat("0123456789abcdef", 1<<18)
	out, errOut, _ = through(t, c, sshconn.Piped{Line: "tee /dev/stderr"}, large)
	assert.Equal(t, len(large), len(out))
	assert.Equal(t, len(large), len(errOut))
	out, _, _ = through(t, c, sshconn.Piped{Line: "tty; stty size", Terminal: &session.Program{Size: session.Size{Rows: 5, Cols: 77}, Term: "vt100"}}, "")
	assert.Contains(t, out, "5 77")
}

func TestAPipeToASubsystemAndAPort(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	_, err := c.Pipe(t.Context(), sshconn.Piped{Subsystem: "nosuch"})
	assert.ErrorIs(t, err, errors.ErrUnsupported)
	p, err := c.Pipe(t.Context(), sshconn.Piped{Subsystem: "sftp"})
	require.NoError(t, err)
	_, err = p.Write([]byte("\x00\x00\x00\x05\x01\x00\x00\x00\x03"))
	require.NoError(t, err)
	head := make([]byte, 5)
	_, err = io.ReadFull(p, head)
	require.NoError(t, err)
	assert.Equal(t, byte(2), head[4], "its version")
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())

	host, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	n, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	p, err = c.Pipe(t.Context(), sshconn.Piped{Host: host, Port: uint16(n)})
	require.NoError(t, err)
	greeting := make([]byte, 8)
	_, err = io.ReadFull(p, greeting)
	require.NoError(t, err)
	assert.Equal(t, "SSH-2.0-", string(greeting))
	require.NoError(t, p.Close())
	_, _ = p.Wait()
	_, err = c.Pipe(t.Context(), sshconn.Piped{Host: "127.0.0.1", Port: 1})
	assert.Error(t, err)
}

// A program that goes on without its caller costs no one else the connection.
func TestAPipeThatIsHungUpLeavesTheConnectionToOthers(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1")).(*sshconn.Conn)
	p, err := c.Pipe(t.Context(), sshconn.Piped{Line: "trap '' HUP; echo $$; exec sleep 1000"})
	require.NoError(t, err)
	pid := make([]byte, 16)
	n, err := p.Read(pid)
	require.NoError(t, err)
	require.NoError(t, p.Close())
	_, err = p.Wait()
	assert.ErrorIs(t, err, session.ErrClosed)
	select {
	case <-p.Left():
	default:
		t.Error("it is left")
	}
	out, _, _ := through(t, c, sshconn.Piped{Line: "kill -9 " + strings.TrimSpace(string(pid[:n])) + " && echo still here"}, "")
	assert.Equal(t, "still here\n", out)
}
