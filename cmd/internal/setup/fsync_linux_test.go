package setup_test

import (
	"os"
	"testing"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

// A file of another program's settings is there whole, the old one or the new one.
func TestAFileThatIsEditedIsWholeAfterAPowerCut(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		if err := os.WriteFile(dir+"/mcp.json", []byte(`{"servers":{}}`), 0o600); err != nil {
			panic(err)
		}
		straced.Mark("begins")
		if _, err := editIn(t, dir, dir, dir+"/mcp.json"); err != nil {
			panic(err)
		}
		straced.Mark("done")
	})
	done := tr.Between(t, "begins", "done")
	done.Replaced(t, "rename", dir+"/mcp.json")
	done.Synced(t, dir+"/mcp.json.fairlead-backup")
}
