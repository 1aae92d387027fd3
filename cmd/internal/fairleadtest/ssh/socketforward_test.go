package ssh_test

import (
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

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// upper is greeter on a socket.
func upper(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() { // ends with l
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				text, _ := io.ReadAll(c)
				_, _ = c.Write([]byte(strings.ToUpper(string(text))))
			}()
		}
	}()
}

// throughSocket is what a service says to "x", through a socket.
func throughSocket(path string) string {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = c.Write([]byte("x"))
	_ = c.(*net.UnixConn).CloseWrite()
	text, _ := io.ReadAll(c)
	return string(text)
}

func TestSocketsAreForwardedJudgedAndRecorded(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		dir, err := os.MkdirTemp("", "fl") // paths of sockets are short
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		service, far := filepath.Join(dir, "service:1"), filepath.Join(dir, "far")
		upper(t, service)
		escaped := strings.ReplaceAll(service, ":", `\:`)
		f := a.forward(4, "-L", "./near.sock:"+escaped, "-R", far+":"+escaped, "-L", "0:"+escaped, "-R", "127.0.0.1:0:"+escaped)
		near := filepath.Join(a.dir, "near.sock")
		assert.Equal(t, near, f.open[0].Listen)
		assert.Equal(t, service, f.open[0].To)
		assert.Equal(t, "X", throughSocket(near))
		assert.Equal(t, "X", throughSocket(far))
		assert.Equal(t, "X", through(f.open[2].Listen, ""))
		assert.Equal(t, "X", through(f.open[3].Listen, ""))
		info, err := os.Stat(near)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		again := exec.Command(a.fairlead(), "forward", "sshd", "-L", near+":"+escaped)
		again.Env = a.env
		out, err := again.CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), "a file of that name is there: remove it; a socket gives way with --unlink")
		f.end()
		assert.NoFileExists(t, near)
		assert.Contains(t, throughSocket(far), "refused", "sshd lets the file be")
		events := a.entries(f.open[0].ID)
		assert.Equal(t, "-L "+near+":"+escaped, events[0].Command)
		assert.Contains(t, events[1].Change, "listened on "+near+", 1 connection")

		old, err := net.ListenUnix("unix", &net.UnixAddr{Name: near, Net: "unix"})
		require.NoError(t, err)
		old.SetUnlinkOnClose(false)
		require.NoError(t, old.Close())
		f = a.forward(1, "--unlink", "-L", near+":"+escaped)
		assert.Equal(t, "X", throughSocket(near))
		f.end()
		assert.NoFileExists(t, near)
	})
}

func TestSSHForwardsSockets(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		needs.Part(t, "python3 is not installed")
	}
	inPlaceOfSSH(t, func(a *asSSH) {
		dir, err := os.MkdirTemp("", "fl")
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		service, near, far := filepath.Join(dir, "s"), filepath.Join(dir, "n"), filepath.Join(dir, "f")
		upper(t, service)
		script := `import socket,sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.connect(path); s.sendall(b"x"); s.shutdown(socket.SHUT_WR); print(s.recv(9).decode())
`
		file := filepath.Join(dir, "c.py")
		require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
		assert.Equal(t, "X\nX\n", a.ok(a.ssh, "-L", near+":"+service, "-R", far+":"+service, "sshd", "python3", file, near, far))
		assert.NoFileExists(t, near)
		require.NoError(t, os.Remove(far)) // sshd lets it be
		require.NoError(t, os.WriteFile(near, nil, 0o600))
		r := a.run("", a.ssh, "-o", "StreamLocalBindUnlink=yes", "-L", near+":"+service, "sshd", "true")
		assert.Equal(t, 255, r.Code)
		assert.Contains(t, r.Err, "a file of that name is there", "what is no socket stays")
		assert.FileExists(t, near)
	})
}
