package sandbox

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// MinLandlock is the version of Landlock's interface from which on files outside cannot be cut short (Linux 6.2).
const MinLandlock = 3

// Landlock starts shells on this machine behind Linux's Landlock (landlock(7)) and a seccomp filter (seccomp(2)): files and
// directories can be created, written, renamed and removed in the sandbox only, what is hidden cannot be read, and from
// version 6 on processes outside cannot be signalled. It cannot be taken off, and what the shell starts inherits it.
//
// Landlock's oldest supported versions have no right for unix sockets, and no version has one for their addresses, so the
// filter refuses to make them at all: neither a socket's file nor an abstract name can be connected to. Pairs of sockets
// (socketpair) work. With NoNetwork the filter refuses every other kind of socket too.
//
// To hide a directory, everything beside it is allowed one by one. So the directories above what is hidden cannot be listed,
// and what is made beside it later cannot be read. Modes, owners and times of files that belong to the account are not
// covered. The shell has no capabilities. TMPDIR is the sandbox; /tmp cannot be written.
type Landlock struct {
	// Helper is the command line of a program that calls [Confine] with the words behind it: the sandbox's path first, then
	// options of ours and the command to run. Its words must need no quotes.
	Helper    []string
	NoNetwork bool
	Hide      []string // directories, files and sockets that cannot be read: absolute, and not in the sandbox
}

// The options of a helper, between the sandbox's path and the command.
const (
	hideOption      = "--hide="
	noNetworkOption = "--no-network"
)

var errHidesInside = errors.New("sandbox: Landlock cannot hide what lies in the sandbox itself")

// Program returns p as it is to be started for a session in the sandbox, as [Bubblewrap.Program] does.
func (l Landlock) Program(s Sandbox, p session.Program) (session.Program, error) {
	words := append(append([]string{}, l.Helper...), s.Path)
	for _, name := range l.Hide {
		if within(name, s.Path) {
			return p, errHidesInside
		}
		words = append(words, hideOption+name)
	}
	if l.NoNetwork {
		words = append(words, noNetworkOption)
	}
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

// confinement is what a helper's words say.
type confinement struct {
	dir       string
	noNetwork bool
	hide      []string
	argv      []string
}

func readConfinement(dir string, argv []string) (c confinement, err error) {
	if why := wrongPath(dir); why != "" {
		return c, fmt.Errorf("sandbox: the path %q %s", printable.Clip(dir, maxQuoted), why)
	}
	c.dir = dir
	for ; len(argv) > 0; argv = argv[1:] {
		name, hides := strings.CutPrefix(argv[0], hideOption)
		switch {
		case hides && !strings.HasPrefix(name, "/"):
			return c, fmt.Errorf("sandbox: the hidden path %q is not absolute", printable.Clip(name, maxQuoted))
		case hides:
			c.hide = append(c.hide, name)
		case argv[0] == noNetworkOption:
			c.noNetwork = true
		case strings.HasPrefix(argv[0], "-"):
			return c, fmt.Errorf("sandbox: the option %q is not known", printable.Clip(argv[0], maxQuoted))
		default:
			c.argv = argv
			return c, nil
		}
	}
	return c, errors.New("sandbox: there is no command to run in the sandbox")
}
