package keeper_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
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

func TestAYesThatIsSentAgainWithItsKeyIsAnsweredAsTheFirst(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "echo x >> ran"})
	_, other := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch other"})
	approve := func(id, key string) (int, wire.Command) {
		var got wire.Command
		status, _ := w.API("", "POST", keepertest.CommandsPath+"/"+id+"/approve", nil, &got, wire.IdempotencyKey, key)
		return status, got
	}
	status, first := approve(c.ID, "k")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "executed", first.Status, first.Reason)
	again := func(when string) {
		status, got := approve(c.ID, "k")
		assert.Equal(t, http.StatusOK, status, when)
		assert.Equal(t, first, got, when)
		status, _ = approve(c.ID, "another")
		assert.Equal(t, http.StatusConflict, status, "another yes, %s", when)
		status, _ = approve(other.ID, "k")
		assert.Equal(t, http.StatusConflict, status, "another request, %s", when)
	}
	again("at once")
	require.NoError(t, w.StopServing())
	w.Serve()
	again("after a restart")
	text, err := os.ReadFile(filepath.Join(dir, "ran"))
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text), "it ran once")
	status, _ = approve(other.ID, "another")
	assert.Equal(t, http.StatusOK, status, "a key whose request came to nothing is free")
}

func TestOfManyAnswersAtOnceOneCounts(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "echo x >> ran"})
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for range 40 {
		wg.Go(func() {
			status, _ := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
			mu.Lock()
			defer mu.Unlock()
			got[status]++
		})
	}
	wg.Wait()
	assert.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: 39}, got)
	text, err := os.ReadFile(filepath.Join(dir, "ran"))
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
}

func TestWhatNobodyAnsweredInTimeIsRejectedAfterARestartToo(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	require.NoError(t, w.StopServing())
	db, err := sql.Open("sqlite", filepath.Join(w.Dir, "state", "store.db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "UPDATE commands SET expires_at = ?", time.Now().Add(-time.Second).UnixMicro()) // as if it had been down for long
	require.NoError(t, err)
	w.Serve()
	var got wire.Command
	w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
	assert.Equal(t, "rejected", got.Status)
	assert.Equal(t, "expired", got.Outcome)
	status, _ := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestWhoAsksForTooMuchAtOnceIsRejectedAtOnce(t *testing.T) {
	const most = 8 // instead of approval.DefaultPerPrincipal: each is a session that starts
	w := keepertest.Start(t, func(c *keeper.Config) { c.Asks(most) })
	b, _ := w.Box("there")
	for i := range most {
		_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: fmt.Sprintf("touch made%d", i)})
		require.Equal(t, "pending", c.Status, "%d: %s", i, c.Reason)
	}
	status, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch one-more"})
	assert.Equal(t, http.StatusCreated, status)
	assert.Equal(t, "rejected", c.Status)
	assert.NotEmpty(t, c.Reason)
	require.NoError(t, w.StopServing())
	w.Serve()
	list, err := w.Approvals(t.Context())
	require.NoError(t, err)
	assert.Len(t, list, most, "all of them wait on in the next keeper")
}

func TestWhoConnectsAndSaysNothingIsHungUpOn(t *testing.T) {
	r := keepertest.StartTCP(t, func(c *keeper.Config) { c.Hurry(50*time.Millisecond, 0) })
	leavesNothing(r.World, func() {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				c, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", strings.TrimPrefix(r.Url, "https://"))
				if !assert.NoError(t, err) {
					return
				}
				defer c.Close()
				_, err = io.ReadAll(c)
				assert.NoError(t, err, "it hangs up")
			})
		}
		wg.Wait()
	})
}

func TestInputThatIsSentAgainWithItsKeyIsTypedOnce(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "")
	r, err := w.Start(t.Context(), s.ID, wire.Run{Command: `printf 'ready? '; while read n && [ "$n" != end ]; do echo "got $n" >> ` + w.Dir + `/got; done`, Interactive: true}, "")
	require.NoError(t, err)
	wait := 30.0
	_, err = w.Input(t.Context(), r.Exec, wire.Input{WaitFor: `ready\?`, WaitS: &wait})
	require.NoError(t, err)
	send := func(text, key string) int {
		status, _ := w.API("", "POST", "/v1/execs/"+r.Exec+"/input", wire.Input{Text: text, Keys: []string{"Enter"}}, nil, wire.IdempotencyKey, key)
		return status
	}
	for range 3 {
		assert.Less(t, send("one", "k1"), 300)
	}
	assert.Equal(t, http.StatusConflict, send("two", "k1"), "another input")
	assert.Less(t, send("end", "k2"), 300)
	_, err = w.Wait(t.Context(), r.Exec)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(w.Dir, "got"))
	require.NoError(t, err)
	assert.Equal(t, "got one\n", string(text))
	assert.Equal(t, http.StatusConflict, send("late", "k3"), "it has ended")
}
