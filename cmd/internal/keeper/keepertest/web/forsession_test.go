package web_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// needs reports whether a command needs an approval of its own, which it does not get.
func asksFor(w *keepertest.World, c *client.Client, session, script string) bool {
	w.T.Helper()
	wait := 0.0
	r, err := c.Start(w.T.Context(), session, wire.Run{Command: script, WaitS: &wait}, "")
	require.NoError(w.T, err)
	if r.Decision.Verdict == "allow" || r.Decision.ForSession != "" {
		_, err := c.Wait(w.T.Context(), r.Exec)
		require.NoError(w.T, err)
		return false
	}
	if r.Decision.Verdict == "ask" {
		status, _ := w.API("", "POST", "/v1/approvals/"+w.PendingOf(r.Exec).ID+"/reject", wire.Answer{Digest: digestOf(w, r.Exec)}, nil)
		require.Less(w.T, status, 300)
		_, err = c.Wait(w.T.Context(), r.Exec)
		require.NoError(w.T, err)
	}
	return true
}

func digestOf(w *keepertest.World, exec string) string {
	w.T.Helper()
	var doc wire.Document
	w.API("", "GET", "/v1/approvals/"+w.PendingOf(exec).ID, nil, &doc)
	return doc.Digest
}

func forSessions(w *keepertest.World) []wire.SessionApproval {
	w.T.Helper()
	var list wire.SessionApprovals
	status, _ := w.API("", "GET", keepertest.SessionApprovals, nil, &list)
	require.Equal(w.T, http.StatusOK, status)
	return list.Items
}

// recorded returns the entries of the audit log of a kind.
func recordedOf(w *keepertest.World, kind string) (all []map[string]any) {
	w.T.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, "audit", "000001.jsonl"))
	require.NoError(w.T, err)
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		var e map[string]any
		require.NoError(w.T, json.Unmarshal([]byte(line), &e))
		if e["kind"] == kind {
			all = append(all, e)
		}
	}
	return all
}

func TestACommandIsApprovedForItsSession(t *testing.T) {
	w := keepertest.Start(t)
	agent, other := w.As("agent/claude"), w.As("agent/other")
	dir := filepath.Join(w.Dir, "work")
	require.NoError(t, os.Mkdir(dir, 0o700))
	open := func(c *client.Client, host string) wire.Session {
		s, err := c.Open(t.Context(), wire.Open{Host: host, CWD: dir})
		require.NoError(t, err)
		return s
	}
	s := open(agent, "there")
	ask := w.Asked(agent, s.ID, "echo x >>made")
	status, p := w.ApproveFor(ask.ID, wire.ForSession{})
	require.Less(t, status, 300, p.Detail)
	_, err := agent.Wait(t.Context(), ask.Exec)
	require.NoError(t, err)
	list := forSessions(w)
	require.Len(t, list, 1)
	assert.Equal(t, ask.ID, list[0].ID)
	assert.Equal(t, s.ID, list[0].Session)
	assert.Equal(t, "operator/ada", list[0].ApprovedBy)
	assert.WithinDuration(t, time.Now().Add(approval.MaxFor), list[0].Until, time.Minute)

	r := w.RunIn(agent, s.ID, "echo x >>made")
	assert.Equal(t, "ok", r.Status)
	assert.Equal(t, ask.ID, r.Decision.Approval)
	assert.Equal(t, "this command", r.Decision.ForSession)
	for name, again := range map[string]func() bool{
		"another command":    func() bool { return asksFor(w, agent, s.ID, "echo x >>made2") },
		"a blank more":       func() bool { return asksFor(w, agent, s.ID, "echo x >>made ") },
		"another session":    func() bool { return asksFor(w, agent, open(agent, "there").ID, "echo x >>made") },
		"another host":       func() bool { return asksFor(w, agent, open(agent, "here").ID, "echo x >>made") },
		"another principal":  func() bool { return asksFor(w, other, open(other, "there").ID, "echo x >>made") },
		"another directory":  func() bool { w.RunIn(agent, s.ID, "cd /"); return asksFor(w, agent, s.ID, "echo x >>made") },
		"behind a cd":        func() bool { w.RunIn(agent, s.ID, "cd "+dir); return asksFor(w, agent, s.ID, "cd .; echo x >>made") },
		"an interactive one": func() bool { return needsInteractive(w, agent, s.ID, "echo x >>made") },
		"a function of a name": func() bool {
			w.Approved(agent, s.ID, "echo() { touch "+dir+"/poisoned; }")
			w.RunIn(agent, s.ID, "cd "+dir)
			return asksFor(w, agent, s.ID, "echo x >>made")
		},
	} {
		assert.True(t, again(), name)
	}
	assert.NoFileExists(t, filepath.Join(dir, "poisoned"))
	text, err := os.ReadFile(filepath.Join(dir, "made"))
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", string(text), "it ran once when it was approved, and once after")

	_, err = agent.Reset(t.Context(), s.ID)
	require.NoError(t, err)
	w.RunIn(agent, s.ID, "cd "+dir)
	assert.False(t, asksFor(w, agent, s.ID, "echo x >>made"), "a new shell is the same session")
	require.NoError(t, agent.CloseSession(t.Context(), s.ID))
	assert.Empty(t, forSessions(w), "it ends with the session")

	given := recordedOf(w, "approval.result")
	assert.Equal(t, "this command", given[0]["for_session"])
	used := 0
	for _, e := range recordedOf(w, "command.request") {
		if e["for_session"] == "this command" {
			assert.Equal(t, ask.ID, e["approval"])
			assert.Equal(t, "operator/ada", e["approved_by"])
			used++
		}
	}
	assert.Equal(t, 3, used)
	end := recordedOf(w, "approval.end")
	require.Len(t, end, 1)
	assert.Equal(t, "closed", end[0]["status"])
	assert.Equal(t, ask.ID, end[0]["approval"])
}

