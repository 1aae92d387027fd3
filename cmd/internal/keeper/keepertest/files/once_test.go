package files_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// openWith opens a session with a key.
func openWith(w *keepertest.World, as string, o wire.Open, key string) (int, wire.Session, wire.Problem) {
	w.T.Helper()
	var s wire.Session
	status, p := w.API(as, "POST", "/v1/sessions", o, &s, wire.IdempotencyKey, key)
	return status, s, p
}

func TestASessionIsOpenedOnceForItsKey(t *testing.T) {
	for name, change := range map[string]func(*keeper.Config){
		"with a store": func(*keeper.Config) {}, "without": func(c *keeper.Config) { c.Store = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.Start(t, change)
			var (
				wg  sync.WaitGroup
				mu  sync.Mutex
				ids []string
			)
			for range 10 {
				wg.Go(func() {
					status, s, p := openWith(w, "", wire.Open{Host: "here", Env: map[string]string{"TZ": "UTC", "LANG": "C"}}, "k")
					assert.Equal(t, http.StatusCreated, status, p.Detail)
					mu.Lock()
					defer mu.Unlock()
					ids = append(ids, s.ID)
				})
			}
			wg.Wait()
			slices.Sort(ids)
			require.Len(t, slices.Compact(ids), 1)
			id := ids[0]
			all, err := w.Sessions(t.Context())
			require.NoError(t, err)
			assert.Len(t, all, 1)
			status, _, p := openWith(w, "", wire.Open{Host: "here"}, "k")
			assert.Equal(t, http.StatusConflict, status, "another request: %s", p.Detail)
			status, other, _ := openWith(w, "agent/claude", wire.Open{Host: "here"}, "k")
			assert.Equal(t, http.StatusCreated, status, "another's key is another key")
			assert.NotEqual(t, id, other.ID)

			status, _, _ = openWith(w, "", wire.Open{Host: "nowhere"}, "k2")
			assert.Equal(t, http.StatusNotFound, status)
			status, second, _ := openWith(w, "", wire.Open{Host: "here", Name: "two"}, "k2")
			assert.Equal(t, http.StatusCreated, status, "a key whose request came to nothing is free")
			status, again, _ := openWith(w, "", wire.Open{Host: "here", Name: "two"}, "k2")
			assert.Equal(t, http.StatusCreated, status, "and the name is taken by what it stands for")
			assert.Equal(t, second.ID, again.ID)

			require.NoError(t, w.CloseSession(t.Context(), second.ID))
			status, _, p = openWith(w, "", wire.Open{Host: "here", Name: "two"}, "k2")
			assert.Equal(t, http.StatusGone, status, "what was closed is not opened again: %s", p.Detail)
			assert.Equal(t, "closed", p.Code)
		})
	}
}

func TestASessionsKeyIsKeptOverRestarts(t *testing.T) {
	w := keepertest.Start(t)
	o := wire.Open{Host: "here"}
	status, _, _ := openWith(w, "", o, "k")
	require.Equal(t, http.StatusCreated, status)
	require.NoError(t, w.StopServing())
	w.Serve()
	status, _, p := openWith(w, "", o, "k")
	assert.Equal(t, http.StatusGone, status, p.Detail)
	assert.Equal(t, "gone", p.Code)
	status, _, _ = openWith(w, "", wire.Open{Host: "there"}, "k")
	assert.Equal(t, http.StatusConflict, status)
	all, err := w.Sessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestAResetThatIsSentAgainWithItsKeyEndsNothingMore(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	reset := func(key string) int {
		status, _ := w.API("", "POST", "/v1/sessions/"+s.ID+"/reset", nil, nil, wire.IdempotencyKey, key)
		return status
	}
	require.Equal(t, http.StatusOK, reset("k"))
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, reset("k"))
	r, err = w.Look(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.Equal(t, "running", r.State)
	assert.Equal(t, http.StatusOK, reset("another"))
	r, err = w.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	assert.NotEqual(t, "ok", r.Status)
}

func TestAYesToAQuestionThatIsSentAgainWithItsKeyIsAnsweredAsTheFirst(t *testing.T) {
	w := keepertest.Start(t)
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "echo x >> ran"})
	_, other := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch other"})
	all, err := w.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	slices.SortFunc(all, func(a, _ wire.Approval) int {
		if a.Exec == c.ID {
			return -1
		}
		return 1
	})
	approve := func(a wire.Approval, digest, key string) int {
		if digest == "" {
			d, err := w.Approval(t.Context(), a.ID)
			require.NoError(t, err)
			digest = d.Digest
		}
		status, _ := w.API("", "POST", "/v1/approvals/"+a.ID+"/approve", wire.Answer{Digest: digest}, nil, wire.IdempotencyKey, key)
		return status
	}
	d, err := w.Approval(t.Context(), all[0].ID)
	require.NoError(t, err)
	assert.Equal(t, http.StatusConflict, approve(all[0], "sha256:0", "k"), "not what was shown")
	for range 3 {
		assert.Less(t, approve(all[0], d.Digest, "k"), http.StatusMultipleChoices)
	}
	assert.Equal(t, http.StatusConflict, approve(all[0], d.Digest, "another"), "another yes")
	assert.Equal(t, http.StatusConflict, approve(all[1], "", "k"), "another question")
	assert.Less(t, approve(all[1], "", "another"), http.StatusMultipleChoices)
	require.Eventually(t, func() bool {
		var got wire.Command
		w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+other.ID, nil, &got)
		return got.Status == "executed"
	}, time.Minute, 5*time.Millisecond)
}

