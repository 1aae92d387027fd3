package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/owned"
)

// maxPath is how long the name of a socket may be on Linux and macOS: sun_path with its NUL has 108 and 104 bytes
// (unix(7), <sys/un.h>).
const maxPath = 103

// Places is where a keeper and its callers meet.
type Places struct {
	Socket string // the unix socket; its directory belongs to the account alone
	Log    string // where a keeper that nobody watches says what is wrong
}

// FindPlaces returns them for an environment: the socket in $XDG_RUNTIME_DIR/fairlead, else in a directory under the
// state directory.
func FindPlaces(getenv func(string) string) (Places, error) {
	state := getenv("XDG_STATE_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(state) && filepath.IsAbs(home) {
		state = filepath.Join(home, ".local", "state")
	}
	run := getenv("XDG_RUNTIME_DIR")
	switch {
	case filepath.IsAbs(run):
		run = filepath.Join(run, "fairlead")
	case filepath.IsAbs(state):
		run = filepath.Join(state, "fairlead", "run")
	default:
		return Places{}, errors.New("keeper: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME to a directory")
	}
	p := Places{Socket: filepath.Join(run, "keeper.sock"), Log: filepath.Join(run, "keeper.log")}
	if filepath.IsAbs(state) {
		p.Log = filepath.Join(state, "fairlead", "keeper.log")
	}
	if len(p.Socket) > maxPath {
		return Places{}, fmt.Errorf("keeper: the name of the socket, %s, is longer than the %d bytes that the system takes: set XDG_RUNTIME_DIR to a shorter directory", p.Socket, maxPath)
	}
	return p, nil
}

// ID is what a store knows the keeper at this place by. No other lives there at the same time: the lock sees to it.
func (p Places) ID() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("keeper: this machine has no name: %w", err)
	}
	return host + ":" + p.Socket, nil
}

// makeDir makes the directory of the socket for this account alone, and refuses one that others own or may enter.
func (p Places) makeDir() error {
	dir := filepath.Dir(p.Socket)
	if err := owned.Check(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keeper: cannot make a directory for the socket: %w", err)
	}
	return private(dir)
}

// private reports why a directory is not this account's alone.
func private(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("keeper: cannot look at the socket's directory: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.IsDir():
		return fmt.Errorf("keeper: %s is not a directory: remove it", dir)
	case !ok || int(sys.Uid) != os.Geteuid():
		return fmt.Errorf("keeper: %s belongs to another account: remove it or set XDG_RUNTIME_DIR", dir)
	case st.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("keeper: %s may be entered by other accounts (mode %o): chmod 700 it", dir, st.Mode().Perm())
	}
	return nil
}

// gone reports that nobody is behind a socket: there is no file, or a dead process has left it.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// HowToEnd says how to end a keeper that does not answer: whoever listens is known to the system.
func (p Places) HowToEnd() string {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		return ""
	}
	defer c.Close()
	if _, pid, err := PeerOf(c); err == nil && pid > 0 {
		return fmt.Sprintf(": kill -9 %d ends it and what it holds", pid)
	}
	return ""
}

// AwaitEnd waits until nothing is left of a keeper that ends. One of an earlier version holds only the lock beside its socket.
func (p Places) AwaitEnd(ctx context.Context) error {
	for _, path := range []string{p.Claim(), filepath.Join(filepath.Dir(p.Socket), servingLock)} {
		l, err := takeLock(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its directory was removed, and the lock with it
		}
		if err != nil {
			return err
		}
		l.release()
	}
	return nil
}
