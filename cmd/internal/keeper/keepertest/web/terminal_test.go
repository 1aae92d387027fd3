package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestSandboxesAreMadeByPeopleForAgents(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("here")
	assert.Equal(t, "agent/claude", b.Owner)
	assert.True(t, b.Active)
	var got wire.Sandbox
	status, _ := w.API("agent/claude", "GET", keepertest.SandboxesPath+"/"+b.ID, nil, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, dir, got.Path)
	status, _ = w.API("agent/other", "GET", keepertest.SandboxesPath+"/"+b.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status, "another agent's is none")
	var list wire.Sandboxes
	w.API("agent/other", "GET", keepertest.SandboxesPath, nil, &list)
	assert.Empty(t, list.Items)
	assert.NotNil(t, list.Items)
	w.API("", "GET", keepertest.SandboxesPath, nil, &list)
	assert.Len(t, list.Items, 1)

	for what, call := range map[string][3]any{
		"make":   {"POST", keepertest.SandboxesPath, wire.NewSandbox{Host: "here", Path: "/tmp"}},
		"change": {"PATCH", keepertest.SandboxesPath + "/" + b.ID, wire.SandboxChange{Path: new(string)}},
		"delete": {"DELETE", keepertest.SandboxesPath + "/" + b.ID, nil},
	} {
		status, p := w.API("agent/claude", call[0].(string), call[1].(string), call[2], nil)
		assert.Equal(t, http.StatusForbidden, status, what)
		assert.Equal(t, "forbidden", p.Code)
	}
	for what, in := range map[string]wire.NewSandbox{
		"relative": {Host: "here", Path: "tmp"}, "root": {Host: "here", Path: "/"}, "no host": {Path: "/tmp"}, "no such owner": {Host: "here", Path: "/tmp", Owner: "root"},
	} {
		status, _ := w.API("", "POST", keepertest.SandboxesPath, in, nil)
		assert.Equal(t, http.StatusUnprocessableEntity, status, what)
	}
	off, label := false, "shut"
	status, _ = w.API("", "PATCH", keepertest.SandboxesPath+"/"+b.ID, wire.SandboxChange{Active: &off, Label: &label}, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.False(t, got.Active)
	assert.Equal(t, "shut", got.Label)
	status, _ = w.API("agent/claude", "POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: b.ID, Command: "pwd"}, nil)
	assert.Equal(t, http.StatusConflict, status, "nothing runs in one that is not active")
	status, _ = w.API("", "DELETE", keepertest.SandboxesPath+"/"+b.ID, nil, nil)
	assert.Equal(t, http.StatusNoContent, status)
	status, _ = w.API("", "GET", keepertest.SandboxesPath+"/"+b.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
	status, _ = w.API("agent/claude", "POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: b.ID, Command: "pwd"}, nil)
	assert.Equal(t, http.StatusNotFound, status)
}

func TestACommandThatIsAllowedRunsInItsSandbox(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	status, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "pwd; ls no-such-file", CWD: "sub", Reason: "to see"})
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
	status, _ = w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, c, got)
	status, _ = w.API("agent/other", "GET", keepertest.CommandsPath+"/"+c.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
	status, _ = w.API("agent/claude", "POST", keepertest.CommandsPath+"/"+c.ID+"/finalize", nil, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.NotNil(t, got.Finalized)
	for _, verb := range []string{"approve", "reject"} {
		status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/"+verb, nil, nil)
		assert.Equal(t, http.StatusConflict, status, "%s: %s", verb, p.Detail)
		status, _ = w.API("", "POST", keepertest.CommandsPath+"/c_none/"+verb, nil, nil)
		assert.Equal(t, http.StatusNotFound, status, verb)
	}
	s, err := w.As("agent/claude").Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, s, "its shell is gone")
}

func TestWhatTheSandboxOrThePolicyRefusesIsRejectedWithAReason(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
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
			status, c := w.Post(in)
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
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	status, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made; echo token=abcdefghijklmnop1234"})
	assert.Equal(t, http.StatusAccepted, status)
	assert.Equal(t, "pending", c.Status)
	assert.Equal(t, "ask", c.Verdict)
	assert.NotContains(t, c.Command, "abcdefghijklmnop1234", "what is kept holds no secrets")
	assert.NoFileExists(t, filepath.Join(dir, "made"))
	status, _ = w.API("agent/claude", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusForbidden, status, "no agent approves")
	status, _ = w.API("agent/claude", "POST", keepertest.CommandsPath+"/"+c.ID+"/finalize", nil, nil)
	assert.Equal(t, http.StatusConflict, status, "it has not ended")

	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	doc, err := w.Approval(t.Context(), list[0].ID)
	require.NoError(t, err)
	assert.Contains(t, string(doc.Document), "token=abcdefghijklmnop1234", "who approves sees the exact bytes")

	var got wire.Command
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.Equal(t, "operator/ada", got.ApprovedBy)
	assert.NotContains(t, got.Stdout, "abcdefghijklmnop1234")
	assert.FileExists(t, filepath.Join(dir, "made"))
	status, _ = w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status, "once")

	_, c = w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch other"})
	status, _ = w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/reject", wire.Reject{Reason: "rather not"}, &got)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "rejected", got.Status)
	assert.Contains(t, got.Reason, "rather not")
	assert.NoFileExists(t, filepath.Join(dir, "other"))
}

func TestACommandInASandboxRunsOnceForOneKey(t *testing.T) {
	w := keepertest.Start(t)
	b, _ := w.Box("there")
	in := wire.NewCommand{Sandbox: b.ID, Command: "pwd"}
	_, one := w.Post(in, wire.IdempotencyKey, "k1")
	status, two := w.Post(in, wire.IdempotencyKey, "k1")
	assert.Equal(t, http.StatusCreated, status)
	assert.Equal(t, one, two)
	in.Command = "ls"
	status, p := w.API("agent/claude", "POST", keepertest.CommandsPath, in, nil, wire.IdempotencyKey, "k1")
	assert.Equal(t, http.StatusConflict, status, p.Detail)
}

func TestCommandsAreListedInParts(t *testing.T) {
	w := keepertest.Start(t)
	b, _ := w.Box("there")
	ids := map[string]bool{}
	for range 3 {
		_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "pwd"})
		ids[c.ID] = true
	}
	w.Post(wire.NewCommand{Sandbox: b.ID, Command: "sudo id"})
	seen, cursor := map[string]bool{}, ""
	for {
		var l wire.Commands
		status, p := w.API("agent/claude", "GET", keepertest.CommandsPath+"?status=executed&limit=2&sandbox_id="+b.ID+"&cursor="+cursor, nil, &l)
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
	w.API("agent/other", "GET", keepertest.CommandsPath, nil, &l)
	assert.Empty(t, l.Items)
	w.API("", "GET", keepertest.CommandsPath, nil, &l)
	assert.Len(t, l.Items, 4)
	status, _ := w.API("", "GET", keepertest.CommandsPath+"?cursor=nonsense", nil, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	status, _ = w.API("", "GET", keepertest.CommandsPath+"?status=nonsense", nil, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
}

func TestACommandThatWaitsSurvivesItsKeeper(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	require.NoError(t, w.StopServing())
	w.Serve()
	var got wire.Command
	w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, "pending", got.Status)
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.FileExists(t, filepath.Join(dir, "made"))
}

func TestAYesForWhatIsAnotherPlaceNowIsVoid(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	require.NoError(t, w.StopServing())
	require.NoError(t, os.WriteFile(w.Inventory, []byte("version: 1\nhosts:\n  - {name: there, transport: command, command: [sh], tier: prod}\n"), 0o600))
	w.Serve()
	var got wire.Command
	w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, "rejected", got.Status)
	assert.Contains(t, got.Reason, "another one now")
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestAYesDoesNotOutliveItsSandbox(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	status, _ := w.API("", "DELETE", keepertest.SandboxesPath+"/"+b.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status)
	var got wire.Command
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "rejected", got.Status)
	assert.Equal(t, "denied", got.Outcome)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestWhatAKeeperHeldIsToldAsEndedByTheNext(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	_, err := w.Run(t.Context(), s.ID, wire.Run{Command: "true"}, "k1")
	require.NoError(t, err)
	require.NoError(t, w.StopServing())
	w.Serve()
	for _, name := range []string{s.ID, "work"} {
		_, err := w.Session(t.Context(), name)
		assert.Equal(t, "closed", keepertest.CodeOf(t, err), name)
		_, err = w.As("agent/other").Session(t.Context(), name)
		assert.Equal(t, "not_found", keepertest.CodeOf(t, err), name)
	}
	again := w.OpenSession("here", "work")
	assert.NotEqual(t, s.ID, again.ID, "the name is free")
	_, err = w.Run(t.Context(), "work", wire.Run{Command: "true"}, "k1")
	assert.Equal(t, "conflict", keepertest.CodeOf(t, err), "it is another session's request")
	_, err = w.Run(t.Context(), "work", wire.Run{Command: "false"}, "k1")
	assert.Equal(t, "conflict", keepertest.CodeOf(t, err))
}
