package judge

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// climbs reports whether a path goes up from something that it names. Where that is a symbolic link, the kernel goes up
// from what the link leads to: such a path is known only on the host.
func climbs(p string) bool {
	named := false
	for s := range strings.SplitSeq(p, "/") {
		switch {
		case s == "..":
			if named {
				return true
			}
		case s != "" && s != ".":
			named = true
		}
	}
	return false
}

// afterUp is what a path names behind its last "..", relative to nobody knows what; "" where it never goes up.
func afterUp(p string) string {
	segs := strings.Split(p, "/")
	for i := len(segs) - 1; i >= 0; i-- {
		if segs[i] == ".." {
			return strings.TrimLeft(strings.Join(segs[i+1:], "/"), "/")
		}
	}
	return ""
}

// upFromALink asks where a path that is read goes up from something that may be a link.
func (w *walker) upFromALink(a programs.Arg) {
	if s := w.shapeOf(a); !w.resolved && (climbs(s.wild) || climbs(s.likely)) {
		w.raise(policy.Unknown, "paths/unknown", "where a .. behind a name leads is known only on the host")
	}
}

// throughLink knows directories that are links on most systems, so that going up from them leads elsewhere.
func throughLink(dir string) bool {
	for _, link := range [...]string{"/var/run", "/var/lock", "/bin", "/sbin", "/lib", "/lib64", "/proc"} {
		if rest, ok := strings.CutPrefix(dir, link); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// endings are all ends of a path at its slashes, the whole included.
func endings(p string) []string {
	var out []string
	for p != "" && len(out) < maxDepth {
		out = append(out, p)
		_, p, _ = strings.Cut(p, "/")
	}
	return out
}
