package web_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// greets reads names until one is "end".
const greets = `echo ready; while read -r n && [ "$n" != end ]; do echo "hello $n"; done`

// question waits for the one ask there is.
func question(w *keepertest.World) (a wire.Approval, d wire.Document) {
	w.T.Helper()
	require.Eventually(w.T, func() bool {
		all, err := w.Approvals(w.T.Context())
		require.NoError(w.T, err)
		if len(all) == 1 {
			a = all[0]
			d, err = w.Approval(w.T.Context(), a.ID)
			require.NoError(w.T, err)
		}
		return len(all) == 1
	}, time.Minute, time.Millisecond)
	return a, d
}

// talks has an agent run greets on a host, which is approved as answer says.
func talks(w *keepertest.World, host string, answer func(d wire.Document) wire.Answer) string {
	w.T.Helper()
	agent := w.As("agent/claude")
	s, err := agent.Open(w.T.Context(), wire.Open{Host: host})
	require.NoError(w.T, err)
	r, err := agent.Start(w.T.Context(), s.ID, wire.Run{Command: greets, Interactive: true}, "")
	require.NoError(w.T, err)
	a, d := question(w)
	assert.False(w.T, a.Typed)
	require.NoError(w.T, w.Answer(w.T.Context(), d.ID, true, answer(d)))
	require.Eventually(w.T, func() bool {
		r, err = agent.Look(w.T.Context(), r.Exec)
		require.NoError(w.T, err)
		return strings.Contains(r.Stdout, "ready")
	}, time.Minute, time.Millisecond)
	return r.Exec
}

// types types at an agent's command, and waits for what that leads to.
func types(w *keepertest.World, exec string, in wire.Input) (r wire.Result) {
	w.T.Helper()
	wait := 30.0
	in.WaitS = &wait
	status, p := w.API("agent/claude", "POST", "/v1/execs/"+exec+"/input", in, &r)
	require.Less(w.T, status, 300, "%+v", p)
	return r
}

func TestACommandIsApprovedWithInputOverHTTPAndNoPlainYesIsTurnedIntoThat(t *testing.T) {
	s := startSigning(t)
	exec := talks(s.World, "there", func(d wire.Document) wire.Answer {
		plain, whole := sign(t, s.ada, approval.Namespace, d.Digest), sign(t, s.ada, approval.Namespace, d.DigestWithInput)
		for name, tt := range map[string]struct {
			in   wire.Answer
			code string
		}{
			"a plain yes that calls itself one": {wire.Answer{Digest: d.Digest, WithInput: true, Signature: plain}, "conflict"},
			"the signature of a plain yes":      {wire.Answer{Digest: d.DigestWithInput, WithInput: true, Signature: plain}, "proof"},
			"no signature":                      {wire.Answer{Digest: d.DigestWithInput, WithInput: true}, "proof"},
			"one that does not say so":          {wire.Answer{Digest: d.DigestWithInput, Signature: whole}, "conflict"},
		} {
			assert.Equal(t, tt.code, keepertest.CodeOf(t, s.Answer(t.Context(), d.ID, true, tt.in)), name)
		}
		assert.Equal(t, "invalid", keepertest.CodeOf(t, s.Answer(t.Context(), d.ID, false, wire.Answer{Digest: d.DigestWithInput, WithInput: true})), "a no")
		return wire.Answer{Digest: d.DigestWithInput, WithInput: true, Signature: whole}
	})
	r := types(s.World, exec, wire.Input{Text: "ada\n", WaitFor: "hello ada"})
	assert.Contains(t, r.Stdout, "hello ada")
	assert.True(t, r.Decision.WithInput)
	assert.Nil(t, r.Typed, "nobody was asked")
	r = types(s.World, exec, wire.Input{Text: "end", Keys: []string{"Enter"}})
	assert.Equal(t, "ok", r.Status, r.Stdout)

	said, typed := s.AgentEntries(audit.ApprovalResult)[0], s.AgentEntries(audit.CommandInput)
	require.Len(t, typed, 2)
	assert.True(t, said.WithInput)
	ran := s.AgentEntries(audit.CommandRequest)
	assert.True(t, ran[len(ran)-1].WithInput)
	back, err := approval.Parse([]byte(said.ApprovalDocument))
	require.NoError(t, err)
	assert.True(t, back.WithInput)
	assert.Equal(t, said.ApprovalDigest, string(back.Digest()))
	for _, e := range typed {
		assert.True(t, e.WithInput)
		assert.Equal(t, said.ApprovalDigest, e.ApprovalDigest)
		assert.Equal(t, "operator/ada", e.ApprovedBy)
	}
}

