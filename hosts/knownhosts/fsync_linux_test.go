package knownhosts_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

func TestAKeyThatIsTrustedIsOnTheDisk(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		if err := knownhosts.Append(dir+"/known_hosts", "web1", testKeys().ed.PublicKey(), knownhosts.AppendOptions{}); err != nil {
			panic(err)
		}
		straced.Mark("done")
	})
	tr.Between(t, "", "done").Synced(t, dir+"/known_hosts")
}
