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

// maxLinks is how many symbolic links are followed in one path, as by Linux (path_resolution(7)).
const maxLinks = 40

// Local resolves on this machine, whatever the name of the host. It sees no shell, and so cannot tell when one does not
// stand where it is thought to.
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
