package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// A named pipe that has the name of a recording is none, and keeps no reader waiting.
func TestAPipeAmongTheRecordingsIsNotWaitedFor(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	require.NoError(t, os.MkdirAll(w.Cfg.Recordings, 0o700))
	const name = "20261121T020000Z-here-e_inhpctjdpiefw.cast"
	require.NoError(t, syscall.Mkfifo(filepath.Join(w.Cfg.Recordings, name), 0o600))
	var list wire.Recordings
	status, p := w.API("", "GET", "/v1/recordings", nil, &list)
	require.Equal(t, http.StatusOK, status, p.Detail)
	status, _ = w.API("", "GET", "/v1/recordings/e_inhpctjdpiefw", nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
}
