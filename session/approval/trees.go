package approval

import (
	"os"
	"slices"
	"sync"
)

// Trees are the process trees that host agents, as one process knows them that serves many: none of them may answer. What
// this process itself has started belongs to them too, since agents' commands run there. It may be used concurrently.
type Trees struct {
	own   tree
	look  func(pid int) (process, error)
	marks func(pid int) bool // whether the environment that a process was started with is an agent's
	sys   system

	mu       sync.Mutex // guards what follows
	hosted   map[*tree]struct{}
	lately   []tree                  // the last maxLately, the newest last
	dialed   map[connection]struct{} // connections of ours to this machine's SSH server, closed ones too
	dialings []connection            // the same, the newest last
}

// system is what the operating system shows of processes besides their ancestors.
type system struct {
	environ   func(pid int) (getenv func(string) string, err error)
	elsewhere func(pid int) (namespace string, err error) // which of its namespaces is not ours: "user" or "PID"; "" is none
	sameLogin func(pid int) []int                         // the other processes of its login, where that is not ours too
	holders   func(c connection) []int                    // who has the client's end of a connection on this machine
	group     func(pid int) string                        // its control group; "" is not known
}

// maxLately is how many processes are remembered that have asked, and of which nobody knows when they are done.
const maxLately = 256

// NewTrees returns Trees that know of nobody else yet. marked says whether an environment is one that an agent gives to what
// it starts; nil means that none is.
func NewTrees(marked func(getenv func(string) string) bool) *Trees {
	return newTrees(os.Getpid(), lookUp, func(pid int) bool {
		getenv, err := environOf(pid)
		return err == nil && marked != nil && marked(getenv)
	}, thisSystem)
}

func newTrees(self int, look func(int) (process, error), marks func(int) bool, sys system) *Trees {
	return &Trees{own: tree{self: self, look: look}, look: look, marks: marks, sys: sys, hosted: map[*tree]struct{}{}, dialed: map[connection]struct{}{}}
}

// Host adds the tree of a process that serves an agent, and of the client that has started it, until remove is called. A
// pid of 0 is a process that cannot be seen from here.
func (t *Trees) Host(pid int) (remove func()) {
	p, err := t.look(pid)
	if pid <= 0 || err != nil {
		return func() {}
	}
	n := treeOf(pid, p.parent, t.look)
	t.mu.Lock()
	defer t.mu.Unlock()
	n.group = t.sys.group(pid)
	t.hosted[&n] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.hosted, &n)
	}
}

// Asked adds a process that has asked for an agent, and what descends from it.
func (t *Trees) Asked(pid int) {
	p, err := t.look(pid)
	if pid <= 1 || err != nil {
		return
	}
	t.remember(pid, p)
}

// AskedMarked adds the tree of the program that runs the agent which a process asks for, as far as environments tell: it has
// started the process, or the topmost of those above it, where the environment of each is an agent's. Where that of the
// process is none, and where the system does not show it, nothing is added: nobody knows where the agent is.
func (t *Trees) AskedMarked(pid int) {
	top := 0
	var highest process
	for range maxDepth {
		p, err := t.look(pid)
		if pid <= 1 || pid == t.own.self || err != nil || !t.marks(pid) {
			break
		}
		top, highest, pid = pid, p, p.parent
	}
	if top == 0 {
		return
	}
	// A program that has set its own marks and was started by everybody's parent is the agent itself.
	if host := treeOf(top, highest.parent, t.look); host.client != 0 && host.client != t.own.self {
		t.remember(host.client, process{born: host.born})
		return
	}
	t.remember(top, highest)
}

// remember adds a process with what descends from it.
func (t *Trees) remember(pid int, p process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.lately {
		if n.client == pid && n.born == p.born {
			return
		}
	}
	if len(t.lately) == maxLately {
		t.lately = slices.Delete(t.lately, 0, 1)
	}
	t.lately = append(t.lately, tree{self: -1, client: pid, born: p.born, look: t.look, group: t.sys.group(pid)})
}

// Admit refuses a process that belongs to one of the trees, or is inside (see Inside), with an ErrForbidden. This process
// itself is let in: only what it has started is not.
func (t *Trees) Admit(pid int) error {
	if err := t.Inside(pid); err != nil {
		return err
	}
	t.mu.Lock()
	all := slices.Clone(t.lately)
	for n := range t.hosted {
		all = append(all, *n)
	}
	t.mu.Unlock()
	for _, n := range all {
		if err := n.admit(pid); err != nil {
			return err
		}
	}
	return t.stray(pid, all)
}