func TestWhatAnAgentTypesIsAskedAboutOverHTTP(t *testing.T) {
	w := keepertest.Start(t)
	exec := talks(w, "here", func(d wire.Document) wire.Answer { return wire.Answer{Digest: d.Digest} })
	path := "/v1/execs/" + exec + "/input"
	var r wire.Result
	for range 2 {
		status, p := w.API("agent/claude", "POST", path, wire.Input{Text: "ada\n"}, &r, wire.IdempotencyKey, "k")
		require.Equal(t, http.StatusAccepted, status, "%+v", p)
		require.NotNil(t, r.Typed)
		assert.Equal(t, "awaiting_approval", r.Typed.State)
		assert.Equal(t, "running", r.State)
	}
	status, p := w.API("agent/claude", "POST", path, wire.Input{Text: "eve\n"}, nil)
	assert.Equal(t, http.StatusConflict, status)
	assert.Equal(t, "busy", p.Code)
	a, d := question(w)
	assert.True(t, a.Typed)
	assert.Equal(t, exec, a.Exec)
	assert.Empty(t, d.DigestWithInput)
	q, err := approval.Parse(d.Document)
	require.NoError(t, err)
	assert.Equal(t, "ada\n", q.Question.Typed)
	assert.Equal(t, greets, q.Question.Command)
	assert.Equal(t, "invalid", keepertest.CodeOf(t, w.Answer(t.Context(), a.ID, true, wire.Answer{Digest: d.Digest, WithInput: true})))
	require.NoError(t, w.Answer(t.Context(), a.ID, true, wire.Answer{Digest: d.Digest}))
	require.Eventually(t, func() bool {
		w.API("agent/claude", "GET", "/v1/execs/"+exec, nil, &r)
		return strings.Contains(r.Stdout, "hello ada") && r.Typed.State == "typed"
	}, time.Minute, time.Millisecond)
	assert.Equal(t, 1, strings.Count(r.Stdout, "hello ada"), r.Stdout)
	require.NotNil(t, r.Typed)
	assert.Equal(t, "typed", r.Typed.State)

	// Whoever waits long enough hears the no as a failed request, others with the result.
	no := make(chan struct{})
	go func() {
		defer close(no)
		a, d := question(w)
		assert.NoError(t, w.Answer(t.Context(), a.ID, false, wire.Answer{Digest: d.Digest, Reason: "not him"}))
	}()
	wait := 30.0
	status, p = w.API("agent/claude", "POST", path, wire.Input{Text: "bob\n", WaitS: &wait}, nil)
	<-no
	assert.Equal(t, http.StatusForbidden, status)
	assert.Equal(t, "rejected", p.Code)
	assert.Contains(t, p.Detail, "operator/ada: not him; nothing was typed")
	w.API("agent/claude", "GET", "/v1/execs/"+exec, nil, &r)
	require.NotNil(t, r.Typed)
	assert.Equal(t, "refused", r.Typed.State)
	assert.Equal(t, "rejected", r.Typed.Error.Code)

	// What waits is taken back with the command's end.
	w.API("agent/claude", "POST", path, wire.Input{Text: "eve\n"}, nil)
	question(w)
	r = types(w, exec, wire.Input{Keys: []string{"C-d"}})
	assert.Equal(t, "done", r.State)
	assert.NotContains(t, r.Stdout, "hello eve")
	all, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestOnlyWhatIsTypedAtIsApprovedWithInput(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	a, d := question(w)
	assert.Empty(t, d.DigestWithInput)
	assert.Equal(t, "invalid", keepertest.CodeOf(t, w.Answer(t.Context(), a.ID, true, wire.Answer{Digest: d.Digest, WithInput: true})))
	status, _ := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", map[string]any{"with_input": true}, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}
