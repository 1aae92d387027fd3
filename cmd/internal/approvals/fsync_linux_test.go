package approvals

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

func TestANewKeyIsOnTheDiskBeforeItIsEnrolled(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		if _, err := makeKey(dir+"/approver", "ada", []byte("correct horse")); err != nil {
			panic(err)
		}
		straced.Mark("made")
	})
	made := tr.Between(t, "", "made")
	made.Synced(t, dir+"/approver")
	made.Synced(t, dir+"/approver.pub")
}
