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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// heard is an event as it came, with the id that goes on after it.
type heard struct {
	id string
	wire.Event
}

// hear reads the events after one.
func (w *world) hear(as, last string) (next func() heard) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", "http://localhost/v1/events", nil)
	require.NoError(w.t, err)
	if as != "" {
		req.Header.Set(wire.Principal, as)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := w.http().Do(req)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusOK, resp.StatusCode)
	w.t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (e heard) {
		w.t.Helper()
		for lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				e.id = id
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(w.t, json.Unmarshal([]byte(data), &e.Event))
				return e
			}
		}
		require.Fail(w.t, "the stream has ended")
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
	w := start(t)
	next := w.hear("agent/claude", "")
	b, _ := w.box("there")
	_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	asked := until(next, "asked")["asked"]
	assert.Equal(t, c.ID, asked.Command)
	assert.Empty(t, asked.Exec, "it is none yet")
	assert.Equal(t, asked.ID, asked.Approval)
	status, p := w.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, &c)
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
	w.answerAll(t, true)
	seen = until(next, "done")
	approved, done = seen["approved"], seen["done"]
	assert.Equal(t, r.Exec, approved.Exec)
	assert.Equal(t, r.Exec, done.Exec)
	assert.Equal(t, r.Exec, done.ID)
	assert.Equal(t, asked.Approval, done.Approval)
}

func TestEveryEndOfACommandInASandboxIsOneEvent(t *testing.T) {
	w := start(t, func(c *keeper.Config) {
		more := fmt.Sprintf("  - {name: gone, addr: 127.0.0.1, port: %d, ssh_config: none, tier: dev}\n", nowhere(t))
		require.NoError(t, os.WriteFile(c.Inventory, []byte(here+more), 0o600))
	})
	b, _ := w.box("there")
	gone, _ := w.box("gone")
	next := w.hear("agent/claude", "")
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
			_, c := w.post(tt.in)
			if tt.answer != "" {
				status, p := w.api("", "POST", commandsPath+"/"+c.ID+"/"+tt.answer, nil, &c)
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
	w := start(t, func(c *keeper.Config) { c.ApprovalTimeout = 100 * time.Millisecond })
	next := w.hear("", "")
	b, _ := w.box("there")
	_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	done := until(next, "done")["done"]
	assert.Equal(t, c.ID, done.Command)
	assert.Equal(t, "expired", done.Status)
}

// What was asked before the keeper was there again is asked once more, and whoever comes back hears of it.
func TestAReaderOfAnotherLifeIsToldThatItMissedSomethingAndAllThatIsKept(t *testing.T) {
	w := start(t)
	next := w.hear("", "")
	b, _ := w.box("there")
	_, c := w.post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	last := next()
	require.Equal(t, "asked", last.Kind)
	require.NoError(t, w.stop())
	w.serve()
	next = w.hear("", last.id)
	assert.Equal(t, "missed", next().Kind)
	asked := next()
	assert.Equal(t, "asked", asked.Kind)
	assert.Equal(t, c.ID, asked.Command)
	assert.NotEqual(t, last.Approval, asked.Approval, "it is another ask")

	s := w.open("here", "")
	w.run(w.Client, s.ID, "true")
	done := next()
	assert.Equal(t, "done", done.Kind)
	assert.Equal(t, done, w.hear("", asked.id)(), "in the same life nothing was missed")

	life, _, _ := strings.Cut(asked.id, "-")
	for _, last := range []string{life, life + "-", life + "-x", life + "--1", life + "-99999"} {
		next := w.hear("", last)
		assert.Equal(t, "missed", next().Kind, "%s is no id of this keeper's", last)
		assert.Equal(t, asked, next(), last)
	}
}

func TestAReaderWhoIsFarBehindIsToldThatItMissedSomething(t *testing.T) {
	w := start(t)
	next := w.hear("", "")
	s := w.open("here", "")
	w.run(w.Client, s.ID, "true")
	first := next()
	const kept = 512
	for range kept + 1 {
		w.run(w.Client, s.ID, "true")
	}
	next = w.hear("", first.id)
	missed, then := next(), next()
	assert.Equal(t, "missed", missed.Kind)
	life, _, _ := strings.Cut(first.id, "-")
	assert.Equal(t, fmt.Sprintf("%s-%d", life, 2), missed.id)
	assert.Equal(t, fmt.Sprintf("%s-%d", life, 3), then.id)
	assert.Equal(t, then, w.hear("", missed.id)())
}

func TestWhatMakesASessionReadyIsNoEvent(t *testing.T) {
	w := start(t)
	next := w.hear("", "")
	for _, o := range []wire.Open{{Host: "here"}, {Host: "here", CWD: "/"}} {
		s, err := w.Open(t.Context(), o)
		require.NoError(t, err)
		r := w.run(w.Client, s.ID, "pwd")
		assert.Equal(t, r.Exec, next().Exec)
	}
}
