package runs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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

// runAs starts a run with a key and returns what was told of it.
func runAs(w *keepertest.World, as string, in wire.NewRun, key string) (status int, p wire.Problem, stream string) {
	w.T.Helper()
	body, err := json.Marshal(in)
	require.NoError(w.T, err)
	headers := []string{wire.IdempotencyKey, key}
	if as != "" {
		headers = append(headers, wire.Principal, as)
	}
	return w.Send("POST", "/v1/runs", string(body), headers...)
}

// events returns what a stream's events of a kind hold.
func eventsOf(stream, kind string) (all []string) {
	for e := range strings.SplitSeq(stream, "\n\n") {
		name, rest, _ := strings.Cut(e, "\n")
		if _, data, ok := strings.Cut(rest, "data: "); ok && name == "event: "+kind {
			all = append(all, data)
		}
	}
	return all
}

// traces counts how often a command has left its line in a file.
func traces(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return strings.Count(string(text), "x\n")
}

func TestARunIsMadeOnceForItsKey(t *testing.T) {
	for name, change := range map[string]func(*keeper.Config){
		"with a store": func(*keeper.Config) {}, "without": func(c *keeper.Config) { c.Store = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := keepertest.Start(t, change)
			require.NoError(t, os.WriteFile(w.Inventory, []byte(keepertest.Webs(2)), 0o600))
			w.OpenSession("web1", "s")
			mark := filepath.Join(w.Dir, "ran")
			for name, tt := range map[string]struct {
				in    wire.NewRun
				hosts int
			}{
				"on a host":     {wire.NewRun{Host: "web1"}, 1},
				"in a session":  {wire.NewRun{Session: "s"}, 1},
				"on many hosts": {wire.NewRun{Selector: "web*"}, 2},
			} {
				t.Run(name, func(t *testing.T) {
					require.NoError(t, os.RemoveAll(mark))
					tt.in.ID, tt.in.Command = "r_the_first", "echo x >> "+mark+"; echo done; exit 3"
					status, _, first := runAs(w, "", tt.in, "k "+name)
					require.Equal(t, http.StatusOK, status)
					require.Len(t, eventsOf(first, "end"), 1, first)
					for range 2 {
						tt.in.ID += "_again"
						status, _, again := runAs(w, "", tt.in, "k "+name)
						require.Equal(t, http.StatusOK, status)
						assert.Equal(t, eventsOf(first, "end"), eventsOf(again, "end"), "the same end")
						assert.Equal(t, eventsOf(first, "hosts"), eventsOf(again, "hosts"))
						assert.ElementsMatch(t, eventsOf(first, "result"), eventsOf(again, "result"))
					}
					assert.Equal(t, tt.hosts, traces(t, mark))
					tt.in.Command = "true"
					status, p, _ := runAs(w, "", tt.in, "k "+name)
					assert.Equal(t, http.StatusConflict, status, "another request")
					assert.Equal(t, "conflict", p.Code)
				})
			}
		})
	}
}

func TestARunThatIsAskedForAgainWhileItGoesOnIsTheSame(t *testing.T) {
	w := keepertest.StartFleet(t, 2)
	mark, gate := filepath.Join(w.Dir, "ran"), filepath.Join(w.Dir, "gate")
	in := wire.NewRun{ID: "r_going_on", Selector: "web*", Command: "echo x >> " + mark + "; until [ -e " + gate + " ]; do sleep 0.01; done"}
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		all []string
	)
	for range 4 {
		wg.Go(func() {
			status, p, stream := runAs(w, "", in, "k")
			assert.Equal(t, http.StatusOK, status, p.Detail)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, strings.Join(eventsOf(stream, "end"), ""))
		})
	}
	require.Eventually(t, func() bool { return traces(t, mark) == 2 }, time.Minute, 5*time.Millisecond)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	wg.Wait()
	for _, end := range all {
		assert.Equal(t, `{"counts":{"ok":2}}`, end)
	}
	assert.Equal(t, 2, traces(t, mark))
}

