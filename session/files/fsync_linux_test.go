package files_test

import (
	"context"
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

func TestAFileThatIsWrittenHereIsOnTheDiskBeforeItHasItsName(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		h := openOn(t, pty(t, localpty.Config{}), hosts.Host{Name: "here", Transport: hosts.Local})
		if _, err := h.Write(context.Background(), dir+"/f", []byte("x\n"), files.WriteOptions{}); err != nil {
			panic(err)
		}
		straced.Mark("written")
	})
	written := tr.Between(t, "", "written")
	written.Replaced(t, "rename", dir+"/f")
	written.NamesSynced(t, dir, "rename", dir+"/f")
}
