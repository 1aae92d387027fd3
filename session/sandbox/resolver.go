package sandbox

import (
	"context"
	"errors"
)

// Resolver says where paths lead on a host, as the host's kernel would follow them: through symbolic links, and ".."
// after them. What does not exist yet counts as a plain name, so the result is where it would come to be.
//
// Relative paths begin at cwd, which is absolute, or "" when nobody knows where the command's shell stands. An
// implementation that can see that shell reports [ErrMoved] when it does not stand in cwd. The results are absolute, one for each path, in order. A path that
// passes through /proc or /dev/fd, on the way of a link too, leads to wherever the process that asks has something open:
// the result is that path, from there on unresolved. An error means that nothing is known. Implementations may be called
// concurrently.
type Resolver interface {
	Resolve(ctx context.Context, host, cwd string, paths []string) ([]string, error)
}

// ErrMoved is wrapped when the command's shell does not stand where it is thought to: its directory was moved, or a link on
// the way to it leads elsewhere by now.
var ErrMoved = errors.New("sandbox: the shell is no longer in its directory")

var errLoop = errors.New("sandbox: a path has too many symbolic links, or a loop of them")
