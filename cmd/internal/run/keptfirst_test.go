package run_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Who is killed right after has left a run that says what may have been done.
func TestARunIsKeptBeforeAnythingIsSent(t *testing.T) {
	var k *kept
	states := map[string]string{}
	k = newKept(t, func(wire.NewRun) (int, string) {
		store, err := k.Runs()
		assert.NoError(t, err)
		all, err := store.List(k.Caller().Principal)
		assert.NoError(t, err)
		for _, rec := range all {
			states[rec.Command] = rec.State
		}
		return http.StatusOK, ended(0, "web1", "unreachable")
	}, "web1")
	k.env["XDG_STATE_HOME"] = t.TempDir()
	_, err := k.run(t.Context(), "web1", "--", "uptime")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"uptime": "running"}, states)
}
