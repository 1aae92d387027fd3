package keeper_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// heard is an event as it came, with the id that goes on after it.
type heard struct {
	id string
	wire.Event
}

// hear reads the events after one.
func hear(w *keepertest.World, as, last string) (next func() heard) {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), "GET", "http://localhost/v1/events", nil)
	require.NoError(w.T, err)
	if as != "" {
		req.Header.Set(wire.Principal, as)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := w.HTTP().Do(req)
	require.NoError(w.T, err)
	require.Equal(w.T, http.StatusOK, resp.StatusCode)
	w.T.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (e heard) {
		w.T.Helper()
		for lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				e.id = id
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(w.T, json.Unmarshal([]byte(data), &e.Event))
				return e
			}
		}
		require.Fail(w.T, "the stream has ended")
		return e
	}
}

// until returns the next events up to one of a kind, by their kinds.
func until(next func() heard, kind string) map[string]wire.Event {
	seen := map[string]wire.Event{}
	for seen[kind].Kind == "" {
		e := next()
		seen[e.Kind] = e.Event
	}
	return seen
}

func TestAnEventNamesItsAskItsExecAndItsCommand(t *testing.T) {
	w := keepertest.Start(t)
	next := hear(w, "agent/claude", "")
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	asked := until(next, "asked")["asked"]
	assert.Equal(t, c.ID, asked.Command)
	assert.Empty(t, asked.Exec, "it is none yet")
	assert.Equal(t, asked.ID, asked.Approval)
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &c)
	require.Equal(t, http.StatusOK, status, p.Detail)
	seen := until(next, "done")
	approved, done := seen["approved"], seen["done"]
	assert.Equal(t, c.ID, approved.Command)
	assert.Equal(t, asked.Approval, approved.Approval)
	assert.Equal(t, c.ID, done.Command)
	assert.Equal(t, c.Exec.Exec, done.Exec)
	assert.Equal(t, asked.Approval, done.Approval)
	assert.Equal(t, "ok", done.Status)

	agent := w.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	r, err := agent.Start(t.Context(), s.ID, wire.Run{Command: "touch /tmp"}, "")
	require.NoError(t, err)
	asked = until(next, "asked")["asked"]
	assert.Equal(t, r.Exec, asked.Exec)
	assert.Empty(t, asked.Command)
	w.AnswerAll(t, true)
	seen = until(next, "done")
	approved, done = seen["approved"], seen["done"]
	assert.Equal(t, r.Exec, approved.Exec)
	assert.Equal(t, r.Exec, done.Exec)
	assert.Equal(t, r.Exec, done.ID)
	assert.Equal(t, asked.Approval, done.Approval)
}

func TestEveryEndOfACommandInASandboxIsOneEvent(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) {
		more := fmt.Sprintf("  - {name: gone, addr: 127.0.0.1, port: %d, ssh_config: none, tier: dev}\n", nowhere(t))
		require.NoError(t, os.WriteFile(c.Inventory, []byte(keepertest.Here+more), 0o600))
	})
	b, _ := w.Box("there")
	gone, _ := w.Box("gone")
	next := hear(w, "agent/claude", "")
	for name, tt := range map[string]struct {
		in     wire.NewCommand
		answer string
		want   string
	}{
		"done":              {in: wire.NewCommand{Command: "pwd"}, want: "ok"},
		"another exit":      {in: wire.NewCommand{Command: "cat nothing"}, want: "exit"},
		"denied by policy":  {in: wire.NewCommand{Command: "rm -rf /"}, want: "denied"},
		"outside":           {in: wire.NewCommand{Command: "pwd", CWD: "/"}, want: "denied"},
		"refused":           {in: wire.NewCommand{Command: "touch made"}, answer: "reject", want: "denied"},
		"approved":          {in: wire.NewCommand{Command: "touch made"}, answer: "approve", want: "ok"},
		"a host not there":  {in: wire.NewCommand{Command: "pwd", Sandbox: gone.ID}, want: "unreachable"},
		"nor its directory": {in: wire.NewCommand{Command: "cat x", Sandbox: gone.ID}, want: "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.in.Sandbox == "" {
				tt.in.Sandbox = b.ID
			}
			_, c := w.Post(tt.in)
			if tt.answer != "" {
				status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/"+tt.answer, nil, &c)
				require.Equal(t, http.StatusOK, status, p.Detail)
			}
			done := until(next, "done")["done"]
			assert.Equal(t, c.ID, done.Command, "and none besides")
			assert.Equal(t, tt.want, done.Status)
			assert.Equal(t, c.Outcome, done.Status)
			if c.Exec != nil {
				assert.Equal(t, c.Exec.Exec, done.ID)
			} else {
				assert.Equal(t, c.ID, done.ID)
			}
		})
	}
}

func TestACommandThatNobodyAnswersForIsAnEventToo(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.ApprovalTimeout = 100 * time.Millisecond })
	next := hear(w, "", "")
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	done := until(next, "done")["done"]
	assert.Equal(t, c.ID, done.Command)
	assert.Equal(t, "expired", done.Status)
}

// What was asked before the keeper was there again is asked once more, and whoever comes back hears of it.
func TestAReaderOfAnotherLifeIsToldThatItMissedSomethingAndAllThatIsKept(t *testing.T) {
	w := keepertest.Start(t)
	next := hear(w, "", "")
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	last := next()
	require.Equal(t, "asked", last.Kind)
	require.NoError(t, w.StopServing())
	w.Serve()
	next = hear(w, "", last.id)
	assert.Equal(t, "missed", next().Kind)
	asked := next()
	assert.Equal(t, "asked", asked.Kind)
	assert.Equal(t, c.ID, asked.Command)
	assert.NotEqual(t, last.Approval, asked.Approval, "it is another ask")

	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "true")
	done := next()
	assert.Equal(t, "done", done.Kind)
	assert.Equal(t, done, hear(w, "", asked.id)(), "in the same life nothing was missed")

	life, _, _ := strings.Cut(asked.id, "-")
	for _, last := range []string{life, life + "-", life + "-x", life + "--1", life + "-99999"} {
		next := hear(w, "", last)
		assert.Equal(t, "missed", next().Kind, "%s is no id of this keeper's", last)
		assert.Equal(t, asked, next(), last)
	}
}

func TestAReaderWhoIsFarBehindIsToldThatItMissedSomething(t *testing.T) {
	w := keepertest.Start(t)
	next := hear(w, "", "")
	s := w.OpenSession("here", "")
	w.RunIn(w.Client, s.ID, "true")
	first := next()
	const kept = 512
	for range kept + 1 {
		w.RunIn(w.Client, s.ID, "true")
	}
	next = hear(w, "", first.id)
	missed, then := next(), next()
	assert.Equal(t, "missed", missed.Kind)
	life, _, _ := strings.Cut(first.id, "-")
	assert.Equal(t, fmt.Sprintf("%s-%d", life, 2), missed.id)
	assert.Equal(t, fmt.Sprintf("%s-%d", life, 3), then.id)
	assert.Equal(t, then, hear(w, "", missed.id)())
}

func TestWhatMakesASessionReadyIsNoEvent(t *testing.T) {
	w := keepertest.Start(t)
	next := hear(w, "", "")
	for _, o := range []wire.Open{{Host: "here"}, {Host: "here", CWD: "/"}} {
		s, err := w.Open(t.Context(), o)
		require.NoError(t, err)
		r := w.RunIn(w.Client, s.ID, "pwd")
		assert.Equal(t, r.Exec, next().Exec)
	}
}
