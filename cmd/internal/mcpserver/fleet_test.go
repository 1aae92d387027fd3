package mcpserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// example is the inventory that comes with the project: a local host and three demo hosts.
func example(t testing.TB, policy string) place {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "inventory.example.yaml"))
	require.NoError(t, err)
	return newPlace(t, string(text), policy)
}

func TestItIsToldThatTheBackgroundEndsWithTheRun(t *testing.T) {
	c := example(t, "").start(t, nil, "--allow-all")
	for script, told := range map[string]bool{"sleep 1000 & echo now": true, "true & wait; echo now": false} {
		for _, targets := range []string{"here", "demo1,demo2"} {
			r := c.call("run", args{"targets": targets, "command": script})
			assert.Contains(t, r.Text, "now", r.Raw)
			assert.Equal(t, told, strings.Contains(r.Text, "note: what the command has left in the background ended with it"), r.Raw)
		}
	}
	id := c.open("here")
	assert.NotContains(t, c.exec(id, "sleep 1000 & echo now", args{}).Raw, "background", "the session keeps it")
}

func TestHostsAreListed(t *testing.T) {
	c := example(t, "").start(t, nil)
	r := c.call("hosts_list", nil)
	var hs []struct {
		Name, Tier, Transport, Connection string
		Groups, Labels                    []string
	}
	require.NoError(t, json.Unmarshal(r.Hosts, &hs))
	require.Len(t, hs, 4)
	assert.Equal(t, "here", hs[0].Name)
	assert.Equal(t, "local", hs[0].Transport)
	assert.Contains(t, hs[1].Groups, "demo")
	assert.Contains(t, hs[1].Labels, "role=web")
	assert.Empty(t, hs[1].Connection)
	assert.Contains(t, r.Text, "4 hosts\nhere: dev, local\ndemo1: dev, demo; groups canary, demo; labels ")
	c.open("demo1")
	r = c.call("hosts_list", args{"selector": "demo1"})
	require.NoError(t, json.Unmarshal(r.Hosts, &hs))
	require.Len(t, hs, 1)
	assert.Equal(t, "connected", hs[0].Connection)
	assert.Equal(t, "invalid", c.call("hosts_list", args{"selector": "^/etc/passwd"}).Error.Code)
	assert.Equal(t, "invalid", c.call("hosts_list", args{"selector": ""}).Error.Code, "which is not all")
}

func TestAFleetIsFolded(t *testing.T) {
	c := example(t, "").start(t, nil, "--allow-all")
	r := c.call("run", args{"targets": "@demo", "command": "echo same"})
	require.Nil(t, r.Error, "%+v", r.Error)
	require.Len(t, r.Groups, 1)
	assert.Equal(t, "demo[1-3]", r.Groups[0].Hosts)
	assert.Equal(t, 3, r.Groups[0].Count)
	assert.Equal(t, "same\n", r.Groups[0].Stdout)
	assert.Equal(t, map[string]string{"ok": "demo[1-3]"}, r.Statuses)
	assert.Contains(t, r.Text, "3 hosts: 3 ok (demo[1-3])")

	dir := t.TempDir()
	one := filepath.Join(dir, "one") // made by the first that comes
	r = c.call("run", args{"targets": "@demo", "cwd": dir, "command": "if mkdir " + one + " 2>/dev/null; then echo first; exit 4; fi; pwd"})
	require.Len(t, r.Groups, 2, r.Raw)
	assert.Equal(t, 2, r.Groups[0].Count)
	assert.Equal(t, dir+"\n", r.Groups[0].Stdout)
	assert.Equal(t, 1, r.Groups[1].Count)
	assert.Equal(t, "first\n", r.Groups[1].Stdout)
	assert.Equal(t, 4, *r.Groups[1].ExitCode)
	assert.Len(t, r.Statuses, 2)
	again := c.call("session_output", args{"exec_id": r.Run})
	assert.Equal(t, r.Groups, again.Groups)
	whole := c.call("session_output", args{"exec_id": r.Groups[1].Exec})
	assert.Equal(t, "first\n", whole.Stdout)

	r = c.call("run", args{"targets": "demo1", "program": "printf", "args": []string{"%s|", "a b", "$HOME"}})
	require.Len(t, r.Groups, 1, r.Raw)
	assert.Equal(t, "a b|$HOME|", r.Groups[0].Stdout)
}

