package cp

import (
	"path/filepath"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// endpoint is one argument: a path here, or one on the hosts that a selector picks.
type endpoint struct {
	targets string // "" is here
	path    string
}

// parseEndpoint takes SELECTOR:PATH apart. A colon behind the first slash is a part of a path, and so is one in brackets of
// a selector; digits between two colons are a port.
func parseEndpoint(text string) endpoint {
	depth := 0
	for i, c := range text {
		switch c {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case '/':
			if depth <= 0 {
				return endpoint{path: text}
			}
		case ':':
			if depth > 0 || i == 0 {
				continue
			}
			rest := text[i+1:]
			if port, more, ok := strings.Cut(rest, ":"); ok && port != "" && strings.Trim(port, "0123456789") == "" {
				return endpoint{text[:i+1+len(port)], more}
			}
			return endpoint{text[:i], rest}
		}
	}
	return endpoint{path: text}
}

func (e endpoint) far() bool { return e.targets != "" }

func (e endpoint) String() string {
	if e.far() {
		return e.targets + ":" + e.path
	}
	return e.path
}

// endpoints sorts the arguments of cp.
func endpoints(args []string) (src []endpoint, dst endpoint, err error) {
	if len(args) < 2 {
		return nil, dst, cmdutil.Usagef("cp needs SRC and DST: fairlead cp app.conf web1:/etc/app.conf")
	}
	for _, a := range args[:len(args)-1] {
		if a == "" {
			return nil, dst, cmdutil.Usagef("a source is empty")
		}
		src = append(src, parseEndpoint(a))
	}
	if dst = parseEndpoint(args[len(args)-1]); dst == (endpoint{}) {
		return nil, dst, cmdutil.Usagef("the destination is empty")
	}
	far := 0
	for _, s := range src {
		if s.far() {
			far++
		}
	}
	switch {
	case far > 0 && far < len(src):
		return nil, dst, cmdutil.Usagef("sources are all here or all on hosts; %s and %s are not", src[0], src[len(src)-1])
	case far == 0 && !dst.far():
		return nil, dst, cmdutil.Usagef("neither %s nor %s names a host: write HOST:PATH (a file here whose name has a colon: ./a:b)", src[0], dst)
	case far > 1:
		return nil, dst, cmdutil.Usagef("cp takes one source on a host: run it once for each, or use a pattern, as 'web1:/var/log/*.log'")
	}
	return src, dst, nil
}

// merges reports whether a source here is one whose contents are meant: a directory with a slash behind it.
func merges(path string) bool {
	return strings.HasSuffix(path, string(filepath.Separator)) && len(path) > 1
}

// mergesThere is merges for a source on a host.
func mergesThere(path string) bool { return strings.HasSuffix(path, "/") && len(path) > 1 }
