package keeper_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

const sandboxesPath, commandsPath = "/agent/terminal/sandboxes", "/agent/terminal/commands"

// api calls one of the paths of agents' tools, as an agent if as names one.
func (w *world) api(as, method, path string, in, out any, headers ...string) (int, wire.Problem) {
	w.t.Helper()
	body := ""
	if in != nil {
		b, err := json.Marshal(in)
		require.NoError(w.t, err)
		body = string(b)
	}
	if as != "" {
		headers = append(headers, wire.Principal, as)
	}
	status, p, text := w.send(method, path, body, headers...)
	if status < 400 && out != nil && text != "" {
		require.NoError(w.t, json.Unmarshal([]byte(text), out), "%s", text)
	}
	return status, p
}

// box makes a sandbox for agent/claude in a directory of its own.
func (w *world) box(host string) (wire.Sandbox, string) {
	w.t.Helper()
	dir, err := filepath.EvalSymlinks(w.dir)
	require.NoError(w.t, err)
	dir = filepath.Join(dir, "box")
	require.NoError(w.t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	var b wire.Sandbox
	status, p := w.api("", "POST", sandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: host, Label: "box", Path: dir}, &b)
	require.Equal(w.t, http.StatusCreated, status, p.Detail)
	return b, dir
}

// post asks for a command in a sandbox as its agent.
func (w *world) post(in wire.NewCommand, headers ...string) (int, wire.Command) {
	w.t.Helper()
	var c wire.Command
	status, p := w.api("agent/claude", "POST", commandsPath, in, &c, headers...)
	require.Less(w.t, status, 400, "%+v", p)
	return status, c
}

