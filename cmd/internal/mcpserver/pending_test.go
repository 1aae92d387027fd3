package mcpserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadsRunWhileACommandAwaitsApproval(t *testing.T) {
	in := within(t, newPlace(t, here, ""), false)
	c := in.connect(t, nil)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conf"), []byte("port = 80\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	r := c.call("session_open", args{"host": "here", "name": "fix", "cwd": dir})
	require.Nil(t, r.Error, r.Raw)

	pending := c.exec("fix", "touch made", args{"wait_s": 0})
	require.Equal(t, "awaiting_approval", pending.State, pending.Raw)
	assert.Contains(t, pending.Text, "waiting for approval")
	assert.Contains(t, pending.Next, "session_output with exec_id "+pending.Exec)

	r = c.exec("fix", "cat conf; pwd; cd sub; pwd")
	assert.Equal(t, "port = 80\n"+dir+"\n"+dir+"/sub\n", r.Stdout, r.Raw)
	lane := "clean"
	if strings.Contains(c.call("session_output", args{"exec_id": r.Exec}).Raw, `"lane":"held"`) {
		lane = "held"
	}
	assert.Contains(t, r.Text, "ran in a "+lane+" shell", "the Result is the same later")
	assert.Contains(t, r.Note, "reserved for "+pending.Exec)
	f := c.call("file_read", args{"session_id": "fix", "path": "conf"})
	assert.Equal(t, "port = 80\n", f.Content, f.Raw)
	look := c.call("look", args{"targets": "here", "command": "cat " + dir + "/conf"})
	require.Len(t, look.Groups, 1, look.Raw)
	assert.Equal(t, "port = 80\n", look.Groups[0].Stdout)
	assert.Equal(t, pending.Exec, c.call("session_output", args{"session_id": "fix", "wait_s": 0}).Exec, "the pending command is the session's")

	for _, command := range []string{"touch other", "X=1", "./x"} {
		busy := c.exec("fix", command, args{"wait_s": 0})
		require.NotNil(t, busy.Error, busy.Raw)
		assert.Equal(t, "busy", busy.Error.Code)
		assert.Contains(t, busy.Error.Next, pending.Exec+" is waiting for approval")
		assert.Contains(t, busy.Text, "session_output with exec_id "+pending.Exec+" waits for it; session_input with signal INT withdraws it")
	}
	require.Len(t, in.desk.List(), 1, "nothing else was asked")

	in.answer(t, in.waiting(t), true)
	r = c.call("session_output", args{"exec_id": pending.Exec, "wait_s": 30})
	assert.Equal(t, "ok", r.Status, r.Raw)
	assert.FileExists(t, filepath.Join(dir, "made"), "the session had not moved")
	assert.Equal(t, dir+"\n", c.exec("fix", "pwd").Stdout)
}

func TestAReadThatRestsOnTheSessionWaitsForThePendingCommand(t *testing.T) {
	in := within(t, newPlace(t, here, ""), false)
	c := in.connect(t, nil)
	id := c.open("here")
	r := c.exec(id, "X=here", args{"wait_s": 0})
	require.Equal(t, "awaiting_approval", r.State, r.Raw)
	in.answer(t, in.waiting(t), true)
	require.Equal(t, "ok", c.call("session_output", args{"exec_id": r.Exec}).Status)
	r = c.exec(id, "touch x", args{"wait_s": 0})
	require.Equal(t, "awaiting_approval", r.State, r.Raw)
	assert.Equal(t, "busy", c.exec(id, "echo $X").Error.Code, "a clean shell has another X")
	assert.Equal(t, "plain\n", c.exec(id, "echo plain").Stdout)
}

func TestWaitingForApprovalIsNoRunningTime(t *testing.T) {
	in := within(t, newPlace(t, here, ""), false)
	c := in.connect(t, nil)
	id := c.open("here")
	r := c.exec(id, "touch "+t.TempDir()+"/x", args{"wait_s": 1.2, "timeout_s": 5})
	require.Equal(t, "awaiting_approval", r.State, r.Raw)
	assert.NotContains(t, r.Raw, "duration_ms", "it has not run")
	in.answer(t, in.waiting(t), true)
	r = c.call("session_output", args{"exec_id": r.Exec})
	assert.Equal(t, "ok", r.Status, r.Raw)
	assert.NotContains(t, r.Raw, "duration_ms", "it took less than a second, and waited for more")
}