func TestAFleetThatTakesLongIsAHandle(t *testing.T) {
	c := example(t, "").start(t, nil, "--allow-all")
	gate := filepath.Join(t.TempDir(), "go")
	r := c.call("run", args{"targets": "@demo", "command": "until [ -e " + gate + " ]; do sleep 0.05; done; echo on", "wait_s": 0})
	assert.Equal(t, "running", r.State)
	assert.Contains(t, r.Text, r.Run)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	r = c.call("session_output", args{"exec_id": r.Run, "wait_s": 30})
	assert.Equal(t, "done", r.State)
	require.Len(t, r.Groups, 1, r.Raw)
	assert.Equal(t, "on\n", r.Groups[0].Stdout)
}

func TestRunsAreListedAndStopped(t *testing.T) {
	c := example(t, "").start(t, nil, "--allow-all")
	ended := c.call("run", args{"targets": "@demo", "command": "echo on"})
	require.Nil(t, ended.Error, ended.Raw)
	failed := c.call("run", args{"targets": "demo[1-2]", "command": "exit 3"})
	for range 11 { // more than are listed
		one := c.call("run", args{"targets": "demo1", "command": "true"})
		require.Nil(t, one.Error, one.Raw)
	}
	going := c.call("run", args{"targets": "@demo", "command": "while :; do sleep 0.05; done", "wait_s": 0})
	require.Equal(t, "running", going.State, going.Raw)

	listed := func() []string {
		r := c.call("session_output", nil)
		require.Nil(t, r.Error, r.Raw)
		var m struct{ Runs []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(r.Raw), &m))
		var all []string
		for _, one := range m.Runs {
			all = append(all, string(one))
		}
		for _, run := range []string{ended.Run, failed.Run, going.Run} {
			assert.Contains(t, r.Text, "run "+run+" on ")
		}
		return all
	}
	all := listed()
	require.Len(t, all, 3)
	assert.JSONEq(t, `{"run":"`+going.Run+`","hosts":3,"state":"running","command":"while :; do sleep 0.05; done"}`, all[0])
	assert.JSONEq(t, `{"run":"`+failed.Run+`","hosts":2,"state":"done","statuses":{"exit":2},"command":"exit 3"}`, all[1])
	assert.JSONEq(t, `{"run":"`+ended.Run+`","hosts":3,"state":"done","statuses":{"ok":3},"command":"echo on"}`, all[2])

	assert.Equal(t, "invalid", c.call("session_close", args{"session_id": going.Run, "reset": true}).Error.Code)
	r := c.call("session_close", args{"session_id": going.Run})
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "run "+going.Run+": stopped", r.Text)
	assert.Contains(t, listed()[0], `"statuses":{"canceled":3}`)
	assert.Equal(t, "not_found", c.call("session_close", args{"session_id": "r_none"}).Error.Code)
}

func TestWhatAnAgentMayDoUnasked(t *testing.T) {
	c := example(t, "").start(t, nil)
	r := c.call("run", args{"targets": "all", "command": "uname -s"})
	require.Nil(t, r.Error, "%+v", r.Error)
	assert.Equal(t, map[string]string{"ok": "demo[1-3],here"}, r.Statuses)
	file := filepath.Join(t.TempDir(), "f")
	r = c.call("run", args{"targets": "all", "command": "touch " + file, "wait_s": 0.1})
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "awaiting_approval", r.State, "one question about all of them")
	r = c.call("run", args{"targets": "here", "command": "sudo touch " + file})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, map[string]string{"denied": "here"}, r.Statuses, "what is denied waits for nobody")
	id := c.open("here")
	r = c.exec(id, "touch "+file, args{"wait_s": 0.2})
	assert.Equal(t, "awaiting_approval", r.State, r.Raw)
	assert.Contains(t, r.Text, "waiting for approval")
	assert.Equal(t, "ok", c.exec(id, "ls /").Status, "reads need not wait")
	assert.Equal(t, "busy", c.exec(id, "touch /tmp/x").Error.Code, "the session is held for it")
	c.call("session_close", args{"session_id": id, "reset": true})
	assert.Equal(t, "ok", c.exec(id, "ls /").Status)
	r = c.exec(id, "cat", args{"interactive": true, "wait_s": 1})
	require.Equal(t, "running", r.State, r.Raw)
	r = c.call("session_input", args{"session_id": id, "text": "ls\n", "wait_s": 0.1})
	assert.Contains(t, r.Raw, `"typed":{"state":"awaiting_approval"}`)
	r = c.call("session_input", args{"session_id": id, "keys": []string{"C-c"}, "wait_s": 10})
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "done", r.State)
	assert.NoFileExists(t, file)
}

