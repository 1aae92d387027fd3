package keeper_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// broken is a record that cannot be written.
type broken struct{}

func (broken) Record(context.Context, audit.Event) error { return audit.ErrUnavailable }

func TestNothingRunsThatCannotBeRecorded(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.Audit = broken{} })
	_, err := w.Open(t.Context(), wire.Open{Host: "here"})
	assert.Equal(t, "audit", keepertest.CodeOf(t, err))
}

func TestNothingRunsWhenThePolicyCannotBeRead(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte("version: 1\nrules: [{nonsense: true}]\n"), 0o600))
	_, err := w.Run(t.Context(), s.ID, wire.Run{Command: "true"}, "")
	assert.Equal(t, "policy", keepertest.CodeOf(t, err))
}

// What has run is shown, within the limits of the policy that was in force, and what would ask a host is refused with the reason.
func TestAPolicyThatCannotBeReadHidesNoResult(t *testing.T) {
	w := keepertest.Start(t)
	policy := filepath.Join(w.Dir, "policy.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("version: 1\nprincipals:\n  - {name: operator/ada, max_output: 1KiB}\n"), 0o600))
	s := w.OpenSession("here", "")
	r := w.RunIn(w.Client, s.ID, "yes | head -n 5000")
	require.Equal(t, "ok", r.Status, r.Error)
	require.EqualValues(t, 10000, r.StdoutBytes)
	require.LessOrEqual(t, len(r.Stdout), 1<<10)
	require.NoError(t, os.WriteFile(policy, []byte("version: 1\nrules: [{nonsense: true}]\n"), 0o600))

	var again wire.Result
	status, _ := w.API("", "GET", "/v1/execs/"+r.Exec, nil, &again)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, r.Stdout, again.Stdout)
	var page wire.Page
	status, _ = w.API("", "GET", "/v1/execs/"+r.Exec+"/output", nil, &page)
	assert.Equal(t, http.StatusOK, status)
	assert.LessOrEqual(t, len(page.Data), 1<<10)
	for _, path := range []string{"/v1/sessions", "/v1/hosts", "/v1/approvals", "/v1/jobs?known=true", "/v1/runs", "/v1/audit", "/v1/watch", "/healthz", "/v1/sessions/" + s.ID} {
		status, p := w.API("", "GET", path, nil, nil)
		assert.Equal(t, http.StatusOK, status, "%s: %s", path, p.Detail)
	}
	for _, path := range []string{"/v1/jobs", "/v1/jobs/j_x", "/v1/files?host=here&path=/etc/hostname", "/v1/files/list?host=here&path=/etc"} {
		status, p := w.API("", "GET", path, nil, nil)
		assert.Equal(t, http.StatusServiceUnavailable, status, path)
		assert.Equal(t, "policy", p.Code, path)
		assert.Contains(t, p.Detail, "the policy cannot be used, so nothing may run: "+policy+":2: ", path)
		assert.NotContains(t, p.Detail, "rules: /", path)
	}
}

func TestAChangedPolicyHoldsFromThenOn(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	assert.Equal(t, "ok", w.RunIn(w.Client, s.ID, "true").Status)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "policy.yaml"), []byte(
		"version: 1\nrules:\n  - {name: no, hosts: here, principals: [\"*\"], programs: [\"true\"], verdict: deny, reason: not today}\n"), 0o600))
	r := w.RunIn(w.Client, s.ID, "true")
	assert.Equal(t, "denied", r.Status)
	assert.Contains(t, r.Error.Message, "not today")
	require.NoError(t, os.Remove(filepath.Join(w.Dir, "policy.yaml")))
	assert.Equal(t, "ok", w.RunIn(w.Client, s.ID, "true").Status)
}

