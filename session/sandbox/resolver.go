package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
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
var ErrMoved = errors.New("sandbox: the shell does not stand in its directory any more")

// maxLinks is how many symbolic links are followed in one path, as by Linux (path_resolution(7)).
const maxLinks = 40

// Local resolves on this machine, whatever the name of the host. It sees no shell, and so cannot tell when one does not
// stand where it is thought to: for commands of a shell that lives on, take a [Remote] in that shell.
type Local struct{}

var _ Resolver = Local{}

// Resolve implements [Resolver].
func (Local) Resolve(ctx context.Context, _, cwd string, paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, ctxerr.Of(ctx)
		}
		if !strings.HasPrefix(p, "/") {
			p = cwd + "/" + p
		}
		var err error
		if out[i], err = follow(p, os.Readlink); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var errLoop = errors.New("sandbox: a path has too many symbolic links, or a loop of them")

// follow walks an absolute path name by name. What is behind never holds a link, so ".." takes its last name off.
func follow(p string, readlink func(string) (string, error)) (string, error) {
	if !strings.HasPrefix(p, "/") {
		return "", errors.New("sandbox: a path to resolve is not absolute")
	}
	done, links := "", 0
	for rest := p; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			done = done[:max(strings.LastIndexByte(done, '/'), 0)]
			continue
		}
		at := done + "/" + name
		if at == "/proc" || at == "/dev/fd" {
			return strings.TrimSuffix(at+"/"+rest, "/"), nil
		}
		to, err := readlink(at)
		switch {
		case err != nil: // no link, or not there, or not to be seen
			done = at
			continue
		case to == "":
			return "", fmt.Errorf("sandbox: a symbolic link without a target")
		}
		if links++; links > maxLinks {
			return "", errLoop
		}
		if to[0] == '/' {
			done = ""
		}
		rest = to + "/" + rest
	}
	if done == "" {
		return "/", nil
	}
	return path.Clean(done), nil
}
