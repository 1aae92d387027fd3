package keeper_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// A named pipe that has the name of a recording is none, and keeps no reader waiting.
func TestAPipeAmongTheRecordingsIsNotWaitedFor(t *testing.T) {
	w := start(t, withRecordings(t))
	require.NoError(t, os.MkdirAll(w.cfg.Recordings, 0o700))
	const name = "20261121T020000Z-here-e_inhpctjdpiefw.cast"
	require.NoError(t, syscall.Mkfifo(filepath.Join(w.cfg.Recordings, name), 0o600))
	var list wire.Recordings
	status, p := w.api("", "GET", "/v1/recordings", nil, &list)
	require.Equal(t, http.StatusOK, status, p.Detail)
	status, _ = w.api("", "GET", "/v1/recordings/e_inhpctjdpiefw", nil, nil)
	assert.Equal(t, http.StatusNotFound, status)
}
