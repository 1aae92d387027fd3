package mcpserver_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestAPythonREPLIsTypedAtAndInterrupted(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		needs.Part(t, "no python3")
	}
	places(t, func(t *testing.T, p place) {
		c := p.start(t, nil, "--allow-all")
		id := c.open(p.host)
		r := c.exec(id, "HOME="+t.TempDir()+" "+python+" -q", args{"interactive": true})
		require.Nil(t, r.Error, "%+v", r.Error)
		require.Equal(t, "running", r.State, r.Raw)
		require.NotNil(t, r.WaitingFor)
		assert.Equal(t, "input", r.WaitingFor.Kind)
		assert.Contains(t, r.WaitingFor.Prompt, ">>>")

		r = c.call("session_input", args{"session_id": id, "text": "6*7\n"})
		require.Nil(t, r.Error, "%+v", r.Error)
		assert.Contains(t, r.Stdout, "\n42\n")
		r = c.call("session_input", args{"session_id": id, "text": "print('a' + 'b')", "keys": []string{"Enter"}, "wait_for": "(?m)^ab$"})
		assert.Equal(t, "match", r.Woke, r.Raw)

		loop := "import time; print('on', 'and', 'on', flush=True); time.sleep(1000)\n"
		r = c.call("session_input", args{"session_id": id, "text": loop, "wait_for": "on and on"})
		assert.Equal(t, "running", r.State)
		r = c.call("session_input", args{"session_id": id, "keys": []string{"C-c"}, "wait_for": "KeyboardInterrupt"})
		require.Nil(t, r.Error, "%+v", r.Error)
		assert.Equal(t, "match", r.Woke, r.Raw)
		shown := c.call("session_output", args{"session_id": id, "screen": true})
		require.NotNil(t, shown.Screen, shown.Raw)
		assert.Contains(t, shown.Screen.Lines, "KeyboardInterrupt")

		r = c.call("session_input", args{"session_id": id, "text": "exit(5)\n"})
		assert.Equal(t, "done", r.State, r.Raw)
		require.NotNil(t, r.ExitCode, r.Raw)
		assert.Equal(t, 5, *r.ExitCode)
		assert.Equal(t, "still here\n", c.exec(id, "echo still here").Stdout)
	})
}

func TestASignalReachesWhatRuns(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		c := p.start(t, nil, "--allow-all")
		id := c.open(p.host)
		gate := fifo(t)
		r := c.exec(id, "sh -c 'trap \"\" INT; echo x >"+gate+"; sleep 1000 & wait'", args{"wait_s": 0})
		require.Equal(t, "running", r.State)
		read(t, gate)
		r = c.call("session_input", args{"session_id": id, "signal": "KILL"})
		require.Nil(t, r.Error, "%+v", r.Error)
		assert.Equal(t, "done", r.State)
		assert.Equal(t, 137, *r.ExitCode)
	})
}

func TestAPasswordThatIsTypedIsASecret(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, `stty -echo; printf 'Password: '; read p; stty echo; echo "got $p"; cat`, args{"interactive": true})
	require.NotNil(t, r.WaitingFor, r.Raw)
	assert.Equal(t, "password", r.WaitingFor.Kind)
	r = c.call("session_input", args{"session_id": id, "text": "correct horse\n", "wait_for": "got"})
	assert.NotContains(t, r.Raw, "correct horse")
	assert.Contains(t, r.Stdout, "got «redacted:")
	r = c.call("session_input", args{"session_id": id, "keys": []string{"C-d"}})
	assert.Equal(t, "done", r.State)
}

func TestAFullScreenProgramIsSeen(t *testing.T) {
	less, err := exec.LookPath("less")
	if err != nil {
		needs.Part(t, "no less")
	}
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	r := c.exec(id, "seq 1 100 | "+less, args{"interactive": true})
	require.NotNil(t, r.WaitingFor, r.Raw)
	assert.Contains(t, []string{"pager", "fullscreen"}, r.WaitingFor.Kind)
	c.call("session_input", args{"session_id": id, "keys": []string{"Space"}})
	shown := c.call("session_output", args{"session_id": id, "screen": true})
	require.NotNil(t, shown.Screen, shown.Raw)
	assert.Contains(t, shown.Screen.Lines, "46")
	assert.NotContains(t, shown.Screen.Lines, "1")
	assert.Equal(t, "done", c.call("session_input", args{"session_id": id, "keys": []string{"q"}}).State)
}

