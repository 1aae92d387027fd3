package pipe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// longestSocket is how long the path of a socket can be on every system: 103 bytes on macOS, 107 on Linux (unix(7)).
const longestSocket = 103

// ownersOnly is the mode of a socket that is listened on: what ssh gives it, where StreamLocalBindMask is not set.
const ownersOnly = 0o600

// listenSocket listens on a socket in the file system, which only the account itself can connect to. With unlink a socket that is there
// already gives way. The file goes with the listener.
func listenSocket(path string, unlink bool) (net.Listener, error) {
	if len(path) > longestSocket {
		return nil, fmt.Errorf("the path of a socket has at most %d bytes, and this one has %d", longestSocket, len(path))
	}
	if info, err := os.Lstat(path); unlink && err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := private.Listen(context.Background(), "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, ownersOnly); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// errTaken says that a file is where a socket was to be.
var errTaken = errors.New("a file of that name is there: remove it; a socket gives way with --unlink, or with StreamLocalBindUnlink yes in ssh_config")