func TestAnOperatorConfirmsForOneCommand(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("there", "")
	gone := filepath.Join(w.Dir, "gone")
	require.NoError(t, os.Mkdir(gone, 0o700))
	cmd := "rm -rf " + gone
	r := w.RunIn(w.Client, s.ID, cmd)
	assert.Equal(t, "denied", r.Status)
	assert.Equal(t, "confirmation", r.Decision.Needs)
	assert.DirExists(t, gone)
	r, err := w.Run(t.Context(), s.ID, wire.Run{Command: cmd, Confirm: true}, "")
	require.NoError(t, err)
	assert.Equal(t, "ok", r.Status)
	assert.Equal(t, "confirmation: given with the request", r.Decision.Approval)
	assert.NoDirExists(t, gone)

	r, err = w.Run(t.Context(), s.ID, wire.Run{Command: "rm -rf / --no-such-option", Confirm: true}, "")
	require.NoError(t, err)
	assert.Equal(t, "denied", r.Status, "a confirmation breaks no glass")
	_, err = w.Run(t.Context(), s.ID, wire.Run{Command: "true", BreakGlass: "here", Reason: "x"}, "")
	assert.Equal(t, "invalid", keepertest.CodeOf(t, err), "another host's name")
	_, err = w.Run(t.Context(), s.ID, wire.Run{Command: "true", BreakGlass: "there"}, "")
	assert.Equal(t, "invalid", keepertest.CodeOf(t, err), "no reason")
}

func TestAnAgentActsForItselfAndNoMore(t *testing.T) {
	w := keepertest.Start(t)
	mine := w.OpenSession("here", "work")
	a := w.As("agent/claude")
	_, err := a.Session(t.Context(), mine.ID)
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err), "an operator's session is not an agent's")
	s, err := a.Open(t.Context(), wire.Open{Host: "here", Name: "work"})
	require.NoError(t, err)
	assert.Equal(t, "agent/claude", s.Owner)
	assert.NotEqual(t, mine.ID, s.ID)
	_, err = w.As("agent/other").Session(t.Context(), s.ID)
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))

	_, err = a.Run(t.Context(), "work", wire.Run{Command: "touch /x", Confirm: true}, "")
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, err))
	_, err = a.Open(t.Context(), wire.Open{Host: "root@10.0.0.1"})
	assert.Equal(t, "denied", keepertest.CodeOf(t, err))
	shaped, err := a.Open(t.Context(), wire.Open{Host: "here", Env: map[string]string{"LD_PRELOAD": "/x"}, Reason: "trace"})
	require.NoError(t, err)
	p, err := w.Approval(t.Context(), w.OnlyApproval().ID)
	require.NoError(t, err)
	assert.Equal(t, shaped.Exec, w.OnlyApproval().Exec)
	assert.Contains(t, string(p.Document), "\nexport LD_PRELOAD=/x\n", "a person is asked, and shown it")
	assert.Contains(t, string(p.Document), "\ntrace\n")
	require.NoError(t, w.Answer(t.Context(), p.ID, false, wire.Answer{Digest: p.Digest, Reason: "no"}))
	require.Eventually(t, func() bool {
		_, err := a.Session(t.Context(), shaped.ID)
		return err != nil && keepertest.CodeOf(t, err) == "closed"
	}, time.Minute, 50*time.Millisecond, "it is not the session that was asked for")
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, a.Stop(t.Context())))
	_, err = a.Approvals(t.Context())
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, err))
}

func TestOnlyAgentsCanBeNamed(t *testing.T) {
	w := keepertest.Start(t)
	for _, name := range []string{"operator/bob", "operator/ada", "agent/", "agent/../x", "agent/a b", "program/x", "AGENT/x", "agent/" + strings.Repeat("x", 65)} {
		_, err := w.As(name).Sessions(t.Context())
		assert.Equal(t, "forbidden", keepertest.CodeOf(t, err), name)
	}
	req, err := http.NewRequest("GET", "http://localhost/v1/sessions", nil)
	require.NoError(t, err)
	req.Header[wire.Principal] = []string{"agent/a", "agent/b"}
	resp, err := w.HTTP().Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusForbidden, resp.StatusCode)
	req.Header[wire.Principal] = []string{""}
	resp, err = w.HTTP().Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusForbidden, resp.StatusCode, "an empty name is not an operator")
}

