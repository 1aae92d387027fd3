package mcpserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Variables that may change what commands mean are not refused to an agent: a person is asked, and sees the bytes.
func TestVariablesThatMayShapeASessionAreAskedFor(t *testing.T) {
	in := newInside(t, true)
	u, opts := newUser()
	c := in.connect(t, opts)
	value := "it's\n$(id)"

	u.answers <- yes
	r := c.call("session_open", args{"host": "here", "name": "mine", "env": args{"GREETING": value, "LANG": "C"}})
	require.Nil(t, r.Error, r.Raw)
	assert.NotContains(t, r.Raw, "awaiting_approval", "it was answered at once")
	assert.Contains(t, <-u.asked, "export GREETING='it'\\''s")
	u.answers <- yes // what the session has set makes it a question again
	r = c.exec(r.SessionID, `printf '%s%s' "$GREETING" "$LANG"`)
	assert.Equal(t, value+"C", r.Stdout, r.Raw)
}

func TestASessionWhoseVariablesAreRefusedIsClosed(t *testing.T) {
	in := newInside(t, false)
	c := in.connect(t, nil)
	done := make(chan answer, 1)
	go func() {
		done <- c.call("session_open", args{"host": "here", "name": "mine", "env": args{"PATH": "/tmp"}})
	}()
	p := in.waiting(t)
	assert.Equal(t, "export PATH=/tmp", p.Question.Command)
	in.answer(t, p, false)
	r := <-done
	require.NotNil(t, r.Error, r.Raw)
	assert.Equal(t, "rejected", r.Error.Code)
	assert.Empty(t, r.SessionID)
	r = c.exec("mine", "id")
	assert.Equal(t, "closed", r.Error.Code, r.Raw)
}
