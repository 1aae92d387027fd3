package mcpserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An agent without shell mode uses the sessions that it can open.
func TestAnAgentWithoutShellModeRunsProgramsInItsSession(t *testing.T) {
	p := newPlace(t, here, `version: 1
principals:
  - {name: role=agent, shell: false, strict: true, programs: [ls, pwd, echo, mkdir]}
rules:
  - {name: make, hosts: all, principals: ["role=agent"], programs: ["mkdir *"], verdict: allow}
`)
	c := p.start(t, nil)
	ran := func(tool string, what args) answer {
		t.Helper()
		a := c.call(tool, what)
		require.False(t, a.IsError, "%+v", a)
		return a
	}
	s := ran("session_open", args{"host": "here", "cwd": p.home})
	denied := func(what args, want string) {
		t.Helper()
		what["session_id"] = s.SessionID
		a := c.call("session_exec", what)
		require.True(t, a.IsError, "%v", what)
		assert.Contains(t, a.Error.Message, want)
	}
	a := ran("session_exec", args{"session_id": s.SessionID, "program": "mkdir", "args": []string{"a b"}})
	assert.Equal(t, "ok", a.Status)
	a = ran("session_exec", args{"session_id": s.SessionID, "program": "ls", "args": []string{"-d", "a b"}})
	assert.Equal(t, "a b\n", a.Stdout)
	a = ran("session_exec", args{"session_id": s.SessionID, "program": "echo", "args": []string{"one", "two"}})
	assert.Equal(t, "one two\n", a.Stdout)
	denied(args{"command": "ls"}, "name a program and its arguments instead")
	denied(args{"program": "cat", "args": []string{"x"}}, "the program cat")
	denied(args{"program": "/bin/ls"}, "bare name")
	denied(args{"program": "ls", "args": []string{"a;id"}}, "argument 1")
	denied(args{"program": "ls", "args": []string{"a", ".."}}, "argument 2")
	denied(args{"program": "ls", "command": "ls"}, "not both")
	denied(args{"args": []string{"x"}}, "give command, or program and args")
	denied(args{}, "give command, or program and args")
}
