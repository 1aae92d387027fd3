package sandbox

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
)

// MinLandlock is the version of Landlock's interface from which on files outside cannot be cut short (Linux 6.2).
const MinLandlock = 3

// Landlock starts shells on this machine behind Linux's Landlock (landlock(7)): files and directories can be created,
// written, renamed and removed in the sandbox only, and from version 6 on processes outside cannot be signalled and their
// abstract sockets not be used. It cannot be taken off, and what the shell starts inherits it.
//
// It does not cover modes, owners and times of files that belong to the account, other sockets, or the network. TMPDIR is
// the sandbox; /tmp cannot be written.
type Landlock struct {
	// Helper is the command line of a program that calls [Confine] with the words behind it: the sandbox's path first, then
	// the command to run. Its words must need no quotes.
	Helper []string
}

// Program returns p as it is to be started for a session in the sandbox, as [Bubblewrap.Program] does.
func (l Landlock) Program(s Sandbox, p session.Program) (session.Program, error) {
	words := append(append([]string{}, l.Helper...), s.Path)
	for _, w := range words {
		if w == "" || strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/=") != "" {
			return p, errNotPlain
		}
	}
	if len(l.Helper) == 0 || !wrappable(s.Path) {
		return p, errNotPlain
	}
	return inFront(p, words)
}
