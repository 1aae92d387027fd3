package approval_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestNoneOfManyTreesMayAnswer(t *testing.T) {
	system := map[int]approval.Process{
		1:  {0, "init", "1"},
		10: {1, "bash", "10"},
		20: {10, "keeper", "20"}, 21: {20, "sh", "21"}, 22: {10, "fairlead", "22"},
		30: {1, "client", "30"}, 31: {30, "fairlead", "31"}, 32: {30, "sh", "32"},
		40: {1, "client", "40"}, 41: {40, "fairlead", "41"},
		50: {10, "script", "50"}, 51: {50, "curl", "51"},
	}
	trees, forget := approval.MadeUpTrees(system, 20)
	remove := trees.Host(31)
	trees.Host(41)
	trees.Host(99) // who has ended already
	trees.Host(0)  // who cannot be seen
	trees.Asked(50)
	trees.Asked(50)
	for pid, who := range map[int]string{21: "what runs in the keeper", 31: "one server", 32: "what its client has started", 41: "another server", 40: "its client", 50: "who asked", 51: "what that one has started"} {
		assert.ErrorIs(t, trees.Admit(pid), approval.ErrForbidden, who)
	}
	for pid, who := range map[int]string{10: "the shell that all was started in", 20: "the keeper itself", 22: "another program of that shell", 0: "who cannot be seen"} {
		assert.NoError(t, trees.Admit(pid), who)
	}
	remove()
	assert.NoError(t, trees.Admit(32), "its agent has gone")
	forget(50, approval.Process{1, "other", "99"})
	assert.NoError(t, trees.Admit(50), "the number is another's now")
}