const devIsFree = `version: 1
rules:
  - name: first-is-free
    hosts: "demo1"
    principals: ["agent/mcp"]
    classes: [read-only, write, unknown]
    verdict: allow
    reason: "throw-away machine"
principals:
  - name: agent/mcp
    tools: [hosts_list, look, run, session_open, session_exec, session_output, session_close]
    max_timeout: 1s
    max_output: 1KiB
    max_hosts: 2
`

func TestAPolicyFileSaysMore(t *testing.T) {
	c := example(t, devIsFree).start(t, nil)
	file := filepath.Join(t.TempDir(), "f")
	r := c.call("run", args{"targets": "demo1", "command": "touch " + file})
	require.Nil(t, r.Error, "%+v", r.Error)
	assert.FileExists(t, file)

	r = c.call("run", args{"targets": "demo1,demo2", "command": "touch " + file + "2", "wait_s": 0.1})
	assert.Equal(t, "awaiting_approval", r.State, r.Raw)
	r = c.call("run", args{"targets": "demo1,demo2", "command": "sudo touch " + file + "2"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Contains(t, r.Error.Message, "demo1 refuses it, and so it ran nowhere")
	assert.NoFileExists(t, file+"2")

	r = c.call("run", args{"targets": "@demo", "command": "uname", "wait_s": 0.1})
	assert.Equal(t, "awaiting_approval", r.State, "three hosts at once are more than two: "+r.Raw)
	r = c.call("session_input", args{"session_id": "x"})
	assert.Equal(t, "denied", r.Error.Code)
	r = c.call("run", args{"targets": "demo1", "command": "seq 1 1000; sleep 60"})
	assert.Equal(t, map[string]string{"timeout": "demo1"}, r.Statuses)
	assert.Less(t, len(r.Groups[0].Stdout), 1200)
}

func TestALookOnlyReads(t *testing.T) {
	c := example(t, "").start(t, nil, "--allow-all")
	r := c.call("look", args{"targets": "@demo", "command": "cat /etc/hostname"})
	require.Nil(t, r.Error, "%+v", r.Error)
	for _, command := range []string{"touch /tmp/x", "cat /etc/shadow", "no-such-program-xyz", "no-such-program-xyz; touch /tmp/x"} {
		r = c.call("look", args{"targets": "@demo", "command": command})
		require.NotNil(t, r.Error, command)
		assert.Equal(t, "denied", r.Error.Code)
	}
}

// What only reads, though no table knows it, needs nobody on hosts that hold it; else one question says what it tried.
func TestUnknownCommandsAreTriedFirst(t *testing.T) {
	c := example(t, "").start(t, nil)
	holdsHere(t, c)
	file := filepath.Join(t.TempDir(), "f")
	for _, tool := range []string{"look", "run"} {
		r := c.call(tool, args{"targets": "@demo", "command": "perl -e 'print 6*7'"})
		require.Nil(t, r.Error, r.Raw)
		assert.Equal(t, map[string]string{"ok": "demo[1-3]"}, r.Statuses, tool)
		require.Len(t, r.Groups, 1, r.Raw)
		assert.Equal(t, "42", r.Groups[0].Stdout)
		assert.Equal(t, "ok", c.call(tool, args{"targets": "demo1", "command": "perl -e 'print 6*7'"}).Groups[0].Status)
	}
	r := c.call("look", args{"targets": "@demo", "command": "perl -e 'print 6*7; open F, q(>), q(" + file + ")'"})
	assert.Equal(t, map[string]string{"denied": "demo[1-3]"}, r.Statuses, r.Raw)
	assert.Contains(t, r.Raw, "the kernel refused: open for writing "+file)
	assert.NotContains(t, r.Raw, `"stdout":"42`)
	r = c.call("run", args{"targets": "@demo", "command": "perl -e 'open F, q(>), q(" + file + ")'", "wait_s": 20})
	assert.Equal(t, "awaiting_approval", r.State, r.Raw)
	r = c.call("run", args{"targets": "demo1", "command": "perl -e 'open F, q(>), q(" + file + ")'", "wait_s": 20})
	assert.Equal(t, "awaiting_approval", r.State, r.Raw)
	assert.NoFileExists(t, file)
	id := c.open("here")
	r = c.exec(id, "perl -e 'print 6*7'")
	assert.Equal(t, "42", r.Stdout, r.Raw)
	assert.Contains(t, r.Raw, `"lane":"held"`)
}

// holdsHere skips a test where this machine holds nothing.
func holdsHere(t *testing.T, c *client) {
	t.Helper()
	if r := c.call("run", args{"targets": "demo1", "command": "perl -e 1"}); r.State == "awaiting_approval" {
		needs.Part(t, "this machine holds no shell")
	}
}
