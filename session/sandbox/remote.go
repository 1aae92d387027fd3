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

// resolveScript resolves its function's argument name by name, following links, and prints it with a NUL behind it; an
// empty one when it cannot be resolved. Everything is in a subshell, and needs no variable of the host's.
const resolveScript = `(PATH=/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin:$PATH QUOTING_STYLE=literal
_fl_r() {
_fl_t=$1 _fl_c= _fl_n=0
while :; do
case $_fl_t in ('') break;; (*/*) _fl_h=${_fl_t%%/*} _fl_t=${_fl_t#*/};; (*) _fl_h=$_fl_t _fl_t=;; esac
case $_fl_h in (''|.) continue;; (..) _fl_c=${_fl_c%/*}; continue;; esac
case $_fl_c/$_fl_h in (/proc|/dev/fd) printf '%s\0' "$_fl_c/$_fl_h/$_fl_t"; return;; esac
if test -h "$_fl_c/$_fl_h"; then
_fl_n=$((_fl_n+1))
if test "$_fl_n" -gt 40; then printf '\0'; return; fi
_fl_l=$(readlink -n "$_fl_c/$_fl_h" 2>/dev/null && printf .) || {
_fl_l=$(ls -ld "$_fl_c/$_fl_h" 2>/dev/null; printf .)
_fl_x=${_fl_l#*"$_fl_c/$_fl_h -> "}
case $_fl_x in ("$_fl_l") printf '\0'; return;; esac
_fl_l=${_fl_x%??}.
}
_fl_l=${_fl_l%.}
case $_fl_l in ('') printf '\0'; return;; (/*) _fl_c=;; esac
_fl_t=$_fl_l/$_fl_t
else _fl_c=$_fl_c/$_fl_h
fi
done
printf '%s\0' "${_fl_c:-/}"
}
`

// Resolve implements [Resolver]. Its errors name the host and never a path.
func (r Remote) Resolve(ctx context.Context, host, cwd string, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var b strings.Builder
	b.WriteString(resolveScript)
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
		b.WriteString("_fl_r " + word + "\n")
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