func TestAnEditIsCheckedBeforeAPersonIsAsked(t *testing.T) {
	in := within(t, newPlace(t, here, ""), false)
	c := in.connect(t, nil)
	path := filepath.Join(t.TempDir(), "conf")
	require.NoError(t, os.WriteFile(path, []byte("a\na\nb\n"), 0o600))
	other := hashOf("other")
	for name, tt := range map[string]struct {
		tool string
		args args
		code string
	}{
		"no match":        {"file_edit", args{"old": "c", "new": "d"}, "no_match"},
		"many matches":    {"file_edit", args{"old": "a", "new": "d"}, "many_matches"},
		"another content": {"file_edit", args{"old": "b", "new": "d", "if_sha256": other}, "conflict"},
		"a known write":   {"file_write", args{"content": "d", "if_sha256": other}, "conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.args["host"], tt.args["path"] = "here", path
			r := c.call(tt.tool, tt.args)
			require.NotNil(t, r.Error, r.Raw)
			assert.Equal(t, tt.code, r.Error.Code)
			assert.True(t, r.IsError)
			assert.Empty(t, in.desk.List(), "no person was asked")
		})
	}
	r := c.call("file_edit", args{"host": "here", "path": path, "old": "b", "new": "d", "wait_s": 0})
	require.Equal(t, "awaiting_approval", r.State, r.Raw)
	in.answer(t, in.waiting(t), true)
	assert.Equal(t, "ok", c.call("session_output", args{"exec_id": r.Exec}).Status)
}

func TestAskingNamesThePart(t *testing.T) {
	in := within(t, newPlace(t, strings.Replace(here, "tier: dev", "tier: prod", 1), ""), false) // where nothing is tried first
	c := in.connect(t, nil)
	id := c.open("here")
	for name, tt := range map[string]struct{ command, want string }{
		"among reads":  {"cd / && ls -l && ./svcctl status; tail -5 app.log", "./svcctl status: unknown program; the other 3 parts are reads"},
		"one other":    {"ls; rm -rf x", "rm -rf x: dangerous, rm removes whole trees; the other part is a read"},
		"alone":        {"./x", "./x: unknown program"},
		"in a loop":    {"for f in a b; do cat $f; ./x; done; ls", "./x: unknown program; the other part is a read"},
		"twice":        {"./x; ls; ./x", "./x: unknown program; the other part is a read"},
		"a redirect":   {"ls > x; ls", "ls > x: redirect, it writes to a file; the other part is a read"},
		"substitution": {"echo $(./x); ls", "./x: unknown program; the other part is a read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.exec(id, tt.command, args{"wait_s": 0})
			require.Equal(t, "awaiting_approval", r.State, r.Raw)
			assert.Equal(t, tt.want, r.Decision.Reason)
			assert.Contains(t, r.Text, tt.want)
			assert.Equal(t, name != "alone", strings.Contains(r.Next, "look runs the parts that only read"), r.Next)
			r = c.call("session_input", args{"session_id": id, "keys": []string{"C-c"}})
			require.Equal(t, "canceled", r.Status, r.Raw)
			r = c.call("run", args{"targets": "here", "command": tt.command, "wait_s": 0.5})
			require.Equal(t, "awaiting_approval", r.State, r.Raw)
			assert.Contains(t, r.Text, tt.want)
			r = c.call("look", args{"targets": "here", "command": tt.command})
			require.NotNil(t, r.Error, r.Raw)
			assert.Contains(t, r.Error.Message, tt.want)
			assert.NotEmpty(t, r.Error.Next)
		})
	}
}

func TestEachGroupOfHostsSaysWhatNeedsApproval(t *testing.T) {
	in := within(t, newPlace(t, threeHosts, ""), false)
	c := in.connect(t, nil)
	r := c.call("run", args{"targets": "all", "command": "ls; ./x", "wait_s": 0})
	require.Equal(t, "awaiting_approval", r.State, r.Raw)
	require.Len(t, r.Groups, 1, r.Raw)
	assert.Equal(t, "web[1-3]", r.Groups[0].Hosts)
	assert.Contains(t, r.Raw, `"reason":"./x: unknown program; the other part is a read"`)
	r = c.call("run", args{"targets": "web1", "command": "ls; sudo id"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Contains(t, r.Error.Message, "sudo id: privileged")
	assert.Equal(t, "look runs the parts that only read", r.Error.Next)
	assert.True(t, r.IsError)
}
