package mcpserver_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// fileAnswer is what file tools give besides.
type fileAnswer struct {
	answer
	Path, SHA256, Mode, Base64 string
	Text                       string `json:"content"`
	LeadsTo                    string `json:"leads_to"`
	Size                       int64
	Created, Replaced          bool
	IsBinary                   bool `json:"is_binary"`
	Offset                     int64
	Next                       int64 `json:"next_offset"`
	Decision                   *struct{ Verdict, Class, Approval string }
}

func (c *client) file(tool string, a args) fileAnswer {
	c.t.Helper()
	r := c.call(tool, a)
	var f fileAnswer
	require.NoError(c.t, json.Unmarshal([]byte(r.Raw), &f), r.Raw)
	f.answer.Text, f.IsError, f.Raw = r.Text, r.IsError, r.Raw
	return f
}

func hashOf(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// filePlaces are a local host and ones behind OpenSSH's server, with and without sftp.
func filePlaces(t *testing.T, f func(t *testing.T, p place)) {
	places(t, f)
	t.Run("no sftp", func(t *testing.T) {
		p := newPlace(t, sshdInventory(sessiontest.OpenSSHD(t, "Subsystem none /bin/false")), "")
		p.host = "sshd"
		f(t, p)
	})
}

func TestAFileIsWrittenReadAndEdited(t *testing.T) {
	filePlaces(t, func(t *testing.T, p place) {
		c := p.start(t, nil, "--allow-all")
		dir, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		path := filepath.Join(dir, "app.conf")
		text := "port = 80\r\nname = \"x\"\n"
		w := c.file("file_write", args{"host": p.host, "path": path, "content": text, "mode": "0600"})
		require.Nil(t, w.Error, w.Raw)
		assert.True(t, w.Created)
		assert.Equal(t, hashOf(text), w.SHA256)
		assert.Equal(t, "0600", w.Mode)
		assert.Contains(t, w.answer.Text, "22 bytes, sha256 ")

		id := c.call("session_open", args{"host": p.host, "cwd": dir}).SessionID
		r := c.file("file_read", args{"session_id": id, "path": "app.conf"})
		require.Nil(t, r.Error, r.Raw)
		assert.Equal(t, strings.ReplaceAll(text, "\r", ""), r.Text)
		assert.Equal(t, base64.StdEncoding.EncodeToString([]byte(text)), r.Base64, "the exact bytes")
		assert.Equal(t, path, r.Path)
		assert.Equal(t, hashOf(text), r.SHA256)
		assert.Contains(t, r.answer.Text, "data from "+p.host+":\n")

		e := c.file("file_edit", args{"session_id": id, "path": "app.conf", "old": "80\r\n", "new": "8080\n", "if_sha256": r.SHA256})
		require.Nil(t, e.Error, e.Raw)
		assert.True(t, e.Replaced)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "port = 8080\nname = \"x\"\n", string(got))
		assert.Equal(t, hashOf(string(got)), e.SHA256)

		old := c.file("file_edit", args{"session_id": id, "path": "app.conf", "old": "x", "new": "y", "if_sha256": r.SHA256})
		assert.Equal(t, "conflict", old.Error.Code)
		assert.Contains(t, old.Error.Message, e.SHA256, "the actual hash")
		assert.Equal(t, "no_match", c.file("file_edit", args{"session_id": id, "path": path, "old": "absent", "new": "y"}).Error.Code)
		many := c.file("file_edit", args{"session_id": id, "path": path, "old": " = ", "new": ":"})
		assert.Equal(t, "many_matches", many.Error.Code)
		assert.Contains(t, many.Error.Message, "2 times")

		again := c.call("session_output", args{"exec_id": e.Exec})
		assert.Contains(t, again.Raw, e.SHA256, "it can be looked at again")
		assert.Equal(t, "ok", c.exec(id, "true").Status, "the session goes on")
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, list, 1, "nothing is left behind")
	})
}

