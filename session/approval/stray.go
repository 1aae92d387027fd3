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
	if pid <= 1 || pid == t.own.self || len(agents) == 0 {
		return nil
	}
	top, p, ok := t.orphan(pid)
	if !ok {
		return nil
	}
	group := t.sys.group(top)
	for _, n := range agents {
		if top != n.self && group != "" && group == n.group && younger(p.born, n.born) {
			return fmt.Errorf("%w: process %d has left the program that started it, and may come from an agent's. Answer from a terminal outside of that program", ErrForbidden, pid)
		}
	}
	return nil
}

// orphan returns the topmost ancestor of a process below everybody's parent, where neither has a terminal.
func (t *Trees) orphan(pid int) (top int, highest process, ok bool) {
	for range maxDepth {
		p, err := t.look(pid)
		if err != nil || !p.bare {
			return 0, process{}, false
		}
		if p.parent == 1 {
			return pid, p, true
		}
		if above, _ := t.look(p.parent); above.name == "systemd" { // nobody after an error
			return pid, p, true
		}
		if p.parent <= 0 {
			return 0, process{}, false
		}
		pid = p.parent
	}
	return 0, process{}, false
}

// younger reports whether a process was born after another one.
func younger(born, than string) bool {
	a, err1 := strconv.ParseFloat(born, 64)
	b, err2 := strconv.ParseFloat(than, 64)
	return err1 == nil && err2 == nil && a > b
}
