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
	trees.Host(99)  // who has ended already
	trees.Host(0)   // who cannot be seen
	trees.Asked(1)  // which everything descends from
	trees.Asked(99) // who has ended already
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

func TestTheProgramThatMarksWhatItStartsMayNotAnswer(t *testing.T) {
	usual := map[int]approval.Process{
		1: {0, "init", "1"}, 2: {1, "agent", "2"}, 9: {1, "systemd", "9"},
		10: {1, "bash", "10"},
		20: {1, "keeper", "20"}, 21: {20, "sh", "21"}, 22: {21, "fairlead", "22"},
		30: {10, "agent", "30"}, 31: {30, "sh", "31"}, 32: {31, "fairlead", "32"}, 33: {30, "other", "33"},
		40: {9, "agent", "40"}, 41: {40, "sh", "41"},
		50: {10, "script", "50"}, 51: {50, "fairlead", "51"},
	}
	for name, tt := range map[string]struct {
		marked []int
		asks   int
		inside []int
		apart  []int
	}{
		"what it starts is marked":                {[]int{31, 32}, 32, []int{30, 31, 32, 33}, []int{10, 20, 40, 50}},
		"it marks itself, too":                    {[]int{30, 31, 32}, 32, []int{10, 30, 33}, []int{20, 40}},
		"one between is not marked":               {[]int{30, 32}, 32, []int{31, 32}, []int{10, 30, 33, 40}},
		"only one above is marked":                {[]int{31}, 32, nil, []int{30, 31, 32}},
		"it was started by the user's systemd":    {[]int{40, 41}, 41, []int{40, 41}, []int{9, 10, 30}},
		"nothing is marked":                       {nil, 51, nil, []int{10, 50, 51}},
		"what the keeper runs is the keeper's":    {[]int{22}, 22, []int{21, 22}, []int{10, 20}},
		"the keeper was started by an agent once": {[]int{1, 20, 21}, 22, []int{21, 22}, []int{10, 20, 30}},
		"who asks is gone":                        {[]int{99}, 99, nil, []int{10, 30}},
		"who asks cannot be seen":                 {nil, 0, nil, []int{0, 10, 30}},
		"process 2 of a container is an agent":    {[]int{2}, 2, []int{2}, []int{10, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			trees, _ := approval.MadeUpTrees(usual, 20, tt.marked...)
			trees.AskedMarked(tt.asks)
			trees.AskedMarked(tt.asks)
			for _, pid := range tt.inside {
				assert.ErrorIs(t, trees.Admit(pid), approval.ErrForbidden, pid)
			}
			for _, pid := range tt.apart {
				assert.NoError(t, trees.Admit(pid), pid)
			}
		})
	}
}

// The first processes of a container may be the server of an agent, and who asks for one.
func TestTheFirstProcessesOfAContainerCountAsOthersDo(t *testing.T) {
	system := map[int]approval.Process{1: {0, "fairlead", "1"}, 2: {1, "script", "2"}, 3: {2, "sh", "3"}, 4: {1, "sh", "4"}, 20: {0, "keeper", "20"}, 30: {0, "sh", "30"}}
	trees, _ := approval.MadeUpTrees(system, 20)
	remove := trees.Host(1)
	for _, pid := range []int{1, 2, 4} {
		assert.ErrorIs(t, trees.Admit(pid), approval.ErrForbidden, pid)
	}
	assert.NoError(t, trees.Admit(30))
	remove()
	assert.NoError(t, trees.Admit(4))
	trees.Asked(2)
	for _, pid := range []int{2, 3} {
		assert.ErrorIs(t, trees.Admit(pid), approval.ErrForbidden, pid)
	}
	assert.NoError(t, trees.Admit(4))
}

// Everything descends from the first process: that it asks says of nobody else that they belong to an agent.
func TestTheFirstProcessAsksForNobody(t *testing.T) {
	trees, _ := approval.MadeUpTrees(map[int]approval.Process{1: {0, "sh", "1"}, 20: {1, "keeper", "20"}, 30: {1, "sh", "30"}, 31: {30, "sh", "31"}}, 20)
	trees.Asked(1)
	assert.NoError(t, trees.Admit(31))
}
