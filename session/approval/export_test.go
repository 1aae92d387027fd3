package approval

import (
	"io/fs"
	"net"
	"slices"
)

// Outside has s take its callers for processes from elsewhere, of this uid.
func (s *Server) Outside(uid int) {
	s.peer = func(*net.UnixConn) (peer, error) { return peer{uid: uid}, nil }
}

// Handle has s answer one line of a process from elsewhere.
func (s *Server) Handle(uid int, line []byte) any { return s.handle(peer{uid: uid}, line) }

// Limits for tests.
const (
	MaxRequest = maxRequest
	MaxReason  = maxReason
	MaxSettled = maxSettled
)

// Process is what a test says of one.
type Process struct {
	Parent int
	Name   string
	Born   string
}

// Admit asks the tree of self for pid, in a made-up system; fails says which processes cannot be looked at.
func Admit(system map[int]Process, self int, later map[int]Process, fails map[int]error, pid int) error {
	now := system
	look := func(pid int) (process, error) {
		if err := fails[pid]; err != nil {
			return process{}, err
		}
		p := now[pid]
		return process{p.Parent, p.Name, p.Born}, nil
	}
	t := treeOf(self, system[self].Parent, look)
	if later != nil {
		now = later
	}
	return t.admit(pid)
}

// MadeUpTrees are those of a process in a made-up system; change makes a number another process's.
func MadeUpTrees(system map[int]Process, self int, marked ...int) (t *Trees, change func(pid int, p Process)) {
	look := func(pid int) (process, error) {
		p, ok := system[pid]
		if !ok {
			return process{}, fs.ErrNotExist
		}
		return process{p.Parent, p.Name, p.Born}, nil
	}
	marks := func(pid int) bool { return slices.Contains(marked, pid) }
	return newTrees(self, look, marks), func(pid int, p Process) { system[pid] = p }
}