// The text arrived, and the signal did not: with its key neither is sent again.
func TestInputOfWhichSomeWasTypedIsNotTypedAgain(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: `trap "" URG; echo ready; n=0; while read x; do n=$((n+1)); echo "$x is $n"; done`, Interactive: true}, "")
	require.NoError(t, err)
	_, err = w.Page(t.Context(), r.Exec, "stdout", 0, 0, time.Minute) // waits until it takes input
	require.NoError(t, err)
	input := func(in wire.Input, key string) (int, wire.Problem) {
		return w.API("", "POST", "/v1/execs/"+r.Exec+"/input", in, nil, wire.IdempotencyKey, key)
	}
	in := wire.Input{Text: "first\n", Signal: "TERM"} // the command is deaf to it
	status, p := input(in, "k")
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "signal", p.Code)
	input(in, "k")
	wait := 50.0
	status, p = input(wire.Input{Text: "last\n", WaitFor: "last is", WaitS: &wait}, "k2")
	require.Less(t, status, http.StatusMultipleChoices, p.Detail)
	page, err := w.Page(t.Context(), r.Exec, "stdout", 0, 0, 0)
	require.NoError(t, err)
	assert.Contains(t, page.Data, "last is 2")
	_, err = w.StopExec(t.Context(), r.Exec)
	require.NoError(t, err)
}

// What is sent again because an answer was lost must not run again: every POST takes a key, but for those that start nothing.
func TestEveryRequestThatCanRunSomethingTakesAKey(t *testing.T) {
	w := keepertest.Start(t)
	status, _, text := w.Send("GET", "/openapi.json", "")
	require.Equal(t, http.StatusOK, status)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	startsNothing := []string{
		"/v1/keeper/stop", "/v1/keeper/leave", "/v1/execs/{id}/stop", "/v1/runs/{id}/stop", "/v1/runs/{id}/stdin", // a host takes it once
		"/v1/runs/{id}/confirm", // each question is answered once
		"/v1/jobs/{id}/stop", "/v1/approvals/{id}/reject", "/agent/terminal/commands/{id}/reject",
		"/agent/terminal/commands/{id}/finalize", "/agent/terminal/sandboxes", "/v1/tokens", "/v1/web", "/v1/questions/{id}",
	}
	var seen, with []string
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if method != "post" {
				continue
			}
			seen = append(seen, path)
			for _, p := range op.Parameters {
				if p.In == "header" && strings.EqualFold(p.Name, wire.IdempotencyKey) {
					with = append(with, path)
				}
			}
		}
	}
	for _, path := range seen {
		assert.Equal(t, !slices.Contains(startsNothing, path), slices.Contains(with, path), path)
	}
	for _, path := range startsNothing {
		assert.Contains(t, seen, path, "it is there no more")
	}
	assert.GreaterOrEqual(t, len(with), 8, "%v", with)
}

func TestAKeyStandsForAllOfALongContent(t *testing.T) {
	w := keepertest.Start(t)
	file := filepath.Join(w.Folder(), "f")
	first := strings.Repeat("x", 100_000)
	put := func(content, key string) int {
		status, _, _ := w.Send("PUT", "/v1/files?host=here&path="+file, content, wire.IdempotencyKey, key, "Content-Type", "application/octet-stream")
		return status
	}
	edit := func(old, text, key string) int {
		status, _ := w.API("", "POST", "/v1/files/edit?host=here&path="+file, map[string]string{"old": old, "new": text}, nil, wire.IdempotencyKey, key)
		return status
	}
	require.Equal(t, http.StatusOK, put(first, "put"))
	require.NoError(t, os.Remove(file))
	assert.Equal(t, http.StatusOK, put(first, "put"))
	assert.NoFileExists(t, file, "once")
	assert.Equal(t, http.StatusConflict, put(first[1:]+"y", "put"), "another request")
	assert.Equal(t, http.StatusConflict, put("", "put"), "another request")

	second := strings.Repeat("y", 100_000)
	require.Equal(t, http.StatusOK, put(first, "again"))
	require.Equal(t, http.StatusOK, edit(first, second, "edit"))
	assert.Equal(t, http.StatusOK, edit(first, second, "edit"), "the answer is that of the first")
	assert.Equal(t, http.StatusConflict, edit(second, first, "edit"), "another request")
	assert.Equal(t, http.StatusConflict, edit(first, "z", "edit"), "another request")
}
