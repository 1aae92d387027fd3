package cli

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
)

func TestRunsOfOnesOwnAreCompleted(t *testing.T) {
	home := t.TempDir()
	store := runstore.Store{Dir: filepath.Join(home, ".local", "state", "fairlead", "runs")}
	for id, who := range map[string]string{"r_one": cmdutil.Principal(), "r_two": cmdutil.Principal(), "r_other": "agent/other"} {
		w, err := store.Begin(runstore.Run{ID: id, Principal: who, Started: time.Now(), Command: "true", Exact: true})
		require.NoError(t, err)
		require.NoError(t, w.Close(runstore.Finish{Ended: time.Now()}))
	}
	for _, sub := range []string{"show", "follow", "stop", "rerun"} {
		_, out, _ := calledAt(t, home, "__complete", "runs", sub, "r_")
		assert.Contains(t, out, "r_one\n", sub)
		assert.Contains(t, out, "r_two\n", sub)
		assert.NotContains(t, out, "r_other", sub)
	}
}
