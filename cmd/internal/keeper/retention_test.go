package keeper_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestTheStoreKeepsCommandsAsLongAsTheSettingsSay(t *testing.T) {
	var old, young store.Command
	w := keepertest.Start(t, func(c *keeper.Config) {
		require.NoError(t, c.Store.Close())
		path := filepath.Join(filepath.Dir(c.Inventory), "state", "store.db")
		ended := func(ago time.Duration) store.Command {
			s, err := store.Open(t.Context(), store.Config{Path: path, Now: func() time.Time { return time.Now().Add(-ago) }})
			require.NoError(t, err)
			defer s.Close()
			made, _, err := s.Create(t.Context(), store.NewCommand{Claim: "k", Command: store.Command{Host: "here", RequestedBy: "agent/x", Status: store.Approved}})
			require.NoError(t, err)
			made, err = s.Finish(t.Context(), made.ID, "k", store.End{Status: store.Executed, Outcome: "ok", Stdout: "printed"})
			require.NoError(t, err)
			return made
		}
		old, young = ended(91*24*time.Hour), ended(89*24*time.Hour)
		s, err := store.Open(t.Context(), store.Config{Path: path})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		c.Store, c.Keep = s, 90*24*time.Hour
	})
	require.Eventually(t, func() bool {
		_, err := w.Cfg.Store.Command(t.Context(), old.ID)
		return err != nil
	}, 10*time.Second, 10*time.Millisecond)
	got, err := w.Cfg.Store.Command(t.Context(), young.ID)
	require.NoError(t, err)
	assert.Equal(t, "printed", got.Stdout)
}