func TestALineThatATerminalCutsIsTold(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	require.Equal(t, "running", c.exec(id, "echo ready; wc -c", args{"interactive": true, "wait_s": 0}).State)
	require.Equal(t, "running", c.call("session_output", args{"session_id": id, "offset": 0}).State)
	r := c.call("session_input", args{"session_id": id, "text": strings.Repeat(strings.Repeat("x", 4000)+"\n", 3), "wait_s": 0})
	require.Nil(t, r.Error, r.Raw)
	assert.Empty(t, r.Note)
	r = c.call("session_input", args{"session_id": id, "text": strings.Repeat("x", 5000) + "\n", "wait_s": 0})
	require.Nil(t, r.Error, r.Raw)
	assert.Contains(t, r.Note, "a line of 5000 bytes")
	c.call("session_close", args{"session_id": id})
}

func TestOnlyInteractiveCommandsTakeTyping(t *testing.T) {
	c := newPlace(t, here, "").start(t, nil, "--allow-all")
	id := c.open("here")
	gate := fifo(t)
	c.exec(id, "read x <"+gate, args{"wait_s": 0})
	r := c.call("session_input", args{"session_id": id, "text": "x"})
	assert.Equal(t, "not_interactive", r.Error.Code)
	r = c.call("session_output", args{"session_id": id, "screen": true})
	assert.Equal(t, "invalid", r.Error.Code)
	r = c.call("session_input", args{"session_id": id, "keys": []string{"Hyper"}})
	assert.NotNil(t, r.Error)
	open(t, gate, "\n")
}

// The gate is opened once the call is known to wait.
func TestALookWaitsForWhatItWantsToSee(t *testing.T) {
	gate := fifo(t)
	waits := make(chan struct{}, 1)
	c := newPlace(t, here, "").start(t, &mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
		select {
		case waits <- struct{}{}:
		default:
		}
	}}, "--allow-all")
	id := c.open("here")
	look := func(a args) answer {
		waited, opened := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(opened)
			<-waits
			close(waited)
			open(t, gate, "\n")
		}()
		a["session_id"], a["wait_s"] = id, 50
		r := c.callWith(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"progressToken": "x"}, Name: "session_output", Arguments: a})
		select {
		case <-waited:
		default:
			assert.Fail(t, "it has not waited", "%s", r.Raw)
			waits <- struct{}{}
		}
		<-opened
		return r
	}

	require.Equal(t, "running", c.exec(id, "echo out; read x <"+gate+"; echo late >&2; read x <"+gate+"; printf '\\033[m'; read x <"+gate, args{"wait_s": 0}).State)
	r := look(args{"stream": "stderr"})
	require.NotNil(t, r.Page, r.Raw)
	assert.Equal(t, "late\n", r.Page.Text)
	assert.Equal(t, "match", r.Woke)
	r = look(args{"stream": "stdout", "offset": 4})
	require.NotNil(t, r.Page, r.Raw)
	assert.Equal(t, "running", r.State)
	assert.Greater(t, r.Page.Next, int64(4), "bytes that nobody sees are bytes")
	assert.Equal(t, "done", look(args{"stream": "stderr", "offset": 5}).State)

	require.Equal(t, "running", c.exec(id, "echo works; read x <"+gate+"; echo more; read x <"+gate, args{"interactive": true, "wait_s": 0}).State)
	require.Equal(t, "running", c.call("session_output", args{"session_id": id, "offset": 0}).State)
	r = look(args{"screen": true})
	require.NotNil(t, r.Screen, r.Raw)
	assert.Equal(t, []string{"works", "more"}, r.Screen.Lines)
	assert.Equal(t, "done", look(args{"screen": true}).State)
}
