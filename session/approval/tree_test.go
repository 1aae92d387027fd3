package approval_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestTheTreeOfAnAgentMayNotAnswer(t *testing.T) {
	type system = map[int]approval.Process
	usual := system{
		1:  {0, "init", "1"},
		10: {1, "bash", "10"}, 20: {10, "client", "20"}, 30: {20, "fairlead", "30"}, 31: {30, "ssh", "31"},
		40: {20, "sh", "40"}, 41: {40, "fairlead", "41"},
		50: {10, "fairlead", "50"}, 60: {1, "bash", "60"}, 61: {60, "fairlead", "61"},
	}
	for name, tt := range map[string]struct {
		system, later system
		fails         map[int]error
		pid           int
		inside        bool
	}{
		"the server itself":                         {system: usual, pid: 30, inside: true},
		"what the server has started":               {system: usual, pid: 31, inside: true},
		"the client":                                {system: usual, pid: 20, inside: true},
		"what the client has started":               {system: usual, pid: 41, inside: true},
		"the shell that the client was started in":  {system: usual, pid: 10},
		"another program of that shell":             {system: usual, pid: 50},
		"another terminal":                          {system: usual, pid: 61},
		"a process that cannot be seen":             {system: usual, pid: 0},
		"the first process":                         {system: usual, pid: 1},
		"the client's number is another's now":      {system: usual, later: system{20: {1, "other", "99"}, 22: {20, "sh", "100"}}, pid: 22},
		"a server that the first process started":   {system: system{1: {}, 30: {1, "", ""}, 41: {1, "", ""}}, pid: 41},
		"a server that the user's systemd started":  {system: system{9: {1, "systemd", "9"}, 30: {9, "", ""}, 41: {9, "", ""}}, pid: 41},
		"an ancestor that is hidden":                {system: usual, fails: map[int]error{60: fs.ErrNotExist}, pid: 61},
		"an ancestor that is hidden, in the tree":   {system: usual, fails: map[int]error{10: fs.ErrNotExist}, pid: 41, inside: true},
		"a caller that is hidden":                   {system: usual, fails: map[int]error{61: fs.ErrNotExist}, pid: 61, inside: true},
		"an ancestor that cannot be looked at":      {system: usual, fails: map[int]error{60: fs.ErrPermission}, pid: 61, inside: true},
		"processes that are each other's ancestors": {system: system{30: {20, "", ""}, 41: {42, "", ""}, 42: {41, "", ""}}, pid: 41, inside: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := approval.Admit(tt.system, 30, tt.later, tt.fails, tt.pid)
			if tt.inside {
				assert.ErrorIs(t, err, approval.ErrForbidden)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}