// Agents that work side by side lose none of their edits.
func TestEveryEditOfAnAgentIsInTheFile(t *testing.T) {
	p := newPlace(t, sshdInventory(sessiontest.OpenSSHD(t)), "")
	p.host = "sshd"
	c := p.start(t, nil, "--allow-all")
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("a=0\nb=0\nc=0\nd=0\ne=0\nf=0\n"), 0o600))
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		wg.Go(func() {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "file_edit", Arguments: args{"host": p.host, "path": path, "old": name + "=0", "new": name + "=1"}})
			if assert.NoError(t, err) {
				assert.False(t, r.IsError, "%v", r.StructuredContent)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a=1\nb=1\nc=1\nd=1\ne=1\nf=1\n", string(got))
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, k := range []struct {
		tool string
		more args
		code string
	}{
		{"file_read", args{"path": dir}, "directory"},
		{"file_read", args{"path": fifo}, "special"},
		{"file_write", args{"path": "/dev/null", "content": "x"}, "special"},
		{"file_read", args{"path": dir + "/none"}, "not_found"},
		{"file_edit", args{"path": dir + "/none", "old": "a", "new": "b"}, "not_found"},
		{"file_write", args{"path": dir + "/none/f", "content": "x"}, "not_found"},
		{"file_write", args{"path": dir + "/f", "content": "x", "if_sha256": hashOf("")}, "conflict"},
		{"file_read", args{"path": ""}, "invalid"},
		{"file_read", args{"path": "/a\nb"}, "invalid"},
		{"file_read", args{"path": "/f", "session_id": "x"}, "invalid"},
		{"file_read", args{"path": "/f", "offset": -1}, "invalid"},
		{"file_write", args{"path": "/f", "content": "x", "mode": "rw"}, "invalid"},
		{"file_write", args{"path": "/f", "content": "x", "if_sha256": "abc"}, "invalid"},
		{"file_write", args{"path": dir + "/f", "content": "key=«redacted:password:0123abcd»"}, "invalid"},
		{"file_edit", args{"path": dir + "/f", "old": "«redacted:password:0123abcd»", "new": "x"}, "invalid"},
		{"file_edit", args{"path": dir + "/f", "old": "x", "new": "x"}, "invalid"},
		{"file_read", args{"path": "/f", "host": "nowhere"}, "not_found"},
	} {
		if k.more["host"] == nil {
			k.more["host"] = "here"
		}
		r := c.file(k.tool, k.more)
		require.NotNil(t, r.Error, r.Raw)
		assert.Equal(t, k.code, r.Error.Code, r.Raw)
		assert.True(t, r.IsError)
	}
	assert.NoFileExists(t, dir+"/f")
}

func TestAModelSeesNoSecretsAndCannotLoseThem(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	path := filepath.Join(t.TempDir(), "settings.ini")
	secret := "password=correcthorsebattery\n"
	require.NoError(t, os.WriteFile(path, []byte("debug=0\n"+secret+"tail\x1b[31m\u200b\n"), 0o600))
	r := c.file("file_read", args{"host": "here", "path": path})
	require.Nil(t, r.Error, r.Raw)
	assert.NotContains(t, r.Raw, "correcthorse")
	assert.NotContains(t, r.Text, "\x1b")
	assert.NotEmpty(t, r.Base64, "the bytes are there, too")
	exact, err := base64.StdEncoding.DecodeString(r.Base64)
	require.NoError(t, err)
	assert.NotContains(t, string(exact), "correcthorse")
	assert.Contains(t, string(exact), "\x1b[31m")
	assert.Equal(t, 1, r.Redacted["password"])
	w := c.file("file_write", args{"host": "here", "path": path, "content": r.Text})
	assert.Equal(t, "invalid", w.Error.Code)
	e := c.file("file_edit", args{"host": "here", "path": path, "old": "debug=0", "new": "debug=1"})
	require.Nil(t, e.Error, e.Raw)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "debug=1\n"+secret+"tail\x1b[31m\u200b\n", string(got))
	for offset := 12; offset < 30; offset++ { // no page begins within a secret
		assert.NotContains(t, c.file("file_read", args{"host": "here", "path": path, "offset": offset}).Raw, "battery")
	}
}

