package mcpserver_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// exchanges configures an exchange directory, and returns it.
func (p place) exchanges(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(p.home, ".config", "fairlead"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(p.home, ".config", "fairlead", "config.yaml"), []byte("exchange: "+dir+"\n"), 0o600))
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o640))
}

const content = "port = 80\ntoken = ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"

func TestFilesAreTransferredWithoutTheModel(t *testing.T) {
	sshd := sshdInventory(sessiontest.OpenSSHD(t))
	p := newPlace(t, sshd+"  - {name: here, transport: local, tier: dev}\n", "")
	dir, far := p.exchanges(t), t.TempDir()
	c := p.start(t, nil, "--allow-all")
	write(t, dir+"/site/app.conf", content)
	write(t, dir+"/site/sub/b", "b")

	r := c.call("file_transfer", args{"direction": "upload", "targets": "all", "local": "site/app.conf", "remote": far + "/app.conf", "reason": "the new port"})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, r.Raw, hashOf(content))
	assert.NotContains(t, r.Raw, "port = 80")
	assert.NotContains(t, r.Raw, "progress", "of what is over")
	got, err := os.ReadFile(far + "/app.conf")
	require.NoError(t, err)
	assert.Equal(t, content, string(got), "exact, with its secrets")

	r = c.call("file_transfer", args{"direction": "upload", "targets": "sshd", "local": dir + "/site/", "remote": far + "/new"})
	require.Nil(t, r.Error, r.Raw)
	assert.FileExists(t, far+"/new/sub/b", "what is in it")
	r = c.call("file_transfer", args{"direction": "upload", "targets": "sshd", "local": "site", "remote": far})
	require.Nil(t, r.Error, r.Raw)
	assert.FileExists(t, far+"/site/sub/b")

	when := time.Unix(1e9, 0)
	require.NoError(t, os.Chtimes(dir+"/site/app.conf", when, when))
	r = c.call("file_transfer", args{"direction": "upload", "targets": "sshd", "local": "site/app.conf", "remote": far + "/timed", "times": true})
	require.Nil(t, r.Error, r.Raw)
	r = c.call("file_transfer", args{"direction": "download", "targets": "sshd", "local": "timed", "remote": far + "/timed", "times": true})
	require.Nil(t, r.Error, r.Raw)
	for _, name := range []string{far + "/timed", dir + "/timed/sshd/timed"} {
		st, err := os.Stat(name)
		require.NoError(t, err)
		assert.True(t, st.ModTime().Equal(when), "%s: %v", name, st.ModTime())
	}

	r = c.call("file_transfer", args{"direction": "download", "targets": "all", "local": "logs", "remote": far + "/new/a*"})
	require.Nil(t, r.Error, r.Raw)
	assert.NotContains(t, r.Raw, "port = 80")
	assert.NotContains(t, r.Raw, "progress")
	for _, host := range []string{"sshd", "here"} {
		got, err := os.ReadFile(dir + "/logs/" + host + "/app.conf")
		require.NoError(t, err)
		assert.Equal(t, content, string(got))
	}
	r = c.call("file_transfer", args{"direction": "download", "targets": "here", "local": ".", "remote": far + "/missing"})
	assert.Contains(t, r.Raw, "missing")
	assert.NotContains(t, r.Raw, `"status":"ok"`)

	events, err := audit.Tail(filepath.Join(p.home, ".local/state/fairlead/audit"), 1000)
	require.NoError(t, err)
	hashed, reasons := 0, 0
	for _, e := range events {
		if e.Reason == "the new port" {
			reasons++
		}
		if e.Kind == audit.FileResult || e.StdinSHA256 != "" || e.StdoutSHA256 != "" {
			hashed++
		}
	}
	assert.GreaterOrEqual(t, hashed, 6)
	assert.GreaterOrEqual(t, reasons, 2)
}

func TestNothingLeadsOutOfTheExchangeDirectory(t *testing.T) {
	p := newPlace(t, here, "")
	dir, far, secret := p.exchanges(t), t.TempDir(), t.TempDir()
	write(t, secret+"/key", "the key")
	write(t, dir+"/tree/ok", "ok")
	require.NoError(t, os.Symlink(secret, dir+"/link"))
	require.NoError(t, os.Symlink(secret+"/key", dir+"/tree/key"))
	require.NoError(t, os.Symlink(secret+"/key", dir+"/key"))
	c := p.start(t, nil, "--allow-all")
	for _, local := range []string{"../x", "/etc/passwd", "tree/../../x", secret + "/key", "link/key", "key", "", "missing"} {
		r := c.call("file_transfer", args{"direction": "upload", "targets": "here", "local": local, "remote": far + "/got"})
		assert.NotNil(t, r.Error, local)
		assert.NoFileExists(t, far+"/got", local)
	}
	r := c.call("file_transfer", args{"direction": "upload", "targets": "here", "local": "tree", "remote": far + "/tree"})
	require.Nil(t, r.Error, r.Raw)
	assert.FileExists(t, far+"/tree/ok")
	assert.NoFileExists(t, far+"/tree/key", "links are not followed")
	r = c.call("file_transfer", args{"direction": "upload", "targets": "here", "local": "tree", "remote": ""})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "invalid", r.Error.Code)
	for _, local := range []string{"..", "link", secret, "../" + filepath.Base(dir) + "x"} {
		r := c.call("file_transfer", args{"direction": "download", "targets": "here", "local": local, "remote": far + "/tree/ok"})
		assert.NotContains(t, r.Raw, `"status":"ok"`, local)
	}
	left, err := os.ReadDir(secret)
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestWithoutAnExchangeDirectoryNothingIsTransferred(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	r := c.call("file_transfer", args{"direction": "upload", "targets": "here", "local": "x", "remote": "/tmp/x"})
	require.NotNil(t, r.Error)
	assert.Equal(t, "denied", r.Error.Code)
	assert.Contains(t, r.Raw, "exchange: DIR in config.yaml")
}

func TestATransferNeedsTheSameApprovalAsTheCommandsThatDoIt(t *testing.T) {
	p := newPlace(t, here, "")
	dir, far := p.exchanges(t), t.TempDir()
	write(t, dir+"/a", "a")
	c := p.start(t, nil)
	for direction, remote := range map[string]string{"upload": far + "/a", "download": "/etc/hostname"} {
		r := c.call("file_transfer", args{"direction": direction, "targets": "here", "local": "a", "remote": remote, "wait_s": 2})
		assert.NotContains(t, r.Raw, `"status":"ok"`, direction)
		assert.Contains(t, r.Raw, "appro", direction)
	}
	assert.NoFileExists(t, far+"/a")
}