func needsInteractive(w *keepertest.World, c *client.Client, session, script string) bool {
	w.T.Helper()
	r, err := c.Start(w.T.Context(), session, wire.Run{Command: script, Interactive: true}, "")
	require.NoError(w.T, err)
	status, _ := w.API("", "POST", "/v1/approvals/"+w.PendingOf(r.Exec).ID+"/reject", wire.Answer{Digest: digestOf(w, r.Exec)}, nil)
	require.Less(w.T, status, 300)
	_, err = c.Wait(w.T.Context(), r.Exec)
	require.NoError(w.T, err)
	return true
}

func TestCommandsAreApprovedForASessionByTheirFirstWords(t *testing.T) {
	w := keepertest.Start(t)
	agent := w.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there", CWD: w.Dir})
	require.NoError(t, err)
	ask := w.Asked(agent, s.ID, "mkdir -p a")
	for prefix, want := range map[string]string{
		"mkdir": "at least one more word", "mkdir -m": "does not begin", "mkdir -p; x": "simple command", "mkdir $x": "simple command", "bash -c": "can run any program",
	} {
		status, p := w.ApproveFor(ask.ID, wire.ForSession{Prefix: prefix})
		assert.GreaterOrEqual(t, status, 400, prefix)
		assert.Contains(t, p.Detail, want, prefix)
	}
	status, p := w.ApproveFor(ask.ID, wire.ForSession{Prefix: "mkdir -p", ForS: 3600})
	require.Less(t, status, 300, p.Detail)
	_, err = agent.Wait(t.Context(), ask.Exec)
	require.NoError(t, err)
	list := forSessions(w)
	require.Len(t, list, 1)
	assert.Equal(t, "commands that begin with: mkdir -p, for 1h0m0s", list[0].Scope)
	assert.WithinDuration(t, time.Now().Add(time.Hour), list[0].Until, time.Minute)
	assert.False(t, asksFor(w, agent, s.ID, "mkdir -p b"))
	assert.False(t, asksFor(w, agent, s.ID, "mkdir -p c 'd e'"))
	assert.DirExists(t, filepath.Join(w.Dir, "d e"))
	for _, script := range []string{
		"mkdir c2", "mkdir -p e && touch f", "mkdir -p $(touch f)", "mkdir -p e >f", "mkdir -p e\ntouch f", "A=1 mkdir -p e", "mkdir -p e*", "cd .; mkdir -p e", "mkdir -p e # f\ntouch f", "mkdir() { touch f; }; mkdir -p e", "command mkdir -p e",
	} {
		assert.True(t, asksFor(w, agent, s.ID, script), script)
	}
	assert.NoFileExists(t, filepath.Join(w.Dir, "f"))

	// What nobody saw a command set does not reach the ones that were approved for what they mean.
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "evil"), []byte("mkdir() { touch f; }; alias mkdir='touch f'\n"), 0o600))
	w.Approved(agent, s.ID, ". ./evil")
	r := w.RunIn(agent, s.ID, "mkdir -p clean")
	assert.Equal(t, "ok", r.Status)
	assert.Equal(t, "clean", r.Lane)
	assert.DirExists(t, filepath.Join(w.Dir, "clean"))
	assert.NoFileExists(t, filepath.Join(w.Dir, "f"))

	// Agents may neither give nor revoke one.
	status, _ = w.API("agent/claude", "DELETE", keepertest.SessionApprovals+"/"+ask.ID, nil, nil)
	assert.Equal(t, http.StatusForbidden, status)
	more := w.Asked(agent, s.ID, "touch f")
	status, _ = w.API("agent/claude", "POST", "/v1/approvals/"+more.ID+"/approve", wire.Answer{Digest: digestOf(w, more.Exec), ForSession: &wire.ForSession{}}, nil)
	assert.Equal(t, http.StatusForbidden, status)
	status, p = w.API("", "POST", "/v1/approvals/"+more.ID+"/approve", wire.Answer{Digest: digestOf(w, more.Exec), ForSession: &wire.ForSession{}}, nil)
	assert.Equal(t, http.StatusConflict, status, "the digest is of the document with its scope: %s", p.Detail)
	status, _ = w.API("", "POST", "/v1/approvals/"+more.ID+"/reject", wire.Answer{Digest: digestOf(w, more.Exec)}, nil)
	require.Less(t, status, 300)

	status, _ = w.API("", "DELETE", keepertest.SessionApprovals+"/"+ask.ID+"?reason=enough", nil, nil)
	assert.Equal(t, http.StatusNoContent, status)
	status, _ = w.API("", "DELETE", keepertest.SessionApprovals+"/"+ask.ID, nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
	assert.Empty(t, forSessions(w))
	_, err = agent.Wait(t.Context(), more.Exec)
	require.NoError(t, err)
	assert.True(t, asksFor(w, agent, s.ID, "mkdir -p z"))
	end := recordedOf(w, "approval.end")
	require.Len(t, end, 1)
	assert.Equal(t, []any{"revoked", "operator/ada", "enough"}, []any{end[0]["status"], end[0]["revoked_by"], end[0]["reason"]})
}

