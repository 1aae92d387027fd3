package mcpserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnAgentOpensASessionRunsACommandAndCloses(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "echo out; echo err >&2; exit 3")
	require.Nil(t, r.Error)
	assert.Equal(t, "out\n", r.Stdout)
	assert.Equal(t, "err\n", r.Stderr)
	assert.Equal(t, 3, *r.ExitCode)
	assert.True(t, c.call("session_close", args{"session_id": id}).Closed)
	r = c.exec(id, "true")
	assert.Equal(t, "closed", r.Error.Code)
	assert.True(t, r.IsError)
}
