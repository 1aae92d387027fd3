package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
)

// Bubblewrap starts shells in a place of their own on the host (bwrap(1)): everything can be read as before, but only the
// sandbox can be written; /tmp, /var/tmp and /run are private and empty, so that no socket in them can be used to have
// others do the work; processes outside are neither seen nor signalled; there are no capabilities and no way to gain any.
// The place ends with its shell, and all processes in it with it. TMPDIR is the sandbox.
//
// Programs reach the network as before, and with it whatever listens on the host, unless NoNetwork is set. What the place
// does not hold is what was there before it: hard links to files outside, mounts below the sandbox, and sockets elsewhere
// than in the hidden directories. Hide those with Hide.
//
// The stages TERM and KILL of stopping a command do not reach into it: after ^C its shell is replaced at once.
type Bubblewrap struct {
	NoNetwork bool
	Hide      []string // directories that are to be empty: absolute, and there on the host
	At        string   // its path on the host; "" means where the login's PATH has it
}

var errNotPlain = errors.New("sandbox: a path for bubblewrap must be absolute and clean, of letters, digits and ._-/ alone, so that every login shell passes it on as it is")

// wrappable reports whether a path means itself to every login shell without quotes.
func wrappable(p string) bool {
	return wrongPath(p) == "" && strings.Trim(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/") == ""
}

// args are bwrap's, without the command. What is hidden comes first, so that the sandbox may lie in it.
func (b Bubblewrap) args(s Sandbox) ([]string, error) {
	args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	for _, dir := range append([]string{"/tmp", "/var/tmp", "/run"}, b.Hide...) {
		if !wrappable(dir) {
			return nil, errNotPlain
		}
		if within(dir, s.Path) {
			continue // it is the sandbox's own, which can be written anyway
		}
		args = append(args, "--tmpfs", dir)
	}
	// Names are looked up through a file that often lies in /run.
	args = append(args, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve", "--ro-bind-try", "/run/resolvconf", "/run/resolvconf")
	if !wrappable(s.Path) {
		return nil, errNotPlain
	}
	args = append(args, "--bind", s.Path, s.Path, "--chdir", s.Path, "--setenv", "TMPDIR", s.Path,
		"--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL")
	if b.NoNetwork {
		args = append(args, "--unshare-net")
	}
	return args, nil
}

// Program returns p as it is to be started for a session in the sandbox. p must be one of ours, which begins with
// "exec sh -c".
func (b Bubblewrap) Program(s Sandbox, p session.Program) (session.Program, error) {
	args, err := b.args(s)
	if err != nil {
		return p, err
	}
	if b.At != "" && !wrappable(b.At) {
		return p, errNotPlain
	}
	return inFront(p, append([]string{cmp.Or(b.At, "bwrap")}, args...))
}

// inFront puts words in front of a program's own.
func inFront(p session.Program, words []string) (session.Program, error) {
	rest, ok := strings.CutPrefix(p.Line, "exec sh -c '")
	if !ok {
		return p, fmt.Errorf("sandbox: a program of this kind cannot be started in a sandbox")
	}
	p.Line = "exec " + strings.Join(words, " ") + " sh -c '" + rest
	return p, nil
}
