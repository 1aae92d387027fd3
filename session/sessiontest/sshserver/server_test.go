package sshserver_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
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
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is OpenSSH's own client with a key that servers of the test let in.
type client struct {
	t   *testing.T
	ssh string
	dir string
	key ssh.PublicKey
}

func newClient(t *testing.T) *client {
	t.Helper()
	path, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "OpenSSH's client is not installed")
	}
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "test")
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	c := &client{t: t, ssh: path, dir: t.TempDir(), key: signer.PublicKey()}
	require.NoError(t, os.WriteFile(c.path("key"), pem.EncodeToMemory(block), 0o600))
	return c
}

func (c *client) path(name string) string { return filepath.Join(c.dir, name) }

func (c *client) command(s *sshserver.Server, more ...string) *exec.Cmd {
	c.t.Helper()
	host, port, err := net.SplitHostPort(s.Addr())
	require.NoError(c.t, err)
	line := "[" + host + "]:" + port + " " + string(ssh.MarshalAuthorizedKey(s.HostKey()))
	require.NoError(c.t, os.WriteFile(c.path("known"), []byte(line), 0o600))
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	c.t.Cleanup(cancel)
	args := append([]string{"-F", "none", "-p", port, "-i", c.path("key"), "-o", "IdentityAgent=none", "-o", "IdentitiesOnly=yes",
		"-o", "UserKnownHostsFile=" + c.path("known"), "-o", "BatchMode=yes"}, more...)
	return exec.CommandContext(ctx, c.ssh, args...)
}

func serve(t *testing.T, cfg sshserver.Config) *sshserver.Server {
	t.Helper()
	s, err := sshserver.Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestOpenSSHsClientRunsCommands(t *testing.T) {
	c := newClient(t)
	s := serve(t, sshserver.Config{ClientKeys: []ssh.PublicKey{c.key}})
	for name, tt := range map[string]struct {
		args     []string
		in       string
		out, err string
		code     int
	}{
		"without a terminal": {args: []string{"127.0.0.1", "printf out; printf err >&2; exit 3"}, out: "out", err: "err", code: 3},
		"with input":         {args: []string{"127.0.0.1", "tr a-z A-Z"}, in: "text", out: "TEXT"},
		"with a terminal":    {args: []string{"-tt", "127.0.0.1", "test -t 0 && printf '%s\\n' $TERM; exit 4"}, out: "xterm-test\r\n", code: 4},
		"by a signal":        {args: []string{"127.0.0.1", "kill -TERM $$"}, code: 255},
		"environment":        {args: []string{"-o", "SetEnv=FAIRLEAD=yes", "127.0.0.1", "printf %s $FAIRLEAD"}, out: "yes"},
		"the shell itself":   {args: []string{"-T", "127.0.0.1"}, in: "printf typed\n", out: "typed"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := c.command(s, tt.args...)
			cmd.Env = append(os.Environ(), "TERM=xterm-test")
			var out, stderr bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tt.in), &out, &stderr
			_ = cmd.Run()
			assert.Equal(t, tt.out, out.String())
			assert.Contains(t, stderr.String(), tt.err)
			assert.Equal(t, tt.code, cmd.ProcessState.ExitCode(), stderr.String())
		})
	}
}

func TestOpenSSHsClientJumpsThroughTheServer(t *testing.T) {
	c := newClient(t)
	s := serve(t, sshserver.Config{ClientKeys: []ssh.PublicKey{c.key}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.WriteString(conn, "hello")
			conn.Close()
		}
	}()
	out, err := c.command(s, "-W", l.Addr().String(), "127.0.0.1").Output()
	require.NoError(t, err)
	assert.Equal(t, "hello", string(out))
}

func TestAStrangerIsNotLetIn(t *testing.T) {
	c := newClient(t)
	s := serve(t, sshserver.Config{})
	require.NotNil(t, s.ClientKey())
	out, err := c.command(s, "127.0.0.1", "true").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "Permission denied")
}

func TestClosingTheServerEndsItsPrograms(t *testing.T) {
	c := newClient(t)
	s := serve(t, sshserver.Config{ClientKeys: []ssh.PublicKey{c.key}, Grace: -1})
	for _, terminal := range []string{"-T", "-tt"} {
		cmd := c.command(s, terminal, "127.0.0.1", "trap '' HUP; echo up; while :; do sleep 600; done")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, 2))
		require.NoError(t, err)
		t.Cleanup(func() { _ = cmd.Wait() })
	}
	require.NoError(t, s.Close())
	assert.Zero(t, s.Connections())
}

func TestASubsystemIsServedByName(t *testing.T) {
	c := newClient(t)
	s := serve(t, sshserver.Config{ClientKeys: []ssh.PublicKey{c.key}, Subsystems: map[string]func(io.ReadWriteCloser) error{
		"shout": func(rw io.ReadWriteCloser) error {
			b, err := io.ReadAll(rw)
			if err == nil {
				_, err = rw.Write(bytes.ToUpper(b))
			}
			return err
		},
	}})
	cmd := c.command(s, "-s", "127.0.0.1", "shout")
	cmd.Stdin = strings.NewReader("text")
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "TEXT", string(out))
	require.Error(t, c.command(s, "-s", "127.0.0.1", "unknown").Run())
}

func TestAScriptedProgramTakesTheShellsPlace(t *testing.T) {
	c := newClient(t)
	s := serve(t, sshserver.Config{ClientKeys: []ssh.PublicKey{c.key}, Program: func(_ context.Context, p *sshserver.Session) sshserver.Exit {
		_, _ = io.WriteString(p, "asked for "+p.Line)
		return sshserver.Exit{Code: 9}
	}})
	cmd := c.command(s, "127.0.0.1", "anything")
	out, _ := cmd.Output()
	assert.Equal(t, "asked for anything", string(out))
	assert.Equal(t, 9, cmd.ProcessState.ExitCode())
}
