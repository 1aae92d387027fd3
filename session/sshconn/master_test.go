package sshconn_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// The connection of a real ssh serves, as long as it lives.
func TestTheConnectionOfAnotherSSHIsUsed(t *testing.T) {
	client, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "ssh is not installed")
	}
	sshd := sessiontest.OpenSSHD(t)
	dir, err := os.MkdirTemp("", "ctl") // a path that a socket can have
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile(sshd.Config)
	require.NoError(t, err)
	config := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(config, append([]byte("ControlPath "+dir+"/%r@%h-%C\n"), text...), 0o600))
	logins := func() int {
		log, err := os.ReadFile(sshd.Log)
		require.NoError(t, err)
		return strings.Count(string(log), "Accepted publickey")
	}
	d, err := sshconn.Default(sshconn.DefaultConfig{Loader: sshconfig.Loader{Home: dir, User: "me"}, Network: sshconn.Network{KeepAlive: 50 * time.Millisecond}})
	require.NoError(t, err)
	h := hosts.Host{Name: "sshd", SSHConfig: config}

	master := exec.CommandContext(t.Context(), client, "-F", config, "-M", "-N", "sshd")
	hello, err := master.StderrPipe()
	require.NoError(t, err)
	master.Args = append(master.Args[:1:1], append([]string{"-v"}, master.Args[1:]...)...)
	require.NoError(t, master.Start())
	ready := make(chan struct{})
	go func() {
		var b strings.Builder
		buf := make([]byte, 4096)
		for open := false; ; {
			n, err := hello.Read(buf)
			if b.Write(buf[:n]); !open && strings.Contains(b.String(), "Entering interactive session") {
				open = true
				close(ready)
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(30 * time.Second):
		t.Fatal("ssh does not connect")
	}
	require.Equal(t, 1, logins())

	c, err := d.DialConn(t.Context(), h)
	require.NoError(t, err)
	for _, mode := range []int{0, 7} {
		s, err := c.Open(t.Context(), session.Program{Line: fmt.Sprintf("echo hello; exit %d", mode)})
		require.NoError(t, err)
		out, err := io.ReadAll(s)
		require.NoError(t, err)
		assert.Contains(t, string(out), "hello")
		s.Close()
	}
	require.NoError(t, c.Ping(t.Context()))
	require.NoError(t, c.CheckHostKey())
	assert.Equal(t, sshd.User, c.Peer().User)
	assert.Equal(t, 1, logins(), "nobody has logged in again")

	// What the inventory says about a host is not left to the other ssh.
	own := h
	own.Identity = []string{sshd.KeyFile}
	other, err := d.DialConn(t.Context(), own)
	require.NoError(t, err)
	other.Close()
	assert.Equal(t, 2, logins())
	key, err := d.ScanHostKey(t.Context(), h)
	require.NoError(t, err)
	assert.NotNil(t, key, "the key of the host itself is looked at")

	// It ends with that ssh, and then Fairlead connects itself.
	require.NoError(t, master.Process.Kill())
	_ = master.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	select {
	case <-c.Done():
	case <-ctx.Done():
		t.Fatal("the end of the other ssh is not seen")
	}
	c.Close()
	c, err = d.DialConn(ctx, h)
	require.NoError(t, err)
	c.Close()
	assert.Equal(t, 3, logins())

	// A socket on which nobody answers is not waited for for long.
	sock := filepath.Join(dir, "silent")
	l, err := net.Listen("unix", sock)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.WriteFile(config, append([]byte("ControlPath "+sock+"\n"), text...), 0o600))
	c, err = d.DialConn(ctx, h)
	require.NoError(t, err)
	c.Close()
	assert.Equal(t, 4, logins())
}