func TestALongFileIsPagedAndABinaryOneIsTold(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	dir := t.TempDir()
	text := strings.Repeat("línea de texto\n", 4000)
	require.NoError(t, os.WriteFile(dir+"/long", []byte(text), 0o600))
	var all strings.Builder
	a := args{"host": "here", "path": dir + "/long"}
	for range 10 {
		r := c.file("file_read", a)
		require.Nil(t, r.Error, r.Raw)
		assert.LessOrEqual(t, len(r.Text), 16<<10)
		all.WriteString(r.Text)
		if r.Next == 0 {
			break
		}
		a["offset"] = r.Next
	}
	assert.Equal(t, text, all.String())

	binary := "\x7fELF" + strings.Repeat("\x00\xff", 100)
	require.NoError(t, os.WriteFile(dir+"/bin", []byte(binary), 0o600))
	r := c.file("file_read", args{"host": "here", "path": dir + "/bin"})
	require.Nil(t, r.Error, r.Raw)
	assert.True(t, r.IsBinary)
	assert.Empty(t, r.Text)
	assert.Empty(t, r.Base64, "a model has no use for it")
	assert.EqualValues(t, len(binary), r.Size)
	r = c.file("file_read", args{"host": "here", "path": dir + "/bin", "base64": true})
	assert.Equal(t, base64.StdEncoding.EncodeToString([]byte(binary)), r.Base64)

	require.NoError(t, os.Truncate(dir+"/bin", 17<<20))
	assert.Equal(t, "too_large", c.file("file_read", args{"host": "here", "path": dir + "/bin"}).Error.Code)
}

func TestFilesAreJudgedByWhereTheyAre(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/f", []byte("text"), 0o600))
	require.NoError(t, os.Symlink("/etc/shadow", dir+"/harmless"))
	require.NoError(t, os.Symlink(dir+"/f", dir+"/id_rsa"))
	require.NoError(t, os.Mkdir(dir+"/.ssh", 0o700))
	require.NoError(t, os.Symlink(dir+"/.ssh", dir+"/sub"))
	r := c.file("file_read", args{"host": "here", "path": dir + "/f"})
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "text", r.Text)
	for _, k := range []struct {
		tool, path, class string
		waits             bool
	}{
		{"file_read", "/etc/shadow", "sensitive-read", true},
		{"file_read", dir + "/harmless", "sensitive-read", true},
		{"file_read", dir + "/id_rsa", "sensitive-read", true},
		{"file_write", dir + "/new", "write", true},
		{"file_edit", dir + "/f", "write", true},
		{"file_write", dir + "/.bashrc", "forbidden", false},
		{"file_edit", "~/../../.." + dir + "/.bashrc", "forbidden", false},
		{"file_write", dir + "/sub/authorized_keys", "forbidden", false},
		{"file_write", "/etc/cron.d/x", "forbidden", false},
	} {
		a := args{"host": "here", "path": k.path, "wait_s": 0.01}
		switch k.tool {
		case "file_write":
			a["content"] = "x"
		case "file_edit":
			a["old"], a["new"] = "text", "x"
			require.NoError(t, os.WriteFile(dir+"/.bashrc", []byte("text"), 0o600))
		}
		if _, err := os.Stat("/etc/cron.d"); err != nil && strings.HasPrefix(k.path, "/etc/cron.d") {
			continue
		}
		r := c.file(k.tool, a)
		if k.waits {
			assert.Equal(t, "awaiting_approval", r.State, "%s %s: %s", k.tool, k.path, r.Raw)
			assert.Empty(t, r.Text)
			continue
		}
		require.NotNil(t, r.Error, r.Raw)
		assert.Equal(t, "denied", r.Error.Code, r.Raw)
		assert.Equal(t, k.class, r.Decision.Class)
	}
	assert.NoFileExists(t, dir+"/new")
	assert.NoFileExists(t, dir+"/.ssh/authorized_keys")
}

