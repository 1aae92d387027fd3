package approval

import (
	"fmt"
	"strconv"
)

// stray refuses a process that may have left the tree of an agent, as a daemon leaves its starter (setsid -f): it, and all
// above it, have no terminal; the topmost of them is a child of everybody's parent, younger than the agent, and in the
// agent's control group, where a service or the login of somebody else is not. A program that asks for a terminal of its
// own first is not found this way.
func (t *Trees) stray(pid int, agents []tree) error {
	if pid <= 1 || pid == t.own.self {
		return nil
	}
	top := t.orphan(pid)
	if top == nil {
		return nil
	}
	group := t.sys.group(top.pid)
	for _, n := range agents {
		if top.pid != n.self && group != "" && group == n.group && younger(top.born, n.born) {
			return fmt.Errorf("%w: process %d has left the program that started it, and may come from an agent's. Answer from a terminal outside of that program", ErrForbidden, pid)
		}
	}
	return nil
}

// ancestor is a process and its number.
type ancestor struct {
	process
	pid int
}

// orphan returns the topmost ancestor of a process below everybody's parent, where neither has a terminal; else nil.
func (t *Trees) orphan(pid int) *ancestor {
	for range maxDepth {
		p, err := t.look(pid)
		if err != nil || !p.bare {
			return nil
		}
		if p.parent == 1 {
			return &ancestor{p, pid}
		}
		if above, _ := t.look(p.parent); above.name == "systemd" { // nobody after an error
			return &ancestor{p, pid}
		}
		if p.parent <= 0 {
			return nil
		}
		pid = p.parent
	}
	return nil
}

// younger reports whether a process was born after another one.
func younger(born, than string) bool {
	a, err1 := strconv.ParseFloat(born, 64)
	b, err2 := strconv.ParseFloat(than, 64)
	return err1 == nil && err2 == nil && a > b
}
