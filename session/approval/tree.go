package approval

import (
	"errors"
	"fmt"
	"io/fs"
)

// process is what the system tells of one.
type process struct {
	parent int
	name   string
	born   string // tells it from another that had its number before
	bare   bool   // it has no controlling terminal
}

// tree is the process tree that hosts an agent: the process that serves it, and the client that has started that one,
// with all that descend from them. The client is known by its birth too, since it may be gone by the time of a question
// and its number another's.
type tree struct {
	self, client int    // client 0: it is not known, or the system's own, from which everybody descends
	born         string // the client's; the server's where no client is known
	group        string // control group of the server, "" where it is not known
	look         func(pid int) (process, error)
}

// treeOf returns the tree of a process and its parent.
func treeOf(self, parent int, look func(pid int) (process, error)) tree {
	t := tree{self: self, look: look}
	if p, err := look(self); err == nil {
		t.born = p.born
	}
	// A parent that is the first process, or a user's systemd, has adopted or started everything else as well.
	if p, err := look(parent); err == nil && parent > 1 && p.name != "systemd" {
		t.client, t.born = parent, p.born
	}
	return t
}

// maxDepth bounds the walk; maxWalks how often it begins anew when a process ends meanwhile.
const (
	maxDepth = 1024
	maxWalks = 3
)

// admit refuses a process of the tree. A pid of 0 is a process that cannot be seen from here, and so is none.
func (t tree) admit(pid int) error {
	var err error
	for range maxWalks {
		var inside bool
		inside, err = t.walk(pid)
		if inside {
			return fmt.Errorf("%w: process %d runs inside the program that hosts the requesting agent; answer from a terminal outside of that program", ErrForbidden, pid)
		}
		if err == nil {
			return nil
		}
	}
	// An ancestor that stays invisible is another account's: the system's daemons where /proc hides them (hidepid).
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errCaller) {
		return nil
	}
	return fmt.Errorf("%w: %w %d comes from: %w", ErrForbidden, errUnknownOrigin, pid, err)
}

var errUnknownOrigin = errors.New("the system does not show where process")

var errCaller = errors.New("the caller itself cannot be looked at")

// walk goes up from pid and reports whether it comes through the tree.
func (t tree) walk(pid int) (inside bool, err error) {
	child := 0
	for depth := range maxDepth {
		if pid == t.self {
			return true, nil
		}
		if pid <= 1 {
			return false, nil
		}
		p, err := t.look(pid)
		if child != 0 && errors.Is(err, fs.ErrNotExist) {
			// It may have ended since its child named it: then the child has another parent now.
			if now, cerr := t.look(child); cerr == nil && now.parent != pid {
				pid = now.parent
				continue
			}
		}
		switch {
		case err != nil && depth == 0:
			return false, fmt.Errorf("%w: %w", errCaller, err)
		case err != nil:
			return false, err
		case pid == t.client && p.born == t.born:
			return true, nil
		}
		child, pid = pid, p.parent
	}
	return false, errors.New("it has too many ancestors")
}
