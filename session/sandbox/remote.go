package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
)

// Runner runs a script of ours in a POSIX shell on a host, in which nothing of a principal's has run, as the account that
// the principal's commands run as, and returns what it printed on its standard output, exactly. ctx bounds it.
type Runner func(ctx context.Context, host, script string) (stdout string, err error)

// Remote resolves on the host, with one command there that changes nothing: shell builtins, and readlink, or ls where
// there is no readlink, for each symbolic link on the way.
type Remote struct {
	Run Runner

	// Here says that Run runs in the very shell that takes the command next, or in one that stands where that one does.
	// Whether it still stands in the directory that it names is then looked at too: other commands may have moved it.
	Here bool
}

var _ Resolver = Remote{}

// Resolve implements [Resolver]. Its errors name the host and never a path.
func (r Remote) Resolve(ctx context.Context, host, cwd string, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var b strings.Builder
	b.WriteString("(" + resolveText() + "\n")
	if r.Here && cwd != "" {
		word, err := framing.Quote(cwd)
		if err != nil {
			return nil, fmt.Errorf("sandbox: the directory on %s cannot be passed: %w", host, err)
		}
		b.WriteString("test . -ef " + word + " || { printf M; exit 0; }\n")
	}
	for _, p := range paths {
		if !strings.HasPrefix(p, "/") {
			p = cwd + "/" + p
		}
		if !strings.HasPrefix(p, "/") {
			return nil, errors.New("sandbox: a path to resolve is not absolute")
		}
		word, err := framing.Quote(p)
		if err != nil {
			return nil, fmt.Errorf("sandbox: a path to resolve on %s cannot be passed: %w", host, err)
		}
		b.WriteString(resolveName + " " + word + "\n")
	}
	b.WriteString("printf E)")
	said, err := r.Run(ctx, host, b.String())
	if err != nil {
		return nil, fmt.Errorf("sandbox: %s was asked where paths lead and did not say: %w", host, err)
	}
	if said == "M" && r.Here {
		return nil, ErrMoved
	}
	out := strings.Split(said, "\x00")
	if len(out) != len(paths)+1 || out[len(paths)] != "E" {
		return nil, fmt.Errorf("sandbox: %s was asked where paths lead and gave an answer that makes no sense; is its shell a POSIX shell?", host)
	}
	out = out[:len(paths)]
	for i, p := range out {
		if p == "" {
			return nil, errLoop
		}
		if !strings.HasPrefix(p, "/") {
			return nil, fmt.Errorf("sandbox: %s was asked where paths lead and gave an answer that makes no sense; is its shell a POSIX shell?", host)
		}
		if p != "/" {
			out[i] = strings.TrimSuffix(p, "/")
		}
	}
	return out, nil
}
