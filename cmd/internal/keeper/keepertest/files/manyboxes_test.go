package files_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestTheOldestOfManySandboxesIsUsed(t *testing.T) {
	w := keepertest.Start(t)
	oldest, _ := w.Box("here")
	for i := range store.MaxLimit + 5 {
		path := filepath.Join(w.Dir, fmt.Sprint("box", i))
		require.NoError(t, os.Mkdir(path, 0o700))
		_, err := w.Cfg.Store.CreateSandbox(t.Context(), store.Sandbox{Owner: "agent/claude", Host: "here", Label: fmt.Sprint("new", i), Path: path, Active: true})
		require.NoError(t, err)
	}
	for _, name := range []string{oldest.ID, oldest.Label, oldest.Path} {
		s, err := w.As("agent/claude").Open(t.Context(), wire.Open{Host: "here", Sandbox: name})
		require.NoError(t, err, name)
		require.NoError(t, w.As("agent/claude").CloseSession(t.Context(), s.ID))
	}
	_, err := w.As("agent/claude").Open(t.Context(), wire.Open{Host: "here", Sandbox: "b_none"})
	assert.Equal(t, "not_found", keepertest.CodeOf(t, err))
	all, err := w.Sandboxes(t.Context(), "", "")
	require.NoError(t, err)
	assert.Len(t, all, store.MaxLimit+6)
	for query, want := range map[string]int{"": store.DefaultLimit, "?limit=3": 3, fmt.Sprint("?limit=", store.MaxLimit): store.MaxLimit} {
		var list wire.Sandboxes
		status, p := w.API("", "GET", keepertest.SandboxesPath+query, nil, &list)
		require.Equal(t, http.StatusOK, status, p.Detail)
		assert.Len(t, list.Items, want, query)
		assert.NotEmpty(t, list.Next, query)
	}
	for _, path := range []string{keepertest.SandboxesPath, keepertest.CommandsPath} {
		status, _ := w.API("", "GET", path+fmt.Sprint("?limit=", store.MaxLimit+1), nil, nil)
		assert.Equal(t, http.StatusUnprocessableEntity, status, "the document and the store say the same: %s", path)
	}
}