func TestSandboxesAreMadeByPeopleForAgents(t *testing.T) {
	w := start(t)
	b, dir := w.box("here")
	assert.Equal(t, "agent/claude", b.Owner)
	assert.True(t, b.Active)
	var got wire.Sandbox
	status, _ := w.api("agent/claude", "GET", sandboxesPath+"/"+b.ID, nil, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, dir, got.Path)
	status, _ = w.api("agent/other", "GET", sandboxesPath+"/"+b.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status, "another agent's is none")
	var list wire.Sandboxes
	w.api("agent/other", "GET", sandboxesPath, nil, &list)
	assert.Empty(t, list.Items)
	assert.NotNil(t, list.Items)
	w.api("", "GET", sandboxesPath, nil, &list)
	assert.Len(t, list.Items, 1)

	for what, call := range map[string][3]any{
		"make":   {"POST", sandboxesPath, wire.NewSandbox{Host: "here", Path: "/tmp"}},
		"change": {"PATCH", sandboxesPath + "/" + b.ID, wire.SandboxChange{Path: new(string)}},
		"delete": {"DELETE", sandboxesPath + "/" + b.ID, nil},
	} {
		status, p := w.api("agent/claude", call[0].(string), call[1].(string), call[2], nil)
		assert.Equal(t, http.StatusForbidden, status, what)
		assert.Equal(t, "forbidden", p.Code)
	}
	for what, in := range map[string]wire.NewSandbox{
		"relative": {Host: "here", Path: "tmp"}, "root": {Host: "here", Path: "/"}, "no host": {Path: "/tmp"}, "no such owner": {Host: "here", Path: "/tmp", Owner: "root"},
	} {
		status, _ := w.api("", "POST", sandboxesPath, in, nil)
		assert.Equal(t, http.StatusUnprocessableEntity, status, what)
	}
	off, label := false, "shut"
	status, _ = w.api("", "PATCH", sandboxesPath+"/"+b.ID, wire.SandboxChange{Active: &off, Label: &label}, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.False(t, got.Active)
	assert.Equal(t, "shut", got.Label)
	status, _ = w.api("agent/claude", "POST", commandsPath, wire.NewCommand{Sandbox: b.ID, Command: "pwd"}, nil)
	assert.Equal(t, http.StatusConflict, status, "nothing runs in one that is not active")
	status, _ = w.api("", "DELETE", sandboxesPath+"/"+b.ID, nil, nil)
	assert.Equal(t, http.StatusNoContent, status)
	status, _ = w.api("", "GET", sandboxesPath+"/"+b.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
	status, _ = w.api("agent/claude", "POST", commandsPath, wire.NewCommand{Sandbox: b.ID, Command: "pwd"}, nil)
	assert.Equal(t, http.StatusNotFound, status)
}

func TestACommandThatIsAllowedRunsInItsSandbox(t *testing.T) {
	w := start(t)
	b, dir := w.box("there")
	status, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "pwd; ls no-such-file", CWD: "sub", Reason: "to see"})
	assert.Equal(t, http.StatusCreated, status)
	assert.Equal(t, "executed", c.Status)
	assert.Equal(t, "exit", c.Outcome)
	assert.Equal(t, dir+"/sub\n", c.Stdout)
	assert.Contains(t, c.Stderr, "no-such-file")
	require.NotNil(t, c.ExitCode)
	assert.NotZero(t, *c.ExitCode)
	assert.Equal(t, "allow", c.Verdict)
	assert.Equal(t, "agent/claude", c.RequestedBy)
	require.NotNil(t, c.Exec)
	assert.Equal(t, c.Session, c.Exec.Session)
	assert.Nil(t, c.Finalized)

	var got wire.Command
	status, _ = w.api("agent/claude", "GET", commandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, c, got)
	status, _ = w.api("agent/other", "GET", commandsPath+"/"+c.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
	status, _ = w.api("agent/claude", "POST", commandsPath+"/"+c.ID+"/finalize", nil, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.NotNil(t, got.Finalized)
	for _, verb := range []string{"approve", "reject"} {
		status, p := w.api("", "POST", commandsPath+"/"+c.ID+"/"+verb, nil, nil)
		assert.Equal(t, http.StatusConflict, status, "%s: %s", verb, p.Detail)
		status, _ = w.api("", "POST", commandsPath+"/c_none/"+verb, nil, nil)
		assert.Equal(t, http.StatusNotFound, status, verb)
	}
	s, err := w.As("agent/claude").Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, s, "its shell is gone")
}

func TestWhatTheSandboxOrThePolicyRefusesIsRejectedWithAReason(t *testing.T) {
	w := start(t)
	b, dir := w.box("there")
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	for name, in := range map[string]wire.NewCommand{
		"a directory outside":       {Command: "pwd", CWD: "/etc"},
		"a directory above":         {Command: "pwd", CWD: ".."},
		"a file outside":            {Command: "cat /etc/hostname"},
		"a link that leads outside": {Command: "cat link/hostname"},
		"a directory behind a link": {Command: "ls", CWD: "link"},
		"the policy":                {Command: "sudo id"},
		"another host":              {Command: "pwd", Host: "here"},
	} {
		t.Run(name, func(t *testing.T) {
			in.Sandbox = b.ID
			status, c := w.post(in)
			assert.Equal(t, http.StatusCreated, status)
			assert.Equal(t, "rejected", c.Status)
			assert.Equal(t, "deny", c.Verdict)
			assert.NotEmpty(t, c.Reason)
			assert.Nil(t, c.ExitCode)
			assert.Empty(t, c.Stdout)
		})
	}
}

func TestACommandThatWaitsRunsWhenAPersonApprovesIt(t *testing.T) {
	w := start(t)
	b, dir := w.box("there")
	status, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made; echo token=abcdefghijklmnop1234"})
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "pending", c.Status)
	assert.Equal(t, "ask", c.Verdict)
	assert.NotContains(t, c.Command, "abcdefghijklmnop1234", "what is kept holds no secrets")
	assert.NoFileExists(t, filepath.Join(dir, "made"))
	status, _ = w.api("agent/claude", "POST", commandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusForbidden, status, "no agent approves")
	status, _ = w.api("agent/claude", "POST", commandsPath+"/"+c.ID+"/finalize", nil, nil)
	assert.Equal(t, http.StatusConflict, status, "it has not ended")

	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	doc, err := w.Approval(t.Context(), list[0].ID)
	require.NoError(t, err)
	assert.Contains(t, string(doc.Document), "token=abcdefghijklmnop1234", "who approves sees the exact bytes")

	var got wire.Command
	status, p := w.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.Equal(t, "operator/ada", got.ApprovedBy)
	assert.NotContains(t, got.Stdout, "abcdefghijklmnop1234")
	assert.FileExists(t, filepath.Join(dir, "made"))
	status, _ = w.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status, "once")

	_, c = w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch other"})
	status, _ = w.api("", "POST", commandsPath+"/"+c.ID+"/reject", wire.Reject{Reason: "rather not"}, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "rejected", got.Status)
	assert.Contains(t, got.Reason, "rather not")
	assert.NoFileExists(t, filepath.Join(dir, "other"))
}

