package mcpserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lookalike stands before the programs of this machine: it tells whom it was to become, and the account stays.
const lookalike = `#!/bin/sh
AS="$2 by doas"
export AS
shift 3
exec "$@"
`

// An agent runs a command as another account where the inventory names that account and a person approves, and nowhere else.
func TestAnAgentBecomesWhomTheInventoryNamesOnceApproved(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "doas"), []byte(lookalike), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	in := within(t, newPlace(t, "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev, become: {user: app, method: doas}}\n", ""), false)
	c := in.connect(t, nil)

	for _, more := range []args{{}, {"become": "app"}} {
		more["targets"], more["command"], more["wait_s"] = "here", "echo as $AS", 0
		r := c.call("run", more)
		require.Nil(t, r.Error, r.Raw)
		p := in.waiting(t)
		assert.Equal(t, "app by doas", p.Question.Host.Become.String(), "the person sees as whom")
		in.answer(t, p, true)
		r = c.call("session_output", args{"exec_id": r.Run, "wait_s": 30})
		require.Nil(t, r.Error, r.Raw)
		assert.Contains(t, r.Raw, "as app by doas")
	}

	r := c.call("run", args{"targets": "here", "command": "echo as ${AS-nothing}", "become": "none"})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, r.Raw, "as nothing", "the account that logs in needs no approval to read")

	r = c.call("run", args{"targets": "here", "command": "echo as $AS", "become": "other"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "denied", r.Error.Code)
	assert.Empty(t, in.desk.List(), "no person is asked")
}

// What was approved is compared with what the inventory says then, and with what the call makes of that.
func TestARunOnSeveralHostsThatBecomesNoneRunsOnceApproved(t *testing.T) {
	in := within(t, newPlace(t, "version: 1\nhosts:\n  - {name: d1, transport: local, tier: dev, become: {user: app, method: doas}}\n  - {name: d2, transport: local, tier: dev, become: {user: app, method: doas}}\n", ""), false)
	c := in.connect(t, nil)
	for _, another := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "f")
		r := c.call("run", args{"targets": "d1,d2", "command": "touch " + file, "become": "none", "wait_s": 0})
		require.Nil(t, r.Error, r.Raw)
		p := in.waiting(t)
		if way := "elsewhere"; another {
			in.way.Store(&way)
		}
		in.answer(t, p, true)
		r = c.call("session_output", args{"exec_id": r.Run, "wait_s": 30})
		if another {
			assert.Contains(t, r.Raw, "d1 is not the host any more that was approved", "ssh_config leads elsewhere now")
			assert.NoFileExists(t, file)
			continue
		}
		assert.Equal(t, map[string]string{"ok": "d[1-2]"}, r.Statuses, r.Raw)
		assert.FileExists(t, file)
	}
}

// What is said of run holds for sessions, files and jobs.
func TestAnAgentsSessionsFilesAndJobsBecomeWhomTheInventoryNames(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "doas"), []byte(lookalike), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	in := within(t, newPlace(t, "version: 1\nhosts:\n  - {name: here, transport: local, tier: dev, become: {user: app, method: doas}}\n", ""), false)
	c := in.connect(t, nil)
	approved := func(result args) string {
		t.Helper()
		p := in.waiting(t)
		assert.Equal(t, "app by doas", p.Question.Host.Become.String(), "the person sees as whom")
		in.answer(t, p, true)
		r := c.call("session_output", result)
		require.Nil(t, r.Error, r.Raw)
		return r.Raw
	}
	r := c.call("session_open", args{"host": "here", "name": "s", "become": "app"})
	require.Nil(t, r.Error, r.Raw)
	r = c.call("session_exec", args{"session_id": "s", "command": "echo as $AS", "wait_s": 0})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, approved(args{"session_id": "s", "wait_s": 30}), "as app by doas")

	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("text of a file"), 0o600))
	r = c.call("file_read", args{"host": "here", "path": path, "become": "app"})
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "denied", r.Error.Code, "where a path leads is looked up as the account, which needs an approval for each look")
	r = c.call("file_read", args{"host": "here", "path": path, "become": "none"})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, r.Raw, "text of a file", "the account that logs in needs no approval to read")
	assert.Equal(t, "invalid", c.call("file_read", args{"session_id": "s", "path": path, "become": "app"}).Error.Code)

	j := c.job("job_start", args{"targets": "here", "command": "echo as $AS", "become": "app", "wait_s": 0})
	require.Nil(t, j.Error)
	p := in.waiting(t)
	for !strings.Contains(p.Question.Command, "echo as") { // the looks of file_read were asked about, and given up
		p = in.waiting(t)
	}
	assert.Equal(t, "app by doas", p.Question.Host.Become.String())
	in.answer(t, p, false)
	for _, row := range []struct {
		tool string
		in   args
	}{
		{"session_open", args{"host": "here", "become": "a b"}}, {"file_read", args{"host": "here", "path": path, "become": "a b"}},
		{"job_start", args{"targets": "here", "command": "true", "become": "a b"}},
	} {
		assert.Equal(t, "invalid", c.call(row.tool, row.in).Error.Code, row.tool)
	}
	j = c.job("job_start", args{"targets": "here", "command": "true", "become": "other"})
	require.NotNil(t, j.Error)
	assert.Equal(t, "denied", j.Error.Code, "the inventory names no such account")
}
