package keeper_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// A database that hangs is said to hang, in time, by everything that reads it: an empty list would say that all is quiet.
func TestAFrozenDatabaseIsSaidToBeSo(t *testing.T) {
	var dir string
	w := keepertest.Start(t, func(c *keeper.Config) {
		st, err := store.Open(t.Context(), store.Config{URL: keepertest.Postgres.Schema(t), Key: []byte(strings.Repeat("k", 32)), Timeout: time.Second})
		require.NoError(t, err)
		t.Cleanup(func() { st.Close() })
		c.Store = st
		dir = filepath.Join(filepath.Dir(c.Inventory), "approvals")
		c.ApprovalsDir = dir
		c.LookEvery(50 * time.Millisecond)
		c.SweepEvery(50 * time.Millisecond)
	})
	box, _ := w.Box("there")
	status, _ := w.API("", "GET", "/v1/approvals", nil, nil)
	require.Equal(t, http.StatusOK, status)

	thaw := keepertest.Postgres.Freeze(t)
	for _, try := range []struct {
		method, path string
		in           any
	}{
		{"GET", "/v1/approvals", nil},
		{"GET", keepertest.CommandsPath, nil},
		{"GET", keepertest.CommandsPath + "/c_x", nil},
		{"GET", "/agent/terminal/sandboxes", nil},
		{"POST", keepertest.CommandsPath, wire.NewCommand{Sandbox: box.ID, Command: "echo x"}},
		{"POST", "/v1/tokens", map[string]any{"principal": "operator/bob", "role": "viewer"}},
	} {
		status, p := w.API("", try.method, try.path, try.in, nil)
		assert.Equal(t, http.StatusServiceUnavailable, status, try.path)
		assert.Equal(t, "store", p.Code, try.path)
		assert.True(t, p.Retriable, try.path)
		for _, secret := range []string{"postgres", "user=", "127.0.0.1", "context deadline", "dial", ".s.PGSQL"} {
			assert.NotContains(t, p.Detail, secret, try.path)
		}
	}
	h, err := w.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "degraded", h.Status)
	assert.Contains(t, h.Store, "The store cannot be reached")
	desk, err := approval.Dial(dir)
	require.NoError(t, err)
	_, err = desk.List(t.Context())
	assert.ErrorContains(t, err, "The store cannot be reached")

	s := w.OpenSession("here", "")
	assert.Equal(t, "on\n", w.RunIn(w.Client, s.ID, "echo on").Stdout, "what takes no store goes on")
	thaw()
	require.Eventually(t, func() bool {
		h, err := w.Health(t.Context())
		return err == nil && h.Status == "ok"
	}, 30*time.Second, 20*time.Millisecond)
	status, _ = w.API("", "GET", "/v1/approvals", nil, nil)
	assert.Equal(t, http.StatusOK, status)
}

// Whoever answers is told that the answer did not count, by every way to answer.
func TestAnAnswerThatTheStoreDoesNotTakeIsNone(t *testing.T) {
	var dir string
	w := keepertest.Start(t, func(c *keeper.Config) {
		st, err := store.Open(t.Context(), store.Config{URL: keepertest.Postgres.Schema(t), Key: []byte(strings.Repeat("k", 32)), Timeout: time.Second})
		require.NoError(t, err)
		t.Cleanup(func() { st.Close() })
		c.Store = st
		dir = filepath.Join(filepath.Dir(c.Inventory), "approvals")
		c.ApprovalsDir = dir
		c.LookEvery(50 * time.Millisecond)
		c.SweepEvery(50 * time.Millisecond)
	})
	box, _ := w.Box("there")
	ids := make([]string, 2)
	for i := range ids {
		status, c := w.Post(wire.NewCommand{Sandbox: box.ID, Command: fmt.Sprintf("echo x >made%d", i)})
		require.Equal(t, http.StatusAccepted, status)
		ids[i] = c.ID
	}
	desk, err := approval.Dial(dir)
	require.NoError(t, err)
	var list []approval.Summary
	require.Eventually(t, func() bool {
		list, err = desk.List(t.Context())
		return err == nil && len(list) == 2
	}, 10*time.Second, 20*time.Millisecond)
	var pending []approval.Pending
	for _, s := range list {
		p, err := desk.Get(t.Context(), s.ID)
		require.NoError(t, err)
		pending = append(pending, p)
	}

	thaw := keepertest.Postgres.Freeze(t)
	scope := &approval.Scope{}
	pending[0].ForSession = scope
	err = desk.Answer(t.Context(), approval.Response{ID: pending[0].ID, Digest: pending[0].Digest(), By: "operator/eve", Approved: true, ForSession: scope})
	require.ErrorIs(t, err, approval.ErrUnkept)
	assert.ErrorContains(t, err, "the answer is not kept: it does not count, and the request stays pending: The store cannot be reached")
	assert.NotContains(t, err.Error(), "postgres")
	err = w.Answer(t.Context(), pending[1].ID, true, wire.Answer{Digest: string(pending[1].Digest())})
	var p *wire.Problem
	require.ErrorAs(t, err, &p)
	assert.Equal(t, []any{http.StatusServiceUnavailable, "store"}, []any{p.Status, p.Code})
	thaw()
	for _, id := range ids {
		require.Eventually(t, func() bool {
			status, _ := w.API("", "POST", keepertest.CommandsPath+"/"+id+"/reject", wire.Reject{Reason: "not today"}, nil)
			return status == http.StatusOK
		}, 30*time.Second, 50*time.Millisecond, "it is pending still")
	}
	given, err := desk.ForSessions(t.Context())
	require.NoError(t, err)
	assert.Empty(t, given, "an answer that does not count gives nothing")
}

func TestAStoreThatWasRemovedTakesNothingMore(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.LookEvery(20 * time.Millisecond) })
	box, _ := w.Box("there")
	status, c := w.Post(wire.NewCommand{Sandbox: box.ID, Command: "echo x >made"})
	require.Equal(t, http.StatusAccepted, status)
	all, err := filepath.Glob(filepath.Join(w.Dir, "state", "store.db*"))
	require.NoError(t, err)
	for _, name := range all {
		if !strings.HasSuffix(name, ".key") {
			require.NoError(t, os.Remove(name))
		}
	}
	for _, try := range [][2]string{{"GET", keepertest.CommandsPath}, {"POST", keepertest.CommandsPath + "/" + c.ID + "/approve"}} {
		status, p := w.API("", try[0], try[1], nil, nil)
		assert.Equal(t, http.StatusServiceUnavailable, status, try[1])
		assert.Contains(t, p.Detail, "removed or replaced while the keeper ran", try[1])
	}
	require.Eventually(t, func() bool {
		h, err := w.Health(context.WithoutCancel(t.Context()))
		return err == nil && h.Status == "degraded"
	}, 10*time.Second, 10*time.Millisecond)
	stop := w.StopServing
	w.StopServing = func() error {
		_ = stop() // it cannot say in the store that it leaves
		return nil
	}
}