func TestOneOffCommandsAreNotApprovedForASession(t *testing.T) {
	w := keepertest.Start(t)
	ctx := t.Context()
	ran := make(chan error, 1)
	go func() {
		_, err := w.As("agent/claude").RunFleet(ctx, wire.NewRun{Selector: "there", Command: "touch one-off"}, (&keepertest.Told{}).Fleet())
		ran <- err
	}()
	var ask wire.Approval
	require.Eventually(t, func() bool {
		list, err := w.Approvals(ctx)
		require.NoError(t, err)
		if len(list) == 1 {
			ask = list[0]
		}
		return len(list) == 1
	}, keepertest.TerminalTime, 5*time.Millisecond)
	status, p := w.ApproveFor(ask.ID, wire.ForSession{})
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, p.Detail, "approve it once")
	status, _ = w.API("", "POST", "/v1/approvals/"+ask.ID+"/reject", wire.Answer{Digest: digestOf(w, ask.Exec)}, nil)
	require.Less(t, status, 300)
	<-ran
}

func TestCommandsOfASandboxAreApprovedForIt(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "mkdir -p a"})
	require.Equal(t, "pending", c.Status)
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", wire.Approve{ForSession: &wire.ForSession{Prefix: "mkdir -p"}}, &c)
	require.Equal(t, http.StatusOK, status, p.Detail)
	require.Equal(t, "executed", c.Status)
	list := forSessions(w)
	require.Len(t, list, 1)
	assert.Equal(t, b.ID, list[0].Sandbox)

	_, c = w.Post(wire.NewCommand{Sandbox: b.ID, Command: "mkdir -p b"})
	assert.Equal(t, "executed", c.Status, c.Reason)
	assert.Equal(t, "operator/ada", c.ApprovedBy)
	assert.Equal(t, list[0].ID, c.Exec.Decision.Approval)
	assert.DirExists(t, filepath.Join(dir, "b"))
	reject := func(in wire.NewCommand) {
		_, c := w.Post(in)
		if assert.Equal(t, "pending", c.Status, "%+v", in) {
			w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/reject", nil, nil)
		}
	}
	reject(wire.NewCommand{Sandbox: b.ID, Command: "mkdir -p c", CWD: "sub"})
	reject(wire.NewCommand{Sandbox: b.ID, Command: "mkdir -p c; touch d"})
	var off wire.Sandbox
	none, account, label, active := "none", "account", "other", false
	change := func(to wire.SandboxChange) {
		status, p := w.API("", "PATCH", keepertest.SandboxesPath+"/"+b.ID, to, &off)
		require.Equal(t, http.StatusOK, status, p.Detail)
	}
	change(wire.SandboxChange{Network: &none})
	assert.Empty(t, forSessions(w), "it was for the sandbox as it was")
	change(wire.SandboxChange{Network: &account})
	_, c = w.Post(wire.NewCommand{Sandbox: b.ID, Command: "mkdir -p d"})
	w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", wire.Approve{ForSession: &wire.ForSession{}}, nil)
	change(wire.SandboxChange{Label: &label})
	require.Len(t, forSessions(w), 1)
	change(wire.SandboxChange{Active: &active})
	assert.Empty(t, forSessions(w), "it ends with the sandbox")
	for _, e := range recordedOf(w, "command.request") {
		if e["command"] == "mkdir -p b" {
			assert.Equal(t, list[0].ID, e["approval"])
			assert.Equal(t, "commands that begin with: mkdir -p", e["for_session"])
		}
	}
}
