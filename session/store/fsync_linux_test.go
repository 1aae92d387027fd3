package store_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Without its key nothing that the store has sealed can be read again.
func TestTheSealingKeyIsOnTheDiskBeforeItIsUsed(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		s, err := store.Open(t.Context(), store.Config{Path: dir + "/store.db"})
		if err != nil {
			panic(err)
		}
		straced.Mark("open")
		if err := s.Close(); err != nil {
			panic(err)
		}
	})
	open := tr.Between(t, "", "open")
	open.Replaced(t, "link", dir+"/store.db.key")
	open.NamesSynced(t, dir, "link", dir+"/store.db.key")
}
