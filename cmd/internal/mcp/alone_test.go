package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithoutAKeeperTooAQuestionWaitsAsLongAsTheSettingsSay(t *testing.T) {
	p := newPlace(t, here+"  - {name: there, transport: local, tier: dev}\n")
	p.write(".config/fairlead/config.yaml", "approvals: {expire: 1s}\n")
	a := p.stdio("--keeper", "off")
	r := a.call("session_exec", args{"session_id": a.open(""), "command": "touch " + p.dir + "/made", "wait_s": 50})
	assert.Equal(t, "expired", r.Status)
	require.NotNil(t, r.Error)
	assert.Equal(t, "expired", r.Error.Code)
	r = a.call("run", args{"targets": "all", "command": "touch " + p.dir + "/made", "wait_s": 50})
	assert.Equal(t, "done", r.State)
	assert.NoFileExists(t, p.dir+"/made")

	p.write(".config/fairlead/config.yaml", "approvals: {expire: soon}\n")
	code, _, errOut := p.run("mcp", "--keeper", "off")
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "config.yaml:1: approvals.expire: must be a time like 15m, from 1s to 24h")
}

func TestAnAgentThatMayDoWhateverYouMayDoesNotReachFairleadsOwnFiles(t *testing.T) {
	p := newPlace(t, here)
	a := p.stdio("--allow-all", "--keeper", "off")
	id := a.open("")
	r := a.call("session_exec", args{"session_id": id, "command": "touch " + p.dir + "/made; rm " + p.dir + "/made; sh -c 'echo any'", "wait_s": 50})
	assert.Equal(t, "ok", r.Status)
	for _, command := range []string{
		"cat " + p.dir + "/.local/state/fairlead/audit/key", "cd " + p.dir + "/.local/state; cat fairlead/audit/key", "fairlead approvals list",
		"echo x >" + p.dir + "/.config/fairlead/config.yaml",
	} {
		r := a.call("session_exec", args{"session_id": id, "command": command, "wait_s": 50})
		require.NotNil(t, r.Error, command)
		assert.Equal(t, "denied", r.Error.Code, command)
	}
	r = a.call("file_read", args{"host": "here", "path": p.dir + "/.local/state/fairlead/audit/key"})
	require.NotNil(t, r.Error)
	assert.Equal(t, "denied", r.Error.Code)
}
