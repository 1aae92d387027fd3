package restart_test

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

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/reach"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestOfTwentyProcessesThatStartTogetherOneServes(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	k := keepertest.StartChild(t, dir, "")
	k.Kill() // and its socket is left behind
	require.FileExists(t, k.Places.Socket)
	const n = 20
	all := make([]*keepertest.ChildKeeper, n)
	for i := range all {
		all[i] = keepertest.LaunchChild(t, dir, "", fmt.Sprintf("FAIRLEAD_KEEPER_VERSION=%d", i))
	}
	var serving []int
	for i, c := range all {
		line, err := c.Lines.ReadString('\n')
		require.NoError(t, err)
		if line == "ready\n" {
			serving = append(serving, i)
			continue
		}
		assert.Contains(t, line, listen.ErrRunning.Error())
	}
	require.Len(t, serving, 1)
	k = all[serving[0]]
	h, err := k.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, k.Cmd.Process.Pid, h.PID)
	assert.Equal(t, fmt.Sprint(serving[0]), h.Version)
	s := k.OpenSession("here", "")
	assert.Equal(t, "ok", k.RunIn(k.Client, s.ID, "true").Status)
	var v wire.Verified
	k.API("", "GET", "/v1/audit/verify", nil, &v)
	assert.True(t, v.OK, "%v", v.Problems)
	k.End()
	assert.NoFileExists(t, k.Places.Socket)
}

func TestANewerBinaryTakesOverWhatWaits(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	k := keepertest.StartChild(t, dir, "", "FAIRLEAD_KEEPER_VERSION=one")
	b, box := k.Box("there")
	in := wire.NewCommand{Sandbox: b.ID, Command: "echo x >> ran"}
	_, c := k.Post(in, wire.IdempotencyKey, "key")
	require.Equal(t, "pending", c.Status)
	_, done := k.Post(wire.NewCommand{Sandbox: b.ID, Command: "pwd"})
	require.Equal(t, "executed", done.Status)
	s := k.OpenSession("here", "work")
	before, err := k.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, before, 1)
	doc, err := k.Approval(t.Context(), before[0].ID)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, reach.Stop(ctx, k.Places))
	require.NoError(t, k.Cmd.Wait())
	k = keepertest.StartChild(t, dir, "", "FAIRLEAD_KEEPER_VERSION=two")
	h, err := k.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "two", h.Version)
	after, err := k.Approvals(t.Context())
	require.NoError(t, err)
	require.Len(t, after, 1, "it stays pending")
	again, err := k.Approval(t.Context(), after[0].ID)
	require.NoError(t, err)
	assert.Contains(t, string(again.Document), "echo x >> ran")
	assert.Equal(t, strings.Count(string(doc.Document), "\n"), strings.Count(string(again.Document), "\n"), "and says the same")
	assert.True(t, after[0].Asked.Equal(*before[0].Asked), "since then: %v, not %v", before[0].Asked, after[0].Asked)
	assert.True(t, after[0].Expires.Sub(*before[0].Expires).Abs() < time.Millisecond, "as long as it would have")
	_, err = k.Session(t.Context(), s.ID)
	assert.Equal(t, "closed", keepertest.CodeOf(t, err))
	var got wire.Command
	k.API("agent/claude", "GET", keepertest.CommandsPath+"/"+done.ID, nil, &got)
	assert.Equal(t, done, got, "what has ended is as it was")
	status, p := k.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status)
	text, err := os.ReadFile(filepath.Join(box, "ran"))
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text))
	k.End()
}
