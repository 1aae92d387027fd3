package approval

import (
	"os"
	"slices"
	"sync"
)

// Trees are the process trees that host agents, as one process knows them that serves many: none of them may answer. What
// this process itself has started belongs to them too, since agents' commands run there. It may be used concurrently.
type Trees struct {
	own  tree
	look func(pid int) (process, error)

	mu     sync.Mutex // guards what follows
	hosted map[*tree]struct{}
	lately []tree // the last maxLately, the newest last
}

// maxLately is how many processes are remembered that have asked, and of which nobody knows when they are done.
const maxLately = 256

// NewTrees returns Trees that know of nobody else yet.
func NewTrees() *Trees { return newTrees(os.Getpid(), lookUp) }

func newTrees(self int, look func(int) (process, error)) *Trees {
	return &Trees{own: tree{self: self, look: look}, look: look, hosted: map[*tree]struct{}{}}
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
	t.lately = append(t.lately, tree{self: -1, client: pid, born: p.born, look: t.look})
}

// Admit refuses a process that belongs to one of the trees, with an ErrForbidden. This process itself is let in: only what
// it has started is not.
func (t *Trees) Admit(pid int) error {
	t.mu.Lock()
	all := slices.Clone(t.lately)
	for n := range t.hosted {
		all = append(all, *n)
	}
	t.mu.Unlock()
	if pid != t.own.self {
		all = append(all, t.own)
	}
	for _, n := range all {
		if err := n.admit(pid); err != nil {
			return err
		}
	}
	return nil
}
