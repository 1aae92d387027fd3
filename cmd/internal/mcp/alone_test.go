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
