package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
)

// Bubblewrap starts shells in a place of their own on the host (bwrap(1)): everything can be read as before, but only the
// sandbox can be written; /tmp, /var/tmp and /run are private and empty, so that no socket in them can be used to have
// others do the work; processes outside are neither seen nor signalled; there are no capabilities and no way to gain any.
// The place ends with its shell, and all processes in it with it. TMPDIR is the sandbox.
//
// Programs reach the network as before, and with it whatever listens on the host and abstract unix sockets, unless
// NoNetwork is set. What the place does not hold is what was there before it: hard links to files outside, mounts below the
// sandbox, and sockets elsewhere than in the hidden directories. Hide those with Hide and HideFiles; [FindSecrets] finds what
// should be.
//
// The stages TERM and KILL of stopping a command do not reach into it: where ^C did not end the command, its shell is replaced.
// Without Keys ^C ends the place, and with it the shell.
type Bubblewrap struct {
	NoNetwork bool
	Hide      []string // directories that are to be empty: absolute, and there on the host
	HideFiles []string // files and sockets that cannot be opened: absolute, and there on the host
	Keys      bool     // env(1) there has --ignore-signal: ^C and ^\ then reach what runs in the place and not bwrap itself
	At        string   // its path on the host; "" means where the login's PATH has it
}

// isolation is in the arguments of every bwrap that we start. EndAbandoned finds our sandboxes by it.
var isolation = []string{"--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"}

// agentVariables lead to programs outside that act for the account. Their sockets are hidden where they are known.
var agentVariables = []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS"}

var errNotPlain = errors.New("sandbox: a path for bubblewrap must be absolute and clean, of letters, digits and ._-/ alone, so that every login shell passes it on as it is")

// wrappable reports whether a path means itself to every login shell without quotes.
func wrappable(p string) bool {
	return wrongPath(p) == "" && strings.Trim(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/") == ""
}

// args are bwrap's, without the command. What is hidden comes first, so that the sandbox may lie in it; what is hidden of
// the sandbox itself comes after it.
func (b Bubblewrap) args(s Sandbox) ([]string, error) {
	if !wrappable(s.Path) {
		return nil, errNotPlain
	}
	args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	var inside, empty []string
	pinned := map[string]bool{}
	hide := func(name string, words ...string) error {
		switch {
		case !wrappable(name):
			return errNotPlain
		case name == s.Path: // it is the sandbox's own, which can be written anyway
		case below(name, s.Path):
			// What is mounted cannot be renamed: else another could be put in the place of a directory above it.
			parts := strings.Split(strings.TrimPrefix(name, s.Path), "/")
			for i := range parts[2:] {
				if dir := s.Path + strings.Join(parts[:i+2], "/"); !pinned[dir] {
					pinned[dir] = true
					inside = append(inside, "--bind", dir, dir)
				}
			}
			inside = append(inside, words...)
		case !belowAny(name, empty):
			args = append(args, words...)
		}
		return nil
	}
	for _, dir := range slices.Concat([]string{"/tmp", "/var/tmp", "/run"}, b.Hide) {
		if err := hide(dir, "--tmpfs", dir); err != nil {
			return nil, err
		}
		if !within(dir, s.Path) {
			empty = append(empty, dir)
		}
	}
	for _, name := range b.HideFiles {
		if err := hide(name, "--ro-bind", "/dev/null", name); err != nil {
			return nil, err
		}
	}
	// Names are looked up through a file that often lies in /run.
	args = append(args, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve", "--ro-bind-try", "/run/resolvconf", "/run/resolvconf")
	args = append(append(args, "--bind", s.Path, s.Path), inside...)
	args = append(args, "--chdir", s.Path, "--setenv", "TMPDIR", s.Path)
	for _, name := range agentVariables {
		args = append(args, "--unsetenv", name)
	}
	args = append(args, isolation...)
	if b.NoNetwork {
		args = append(args, "--unshare-net")
	}
	return args, nil
}

// belowAny reports whether a path lies in one of the directories.
func belowAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return below(p, dir) })
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
	words := append([]string{cmp.Or(b.At, "bwrap")}, args...)
	if b.Keys {
		words = slices.Concat([]string{"env", "--ignore-signal=INT,QUIT"}, words, []string{"env", "--default-signal=INT,QUIT"})
	}
	return inFront(p, words)
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