func TestAPersonSeesWhatWillBeWritten(t *testing.T) {
	in := newInside(t, false)
	c := in.connect(t, nil)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := dir + "/app.conf"
	content := "one\npassword=correcthorsebattery\nlast"
	w := c.file("file_write", args{"host": "here", "path": path, "content": content, "mode": "640", "reason": "because", "wait_s": 0})
	p := in.waiting(t)
	assert.Equal(t, "awaiting_approval", c.call("session_output", args{"exec_id": w.Exec, "wait_s": 0}).State)
	assert.Equal(t, "file_write "+path+"\na new file\nits mode becomes 0640\nall of its content becomes these 37 bytes, sha256 "+hashOf(content)+
		":\n+one\n+password=correcthorsebattery\n+last\n\\ no newline at the end\n", p.Question.Command)
	assert.Equal(t, "because", p.Question.Reason)
	assert.NoFileExists(t, path)
	in.answer(t, p, true)
	done := c.call("session_output", args{"exec_id": w.Exec})
	assert.Equal(t, "ok", done.Status, done.Raw)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, content, string(got))

	e := c.file("file_edit", args{"host": "here", "path": path, "old": "one\n", "new": "two\nthree\n", "wait_s": 0})
	p = in.waiting(t)
	assert.Contains(t, p.Question.Command, "there is a file of 37 bytes, mode 0640\nthe only place that has these 4 bytes gets those 10 bytes instead:\n-one\n+two\n+three\n")
	in.answer(t, p, false)
	assert.Equal(t, "rejected", c.call("session_output", args{"exec_id": e.Exec}).Error.Code)
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, content, string(got))

	// What was looked at is what is written, or nothing is.
	w = c.file("file_write", args{"host": "here", "path": dir + "/later", "content": "x", "wait_s": 0})
	p = in.waiting(t)
	require.NoError(t, os.Symlink(path, dir+"/later"))
	in.answer(t, p, true)
	assert.Equal(t, "conflict", c.call("session_output", args{"exec_id": w.Exec}).Error.Code)
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, content, string(got))

	var kinds []string
	for _, e := range in.book.all() {
		if strings.HasPrefix(e.Command, "file_write "+path) {
			assert.NotContains(t, e.Command, "correcthorse", "the record has no secrets")
			assert.Contains(t, string(e.Exact), "correcthorse", "its hash is that of the exact text")
		}
		if e.ID == w.Exec || !strings.HasPrefix(string(e.Kind), "session.") && e.Kind != audit.CommandRequest && e.Kind != audit.CommandResult {
			kinds = append(kinds, string(e.Kind)+" "+e.Status)
		}
		if e.Kind == audit.FileResult && e.ID == done.Exec {
			assert.Equal(t, hashOf(content), e.StdinSHA256)
		}
	}
	assert.Equal(t, []string{
		"file.request ", "file.result ok", "approval.request ", "approval.result approved", "file.request ", "file.result ok",
		"file.request ", "file.result ok", "file.request ", "file.result ok", "approval.request ", "approval.result rejected", // an edit is checked first
		"file.request ", "file.result ok", "approval.request ", "approval.result approved", "file.request ", "file.result error",
	}, kinds)
}

func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	in := newInside(t, false)
	c := in.connect(t, nil)
	path := filepath.Join(t.TempDir(), "f")
	in.book.mu.Lock()
	in.book.fail = errors.New("the disk is full")
	in.book.mu.Unlock()
	for _, tool := range []string{"file_read", "file_write"} {
		a := args{"host": "here", "path": path}
		if tool == "file_write" {
			a["content"] = "x"
		}
		assert.Equal(t, "audit", c.file(tool, a).Error.Code)
	}
	assert.NoFileExists(t, path)
}