func TestACommandInASandboxRunsOnceForOneKey(t *testing.T) {
	w := start(t)
	b, _ := w.box("there")
	in := wire.NewCommand{Sandbox: b.ID, Command: "pwd"}
	_, one := w.post(in, wire.IdempotencyKey, "k1")
	status, two := w.post(in, wire.IdempotencyKey, "k1")
	assert.Equal(t, http.StatusCreated, status)
	assert.Equal(t, one, two)
	in.Command = "ls"
	status, p := w.api("agent/claude", "POST", commandsPath, in, nil, wire.IdempotencyKey, "k1")
	assert.Equal(t, http.StatusConflict, status, p.Detail)
}

func TestCommandsAreListedInParts(t *testing.T) {
	w := start(t)
	b, _ := w.box("there")
	ids := map[string]bool{}
	for range 3 {
		_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "pwd"})
		ids[c.ID] = true
	}
	w.post(wire.NewCommand{Sandbox: b.ID, Command: "sudo id"})
	seen, cursor := map[string]bool{}, ""
	for {
		var l wire.Commands
		status, p := w.api("agent/claude", "GET", commandsPath+"?status=executed&limit=2&sandbox_id="+b.ID+"&cursor="+cursor, nil, &l)
		require.Equal(t, http.StatusOK, status, p.Detail)
		for _, c := range l.Items {
			seen[c.ID] = true
		}
		if cursor = l.Next; cursor == "" {
			break
		}
	}
	assert.Equal(t, ids, seen)
	var l wire.Commands
	w.api("agent/other", "GET", commandsPath, nil, &l)
	assert.Empty(t, l.Items)
	w.api("", "GET", commandsPath, nil, &l)
	assert.Len(t, l.Items, 4)
	status, _ := w.api("", "GET", commandsPath+"?cursor=nonsense", nil, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	status, _ = w.api("", "GET", commandsPath+"?status=nonsense", nil, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
}

func TestACommandThatWaitsSurvivesItsKeeper(t *testing.T) {
	w := start(t)
	b, dir := w.box("there")
	_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	require.NoError(t, w.stop())
	w.serve()
	var got wire.Command
	w.api("agent/claude", "GET", commandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, "pending", got.Status)
	status, p := w.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.FileExists(t, filepath.Join(dir, "made"))
}

func TestAYesForWhatIsAnotherPlaceNowIsVoid(t *testing.T) {
	w := start(t)
	b, dir := w.box("there")
	_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	require.NoError(t, w.stop())
	require.NoError(t, os.WriteFile(w.inventory, []byte("version: 1\nhosts:\n  - {name: there, transport: command, command: [sh], tier: prod}\n"), 0o600))
	w.serve()
	var got wire.Command
	w.api("agent/claude", "GET", commandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, "rejected", got.Status)
	assert.Contains(t, got.Reason, "another one now")
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestAYesDoesNotOutliveItsSandbox(t *testing.T) {
	w := start(t)
	b, dir := w.box("there")
	_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	status, _ := w.api("", "DELETE", sandboxesPath+"/"+b.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status)
	var got wire.Command
	status, p := w.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "rejected", got.Status)
	assert.Equal(t, "denied", got.Outcome)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestWhatAKeeperHeldIsToldAsEndedByTheNext(t *testing.T) {
	w := start(t)
	s := w.open("here", "work")
	_, err := w.Run(t.Context(), s.ID, wire.Run{Command: "true"}, "k1")
	require.NoError(t, err)
	require.NoError(t, w.stop())
	w.serve()
	for _, name := range []string{s.ID, "work"} {
		_, err := w.Session(t.Context(), name)
		assert.Equal(t, "closed", codeOf(t, err), name)
		_, err = w.As("agent/other").Session(t.Context(), name)
		assert.Equal(t, "not_found", codeOf(t, err), name)
	}
	again := w.open("here", "work")
	assert.NotEqual(t, s.ID, again.ID, "the name is free")
	_, err = w.Run(t.Context(), "work", wire.Run{Command: "true"}, "k1")
	assert.Equal(t, "conflict", codeOf(t, err), "it is another session's request")
	_, err = w.Run(t.Context(), "work", wire.Run{Command: "false"}, "k1")
	assert.Equal(t, "conflict", codeOf(t, err))
}
