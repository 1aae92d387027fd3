package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// BenchmarkAllowedCommand is what the store adds to a command that policy allows: two steps, each on disk.
func BenchmarkAllowedCommand(b *testing.B) {
	s, err := store.Open(b.Context(), store.Config{Path: b.TempDir() + "/private/store.db"})
	require.NoError(b, err)
	defer s.Close()
	for b.Loop() {
		n := allowed()
		n.Claim = keeperID
		c, _, err := s.Create(b.Context(), n)
		require.NoError(b, err)
		_, err = s.Finish(b.Context(), c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok", Stdout: "ok\n"})
		require.NoError(b, err)
	}
}
