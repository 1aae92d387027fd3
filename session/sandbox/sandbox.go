package sandbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// maxPath is the longest path that a sandbox may have, in bytes. Linux takes no path of more than 4095.
const maxPath = 4095

// maxQuoted bounds what a message repeats of what a caller gave.
const maxQuoted = 200

// Errors that callers tell apart.
var (
	// ErrOutside is wrapped by errors about a directory that is not in the sandbox.
	ErrOutside = errors.New("sandbox: outside")
	// ErrInactive is wrapped by errors about a sandbox that was switched off.
	ErrInactive = errors.New("sandbox: not active")
)

// Sandbox is a directory on a host in which a principal may work. A principal may have several on one host. The zero
// Sandbox is not valid.
type Sandbox struct {
	ID        string
	Principal string // "agent/mcp"
	Host      string // the host's name in the inventory
	Label     string // for people
	Path      string // absolute and clean; never "/" and never below /proc, /sys or /dev
	Active    bool
	NoNetwork bool // programs in it must have no network at all
}

// Validate says everything that is wrong with s, joined.
func (s Sandbox) Validate() error {
	var all []error
	add := func(format string, args ...any) { all = append(all, fmt.Errorf("sandbox: "+format, args...)) }
	for _, f := range []struct{ name, value string }{{"principal", s.Principal}, {"host", s.Host}} {
		if f.value == "" {
			add("the %s is missing", f.name)
		}
	}
	for _, f := range []struct{ name, value string }{{"id", s.ID}, {"principal", s.Principal}, {"host", s.Host}, {"label", s.Label}} {
		if !plain(f.value) {
			add("the %s holds control characters, or is not UTF-8", f.name)
		}
	}
	if why := wrongPath(s.Path); why != "" {
		add("the path %q %s", printable.Clip(s.Path, maxQuoted), why)
	}
	return errors.Join(all...)
}

// wrongPath says why a path can be no sandbox; "" if it can.
func wrongPath(p string) string {
	switch {
	case p == "":
		return "is empty: name a directory"
	case !plain(p):
		return "holds control characters, or is not UTF-8"
	case p[0] != '/':
		return "is not absolute: begin it with /"
	case len(p) > maxPath:
		return fmt.Sprintf("is longer than %d bytes", maxPath)
	case p == "/":
		return "is the whole host: name a directory below it"
	case path.Clean(p) != p:
		return fmt.Sprintf("is not clean: write %q", printable.Clip(path.Clean(p), maxQuoted))
	case within(p, "/proc"), within(p, "/sys"), within(p, "/dev"):
		return "belongs to the kernel, not to files"
	}
	return ""
}

// Resolve returns the directory that dir means in the sandbox, by its text alone: "" is the sandbox itself, and a relative
// one starts there. What leads outside is refused with an error that wraps [ErrOutside]; where symbolic links lead is for a
// [Resolver] to say.
func (s Sandbox) Resolve(dir string) (string, error) {
	if !s.Active {
		return "", fmt.Errorf("%w: %s on %s was switched off by its operator", ErrInactive, s.name(), s.Host)
	}
	if why := wrongPath(s.Path); why != "" {
		return "", fmt.Errorf("sandbox: %s on %s: its path %s", s.name(), s.Host, why)
	}
	if !plain(dir) || len(dir) > maxPath {
		return "", fmt.Errorf("sandbox: the directory is too long, holds control characters, or is not UTF-8")
	}
	abs := path.Clean(dir)
	if !strings.HasPrefix(dir, "/") {
		abs = path.Join(s.Path, dir)
	}
	if !within(abs, s.Path) {
		return "", fmt.Errorf("%w: %q is %s, which is not in %s; give a directory below it, or one relative to it", ErrOutside, printable.Clip(dir, maxQuoted), printable.Clip(abs, maxQuoted), s.Path)
	}
	return abs, nil
}

func (s Sandbox) name() string {
	if s.Label != "" {
		return s.Label
	}
	return s.Path
}

// within reports whether a clean absolute path is dir, or lies below it.
func within(p, dir string) bool { return p == dir || below(p, dir) }

func below(p, dir string) bool {
	return strings.HasPrefix(p, dir) && len(p) > len(dir) && (dir == "/" || p[len(dir)] == '/')
}

// plain reports whether a text can be shown as it is.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}
