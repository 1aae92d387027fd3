package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// InsideError says why a caller is refused that runs in a shell, a sandbox or a login which Fairlead has opened. It is an
// ErrForbidden.
type InsideError struct {
	PID int
	Why string
}

// Error implements error.
func (e *InsideError) Error() string {
	return fmt.Sprintf("process %d may not use Fairlead: %s; use a terminal that Fairlead has not opened", e.PID, e.Why)
}

// Is makes it an ErrForbidden.
func (e *InsideError) Is(target error) bool { return target == ErrForbidden }

// Inside refuses a process that this process is responsible for, with an *InsideError: whatever its account, it is a command
// that runs in a session and not the person who holds the sessions. It is refused
//
//   - as a descendant of this process: a local shell, what a "command" transport has started, a sandbox, the demo server;
//   - in another user or PID namespace than this process: a sandbox or a container;
//   - below a shell of the SSH server of this machine whose connection is one of this process, or of a program that it has
//     started, now or earlier (Connected), whether it is still a child of that shell or only has its environment or its login.
//
// It cannot find a process that has left its ancestors behind and cleaned its environment: on Linux the first needs that
// this process does not adopt orphans (PR_SET_CHILD_SUBREAPER), or has been restarted since; elsewhere a second fork is
// enough, and environments, namespaces and connections are not looked at. Nor does it find a login by way of a jump host
// that is another machine. This process itself and one that cannot be seen from here (pid 0) are let in.
func (t *Trees) Inside(pid int) error {
	if pid <= 0 || pid == t.own.self {
		return nil
	}
	if err := t.own.admit(pid); err != nil {
		if errors.Is(err, errUnknownOrigin) {
			return err
		}
		return &InsideError{pid, "Fairlead has started it, or the program that it comes from"}
	}
	switch other, err := t.sys.elsewhere(pid); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the system does not show where process %d runs: %w", ErrForbidden, pid, err)
	case err == nil && other != "":
		return &InsideError{pid, "it is in another " + other + " namespace than the keeper, as sandboxes and containers are"}
	}
	if t.loggedIn(pid) {
		return &InsideError{pid, "it comes from a login over SSH that Fairlead has made to this machine"}
	}
	return nil
}

// loggedIn reports whether a process, or one above it, belongs to a login over SSH that is ours.
func (t *Trees) loggedIn(pid int) bool {
	asked := map[string]bool{}
	ours := func(pid int) bool {
		getenv, err := t.sys.environ(pid)
		if err != nil {
			return false
		}
		text := getenv("SSH_CONNECTION")
		if text == "" || asked[text] {
			return false
		}
		asked[text] = true
		c, ok := parseConnection(text)
		return ok && t.isOurs(c)
	}
	up := pid
	for range maxDepth {
		if ours(up) {
			return true
		}
		p, err := t.look(up)
		if err != nil || p.parent <= 1 {
			break
		}
		up = p.parent
	}
	// What has left its ancestors and its environment is still of the same login, where the system keeps logins.
	return t.hasDialed() && slices.ContainsFunc(t.sys.sameLogin(pid), ours)
}

// hasDialed reports whether this process has connected to its own machine.
func (t *Trees) hasDialed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.dialed) > 0
}

// isOurs reports whether a connection to an SSH server is one of this process, or was.
func (t *Trees) isOurs(c connection) bool {
	t.mu.Lock()
	_, known := t.dialed[c]
	t.mu.Unlock()
	if known {
		return true
	}
	holders := t.sys.holders(c)
	for _, pid := range holders {
		if pid == t.own.self || errors.Is(t.own.admit(pid), ErrForbidden) {
			t.noteConnection(c)
			return true
		}
	}
	return false
}
