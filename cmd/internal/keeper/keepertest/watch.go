package keepertest

import (
	"encoding/json"
	"net/http"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Begin starts a command, and returns while it runs.
func (w *World) Begin(session string, run wire.Run) *wire.Result {
	w.T.Helper()
	r, err := w.Start(w.T.Context(), session, run, "")
	require.NoError(w.T, err)
	return r
}

// Watched returns the sessions that can be watched.
func (w *World) Watched() []wire.Watched {
	w.T.Helper()
	var list wire.WatchedList
	status, _, text := w.Send("GET", "/v1/watch", "")
	require.Equal(w.T, http.StatusOK, status, text)
	require.NoError(w.T, json.Unmarshal([]byte(text), &list))
	return list.Items
}
