package files_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestACheckOfASandboxTellsWhatASessionInItIsToldThen(t *testing.T) {
	ways(t, func(t *testing.T, w *keepertest.World, b wire.Sandbox, dir string) {
		e, err := w.CheckSandbox(t.Context(), b.ID)
		require.NoError(t, err)
		s, err := w.As("agent/claude").Open(t.Context(), wire.Open{Host: "here", Sandbox: b.ID})
		require.NoError(t, err)
		assert.Equal(t, s.Sandbox, e.Level)
		assert.Equal(t, e.Level == "kernel", e.How != "", e.How)
		assert.NotEmpty(t, e.Why)
		assert.Equal(t, "there", e.Directory)
		assert.Equal(t, dir, e.LeadsTo)

		_, _, text := w.Send("GET", "/v1/audit", "")
		assert.Contains(t, text, "sandbox check by operator/ada", "the record says who wanted to know")
	})
}

func TestACheckOfASandboxTellsWhereItLeadsAndThatItIsNotThere(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("here")
	link := filepath.Join(w.Dir, "a link")
	require.NoError(t, os.Symlink(dir, link))
	_, err := w.ChangeSandbox(t.Context(), b.ID, wire.SandboxChange{Path: &link})
	require.NoError(t, err)
	e, err := w.CheckSandbox(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, dir, e.LeadsTo)
	assert.Equal(t, "checked", e.Level, "bubblewrap cannot be told of this path")

	require.NoError(t, os.RemoveAll(dir))
	e, err = w.CheckSandbox(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, "missing", e.Directory)
	assert.Contains(t, e.Why, "cannot be entered")
	assert.Empty(t, e.How)

	for as, want := range map[string]int{"agent/claude": http.StatusForbidden, "": http.StatusNotFound} {
		status, _ := w.API(as, "GET", keepertest.SandboxesPath+"/b_none/enforcement", nil, nil)
		assert.Equal(t, want, status, "as %q", as)
	}
}

func TestTheClientReadsAllPagesOfSandboxes(t *testing.T) {
	w := keepertest.Start(t)
	b, dir := w.Box("here")
	for range 3 {
		_, err := w.NewSandbox(t.Context(), wire.NewSandbox{Owner: "agent/other", Host: "there", Path: dir})
		require.NoError(t, err)
	}
	all, err := w.Sandboxes(t.Context(), "", "")
	require.NoError(t, err)
	assert.Len(t, all, 4)
	some, err := w.Sandboxes(t.Context(), "agent/claude", "here")
	require.NoError(t, err)
	assert.Equal(t, []wire.Sandbox{b}, some)
	none, err := w.As("agent/third").Sandboxes(t.Context(), "agent/claude", "")
	require.NoError(t, err)
	assert.Empty(t, none)
	require.NoError(t, w.DeleteSandbox(t.Context(), b.ID))
	_, err = w.Sandbox(t.Context(), b.ID)
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
}
