package keeper_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// A keeper whose audit log takes no entry runs nothing, and says so where people look, before a command has failed.
func TestAKeeperWhoseAuditLogTakesNothingIsDegraded(t *testing.T) {
	w := keepertest.Start(t)
	dir := filepath.Join(w.Dir, "audit")
	h, err := w.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", h.Status)
	require.Empty(t, h.Audit)

	require.NoError(t, os.Rename(dir, dir+".away"))
	h, err = w.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "degraded", h.Status)
	assert.Contains(t, h.Audit, "no such file or directory; put the audit directory back")
	assert.NotContains(t, h.Audit, "audit: ")
	require.NoError(t, os.Rename(dir+".away", dir))
	h, err = w.Health(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "ok", h.Status)
	assert.Empty(t, h.Audit)
}

// Where the check itself hangs, the answer does not.
func TestAnAuditLogThatHangsIsSaidToBeSo(t *testing.T) {
	w := keepertest.Start(t)
	head, err := os.OpenFile(filepath.Join(w.Dir, "audit", "head"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer head.Close()
	require.NoError(t, syscall.Flock(int(head.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	defer syscall.Flock(int(head.Fd()), syscall.LOCK_UN)
	for range 3 {
		began := time.Now()
		var h wire.Health
		status, _ := w.API("", "GET", "/healthz", nil, &h)
		require.Equal(t, http.StatusOK, status)
		assert.Equal(t, "degraded", h.Status)
		assert.Contains(t, h.Audit, "does not answer")
		assert.Less(t, time.Since(began), 5*time.Second)
	}
}
