package approval

import (
	"bufio"
	"io"
	"io/fs"
	"net"
	"slices"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Outside has s take its callers for processes from elsewhere, of this uid.
func (s *Server) Outside(uid int) {
	s.peer = func(*net.UnixConn) (peer, error) { return peer{uid: uid}, nil }
}

// Listener is what s takes its callers from.
func (s *Server) Listener() *net.UnixListener { return s.listener }

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

// Machine is what a test says of processes besides. Its zero value shows nothing.
type Machine struct {
	Environ   map[int]map[string]string
	Elsewhere map[int]string
	Hidden    map[int]error // what the system says where it shows nothing
	Logins    map[int]string
	Holders   map[string][]int // by SSH_CONNECTION
	Groups    map[int]string
	Bare      map[int]bool // without a terminal
}

func (m Machine) system() system {
	return system{
		environ: func(pid int) (func(string) string, error) {
			return func(name string) string { return m.Environ[pid][name] }, nil
		},
		elsewhere: func(pid int) (string, error) { return m.Elsewhere[pid], m.Hidden[pid] },
		sameLogin: func(pid int) (others []int) {
			for other, id := range m.Logins {
				if other != pid && id == m.Logins[pid] {
					others = append(others, other)
				}
			}
			return others
		},
		holders: func(c connection) (pids []int) {
			for text, all := range m.Holders {
				if known, ok := parseConnection(text); ok && known == c {
					pids = append(pids, all...)
				}
			}
			return pids
		},
		group: func(pid int) string { return m.Groups[pid] },
	}
}

// Admit asks the tree of self for pid, in a made-up system; fails says which processes cannot be looked at.
func Admit(system map[int]Process, self int, later map[int]Process, fails map[int]error, pid int) error {
	now := system
	look := func(pid int) (process, error) {
		if err := fails[pid]; err != nil {
			return process{}, err
		}
		p := now[pid]
		return process{parent: p.Parent, name: p.Name, born: p.Born}, nil
	}
	t := treeOf(self, system[self].Parent, look)
	if later != nil {
		now = later
	}
	return t.admit(pid)
}

// MadeUpTrees are those of a process in a made-up system; change makes a number another process's.
func MadeUpTrees(system map[int]Process, self int, marked ...int) (t *Trees, change func(pid int, p Process)) {
	return MadeUpMachine(system, Machine{}, self, marked...)
}

// MadeUpMachine is MadeUpTrees for a system of which more is known.
func MadeUpMachine(system map[int]Process, m Machine, self int, marked ...int) (t *Trees, change func(pid int, p Process)) {
	look := func(pid int) (process, error) {
		p, ok := system[pid]
		if !ok {
			return process{}, fs.ErrNotExist
		}
		return process{parent: p.Parent, name: p.Name, born: p.Born, bare: m.Bare[pid]}, nil
	}
	marks := func(pid int) bool { return slices.Contains(marked, pid) }
	return newTrees(self, look, marks, m.system()), func(pid int, p Process) { system[pid] = p }
}

// ReadLine reads a line of at most most bytes, its newline with them.
func ReadLine(r io.Reader, most int) ([]byte, error) { return readLine(bufio.NewReaderSize(r, most)) }

// Strange reports whether me need not trust uid with what is its.
var Strange = strange

// Put has q wait without an asker, who would take it away when its time is over.
func (d *Desk) Put(q policy.Question) (Pending, error) {
	w, err := d.put(q, nil)
	if err != nil {
		return Pending{}, err
	}
	return w.Pending, nil
}

// ParseConnection reports what SSH_CONNECTION says, written as it is; false where it says nothing.
func ParseConnection(text string) (client, server string, ok bool) {
	c, ok := parseConnection(text)
	if !ok {
		return "", "", false
	}
	return c.client.String(), c.server.String(), true
}

// ValidAt says why the key of an approver does not count at a time.
var ValidAt = Approver.validAt

// Operator is the principal of an account.
var Operator = operator

// Owner returns the uid that a file belongs to.
var Owner = owner
