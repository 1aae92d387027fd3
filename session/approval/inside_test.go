package approval_test

import (
	"fmt"
	"io/fs"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestWhatRunsInASessionIsInsideWhateverItsAccount(t *testing.T) {
	// 20 is the keeper. 30 is the SSH server: 31 is a login of the keeper's, 41 one of somebody's ssh (60).
	system := map[int]approval.Process{
		1: {0, "init", "1"}, 10: {1, "bash", "10"}, 11: {10, "fairlead", "11"},
		20: {1, "fairlead", "20"}, 21: {20, "sh", "21"}, 22: {21, "python3", "22"}, 23: {20, "orphan", "23"},
		30: {1, "sshd", "30"}, 31: {30, "sh", "31"}, 32: {31, "python3", "32"}, 33: {1, "daemon", "33"}, 34: {1, "clean", "34"},
		41: {30, "bash", "41"}, 42: {41, "fairlead", "42"}, 60: {10, "ssh", "60"},
		50: {1, "bash", "50"}, 51: {50, "sh", "51"}, 52: {1, "hidden", "52"}, 53: {1, "gone", "53"},
	}
	const ours, theirs = "127.0.0.1 4001 127.0.0.1 22", "127.0.0.1 4002 127.0.0.1 22"
	m := approval.Machine{
		Environ: map[int]map[string]string{
			1: {"SSH_CONNECTION": ours}, 31: {"SSH_CONNECTION": ours}, 32: {}, 33: {"SSH_CONNECTION": ours}, 41: {"SSH_CONNECTION": theirs},
			51: {"SSH_CONNECTION": "nonsense"}, 50: {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 x"},
		},
		Elsewhere: map[int]string{51: "user"},
		Hidden:    map[int]error{52: fs.ErrPermission, 53: fmt.Errorf("it has ended: %w", fs.ErrNotExist)},
		Logins:    map[int]string{31: "7", 34: "7", 41: "8", 42: "8"},
		Holders:   map[string][]int{ours: {20}, theirs: {60}},
	}
	for name, tt := range map[string]struct {
		pid int
		why string
	}{
		"a person's terminal":                      {pid: 11},
		"the keeper itself":                        {pid: 20},
		"one that cannot be seen":                  {pid: 0},
		"a local shell":                            {21, "Fairlead has started it"},
		"what a local shell has started":           {22, "Fairlead has started it"},
		"an orphan that the keeper has adopted":    {23, "Fairlead has started it"},
		"a shell over SSH":                         {31, "login over SSH"},
		"below it, without the environment":        {32, "login over SSH"},
		"a daemon with the environment":            {33, "login over SSH"},
		"a daemon with another one, of that login": {34, "login over SSH"},
		"a person's own login":                     {pid: 42},
		"another namespace":                        {51, "another user namespace"},
		"a variable that says nothing":             {pid: 50},
		"a program that hides itself":              {52, "does not show where process 52 runs"},
		"one that has ended meanwhile":             {pid: 53},
	} {
		t.Run(name, func(t *testing.T) {
			trees, _ := approval.MadeUpMachine(system, m, 20)
			_ = trees.Inside(31) // the connection is seen once
			err := trees.Inside(tt.pid)
			if tt.why == "" {
				assert.NoError(t, err)
				assert.NoError(t, trees.Admit(tt.pid))
				return
			}
			require.ErrorIs(t, err, approval.ErrForbidden)
			assert.ErrorContains(t, err, tt.why)
			assert.ErrorIs(t, trees.Admit(tt.pid), approval.ErrForbidden)
		})
	}
}

// What the system does not show is refused, and not called what it may not be.
func TestAProcessThatTheSystemDoesNotShowIsRefused(t *testing.T) {
	trees, _ := approval.MadeUpMachine(map[int]approval.Process{1: {0, "init", "1"}, 20: {1, "fairlead", "20"}}, approval.Machine{}, 20)
	err := trees.Inside(99)
	require.ErrorIs(t, err, approval.ErrForbidden)
	assert.ErrorContains(t, err, "does not show where process 99 comes from")
	var inside *approval.InsideError
	assert.NotErrorAs(t, err, &inside)
	assert.NoError(t, trees.Inside(-1))
}

func TestALoginIsStillOursWhenItsConnectionIsClosed(t *testing.T) {
	system := map[int]approval.Process{1: {}, 20: {1, "fairlead", "20"}, 33: {1, "daemon", "33"}, 34: {1, "other", "34"}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	at, to := c.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	text := fmt.Sprintf("::ffff:%s %d %s %d", at.IP, at.Port, to.IP, to.Port)
	trees, _ := approval.MadeUpMachine(system, approval.Machine{Environ: map[int]map[string]string{33: {"SSH_CONNECTION": text}}}, 20)
	require.NoError(t, trees.Inside(33))
	trees.Connected(c)
	require.NoError(t, c.Close())
	assert.ErrorContains(t, trees.Inside(33), "login over SSH")
	assert.NoError(t, trees.Inside(34))
}

// A process that starts others and ends while it is looked at must not hide where they come from.
func TestAnAncestorThatEndsMeanwhileHidesNothing(t *testing.T) {
	system := map[int]approval.Process{1: {}, 20: {1, "fairlead", "20"}, 22: {21, "python3", "22"}}
	trees, change := approval.MadeUpMachine(system, approval.Machine{}, 20)
	require.NoError(t, trees.Inside(22), "an ancestor that stays invisible is another account's")
	change(22, approval.Process{Parent: 20, Name: "python3", Born: "22"})
	assert.ErrorIs(t, trees.Inside(22), approval.ErrForbidden)
}

func TestAStrayOfAnAgentsTreeMayNotAnswer(t *testing.T) {
	system := map[int]approval.Process{
		1: {0, "init", "1"}, 2: {1, "systemd", "2"}, 10: {1, "bash", "10"}, 12: {1, "cron", "12"}, 13: {12, "script", "45"},
		20: {1, "fairlead", "20"}, 30: {10, "claude", "30"}, 31: {30, "fairlead", "31"},
		40: {1, "fairlead", "40"}, 41: {2, "sh", "41"}, 42: {41, "fairlead", "42"}, 43: {1, "tmux", "43"}, 44: {43, "bash", "44"}, 45: {44, "fairlead", "45"},
		46: {1, "unit", "46"},
	}
	m := approval.Machine{
		Bare:   map[int]bool{12: true, 13: true, 40: true, 41: true, 42: true, 43: true, 46: true, 20: true},
		Groups: map[int]string{46: "/service"},
	}
	for pid := range system {
		if m.Groups[pid] == "" {
			m.Groups[pid] = "/login"
		}
	}
	trees, _ := approval.MadeUpMachine(system, m, 20)
	for _, pid := range []int{40, 42} {
		require.NoError(t, trees.Admit(pid), "no agent is there")
	}
	remove := trees.Host(31)
	for pid, who := range map[int]string{40: "an orphan", 42: "a child of one that the user's systemd has adopted"} {
		err := trees.Admit(pid)
		require.ErrorIs(t, err, approval.ErrForbidden, who)
		assert.ErrorContains(t, err, "has left the program that started it", who)
	}
	for pid, who := range map[int]string{13: "what an older daemon has started", 45: "a terminal in tmux", 46: "a service", 20: "the keeper"} {
		assert.NoError(t, trees.Admit(pid), who)
	}
	remove()
	assert.NoError(t, trees.Admit(40))
}