func TestSecretsAreTakenOutForAgentsAndNotForOperators(t *testing.T) {
	w := keepertest.Start(t)
	const script = `echo "password=hunter2hunter2"`
	s := w.OpenSession("here", "")
	assert.Equal(t, "password=hunter2hunter2\n", w.RunIn(w.Client, s.ID, script).Stdout)
	a := w.As("agent/claude")
	as, err := a.Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
	r := w.RunIn(a, as.ID, script)
	assert.NotContains(t, r.Stdout, "hunter2")
	assert.NotContains(t, r.Command, "hunter2")
	assert.NotEmpty(t, r.Redacted, "and how much is told")
}

// ask starts a command that needs an approval, and returns it with its ask.
func ask(t *testing.T, w *keepertest.World, a *client.Client, session, script string) (*wire.Result, wire.Document) {
	t.Helper()
	r, err := a.Start(t.Context(), session, wire.Run{Command: script}, "")
	require.NoError(t, err)
	var id string
	for id == "" { // Start may answer before the question is at the desk
		require.NoError(t, t.Context().Err())
		list, err := w.Approvals(t.Context())
		require.NoError(t, err)
		for _, p := range list {
			id = p.ID
		}
	}
	doc, err := w.Approval(t.Context(), id)
	require.NoError(t, err)
	return r, doc
}

func TestAnAgentsCommandWaitsForAPersonAndRunsAsItWasShown(t *testing.T) {
	w := keepertest.Start(t)
	a := w.As("agent/claude")
	s, err := a.Open(t.Context(), wire.Open{Host: "there", CWD: w.Dir})
	require.NoError(t, err)
	made := filepath.Join(w.Dir, "made")
	r, doc := ask(t, w, a, s.ID, "touch "+made)
	assert.Contains(t, string(doc.Document), "touch "+made)

	assert.Equal(t, "forbidden", keepertest.CodeOf(t, a.Answer(t.Context(), doc.ID, true, wire.Answer{Digest: doc.Digest})), "no agent approves")
	_, err = a.Approval(t.Context(), doc.ID)
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, err))
	assert.Equal(t, "conflict", keepertest.CodeOf(t, w.Answer(t.Context(), doc.ID, true, wire.Answer{Digest: "sha256:00"})), "this is not what was shown")
	_, err = a.Start(t.Context(), s.ID, wire.Run{Command: "touch " + made + "3"}, "")
	assert.Equal(t, "busy", keepertest.CodeOf(t, err), "the session is held")
	read, err := a.Run(t.Context(), s.ID, wire.Run{Command: "pwd"}, "")
	require.NoError(t, err)
	assert.Equal(t, w.Dir+"\n", read.Stdout, "reads need not wait")
	assert.NoFileExists(t, made)

	require.NoError(t, w.Answer(t.Context(), doc.ID, true, wire.Answer{Digest: doc.Digest}))
	r, err = a.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "ok", r.Status)
	assert.Equal(t, doc.ID, r.Decision.Approval)
	assert.FileExists(t, made)
	assert.Equal(t, "conflict", keepertest.CodeOf(t, w.Answer(t.Context(), doc.ID, true, wire.Answer{Digest: doc.Digest})), "an answer is used once")

	r, doc = ask(t, w, a, s.ID, "touch "+made+"2")
	require.NoError(t, w.Answer(t.Context(), doc.ID, false, wire.Answer{Digest: doc.Digest, Reason: "rather not"}))
	r, err = a.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "denied", r.Status)
	assert.Equal(t, "rejected", r.Error.Code)
	assert.Contains(t, r.Error.Message, "rather not")
	assert.NoFileExists(t, made+"2")
	_, err = w.Approval(t.Context(), "a_none")
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
}