func TestARunsKeyIsKeptOverRestarts(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	k := keepertest.StartChild(t, dir, "")
	mark := filepath.Join(dir, "ran")
	in := wire.NewRun{ID: "r_restarts", Host: "here", Command: "echo x >> " + mark}
	many := in
	many.Host, many.Selector = "", "all"
	for range 2 { // a request that is sent again gives no key back
		for key, in := range map[string]wire.NewRun{"one": in, "many": many} {
			status, _, _ := runAs(k.World, "", in, key)
			require.Equal(t, http.StatusOK, status)
		}
	}
	other := in
	other.Command = "true"
	status, _, _ := runAs(k.World, "", other, "one")
	assert.Equal(t, http.StatusConflict, status)
	require.Equal(t, 3, traces(t, mark))
	k.Kill()
	k = keepertest.StartChild(t, dir, "")
	for key, in := range map[string]wire.NewRun{"one": in, "many": many} {
		status, p, _ := runAs(k.World, "", in, key)
		assert.Equal(t, http.StatusGone, status, p.Detail)
		assert.Equal(t, "gone", p.Code)
	}
	assert.Equal(t, 3, traces(t, mark))
}

// A yes that nobody gives is asked for once; what policy refused, or never left, may be tried again.
func TestARunThatNothingCameOfGivesItsKeyBack(t *testing.T) {
	w := keepertest.Start(t)
	in := wire.NewRun{ID: "r_nothing_", Host: "there", Command: "systemctl --version stop x || true"}
	_, _, stream := runAs(w, "", in, "k")
	require.Contains(t, stream, `"status":"denied"`)
	in.Confirm = true
	_, p, stream := runAs(w, "", in, "k")
	assert.Contains(t, stream, `"status":"ok"`, p.Detail)

	in = wire.NewRun{ID: "r_refused_", Host: "there", Command: "touch " + filepath.Join(w.Dir, "made")}
	for _, in := range []wire.NewRun{in, {ID: in.ID, Selector: "here,there", Command: in.Command}} {
		told := make(chan string, 1)
		go func() {
			_, _, stream := runAs(w, "agent/a", in, "k "+in.Selector)
			told <- stream
		}()
		w.AnswerAll(t, false)
		first := <-told
		assert.Contains(t, first, "refused")
		_, _, again := runAs(w, "agent/a", in, "k "+in.Selector)
		assert.Equal(t, eventsOf(first, "end"), eventsOf(again, "end"), "it takes a new request to ask again")
	}
}

// What is told again is bounded, and what is left out of it is counted.
func TestOfLargeRunsIsToldAgainWhatIsKept(t *testing.T) {
	const size, hosts = 500_000, 12
	w := keepertest.StartFleet(t, hosts)
	in := wire.NewRun{ID: "r_is_large", Selector: "web*", Quiet: true, Keep: 512 << 10, Command: fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", size)}
	_, _, _ = runAs(w, "", in, "k")
	_, _, again := runAs(w, "", in, "k")
	results := eventsOf(again, "result")
	require.Len(t, results, hosts)
	assert.Less(t, len(again), 5<<20)
	short := 0
	for _, text := range results {
		var r wire.RunResult
		require.NoError(t, json.Unmarshal([]byte(text), &r))
		assert.Equal(t, "ok", r.Result.Status)
		assert.EqualValues(t, size, r.Result.StdoutBytes)
		assert.EqualValues(t, size, r.Result.Omitted["stdout"]+int64(len(r.Result.Stdout)))
		if r.Result.Stdout == "" {
			short++
		}
	}
	assert.Positive(t, short)
	assert.Less(t, short, hosts)
	for i := range 9 {
		status, p, _ := runAs(w, "", in, fmt.Sprint("k", i))
		require.Equal(t, http.StatusOK, status, p.Detail)
	}
	status, p, _ := runAs(w, "", in, "k")
	assert.Equal(t, http.StatusGone, status, p.Detail)
	assert.Equal(t, "gone", p.Code)
	status, p, _ = runAs(w, "", in, "k8")
	assert.Equal(t, http.StatusOK, status, p.Detail)
}
