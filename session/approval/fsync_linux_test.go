package approval_test

import (
	"testing"

	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/straced"
)

// An approver who was taken away must not be back after a power cut.
func TestWhoIsEnrolledIsOnTheDisk(t *testing.T) {
	dir, tr := straced.Run(t, func(dir string) {
		file := dir + "/approvers"
		if err := approval.Enroll(file, approval.Approver{Name: "ada", Key: newKey(t).PublicKey(), Proof: approval.Unproven}); err != nil {
			panic(err)
		}
		straced.Mark("enrolled")
		if gone, err := approval.Withdraw(file, func(approval.Approver) bool { return true }); err != nil || len(gone) != 1 {
			panic(err)
		}
		straced.Mark("withdrawn")
	})
	file := dir + "/approvers"
	enrolled := tr.Between(t, "", "enrolled")
	enrolled.Replaced(t, "rename", file)
	enrolled.NamesSynced(t, dir, "rename", file)
	tr.Between(t, "enrolled", "withdrawn").NamesSynced(t, dir, "rename", file)
}
