package reach

import (
	"cmp"
	"strconv"
	"strings"
)

// newer reports whether a version comes after another, by the rules of semver.org with a v in front, as Go modules have
// them. Of what is no such version, as that of a program built from changed files, nothing is known: it is not newer, and
// nothing is newer than it.
func newer(a, b string) bool {
	x, okA := parseVersion(a)
	y, okB := parseVersion(b)
	if !okA || !okB {
		return false
	}
	for i := range x.core {
		if c := cmp.Compare(x.core[i], y.core[i]); c != 0 {
			return c > 0
		}
	}
	switch {
	case len(x.pre) == 0 || len(y.pre) == 0:
		return len(x.pre) == 0 && len(y.pre) > 0 // a release comes after what was before it
	}
	for i := range min(len(x.pre), len(y.pre)) {
		if c := comparePart(x.pre[i], y.pre[i]); c != 0 {
			return c > 0
		}
	}
	return len(x.pre) > len(y.pre)
}

// release is a version: three numbers, and what stands behind the dash.
type release struct {
	core [3]uint64
	pre  []string
}

func parseVersion(text string) (r release, ok bool) {
	text, ok = strings.CutPrefix(text, "v")
	if !ok || len(text) > 200 {
		return r, false
	}
	text, _, _ = strings.Cut(text, "+")
	core, pre, dashed := strings.Cut(text, "-")
	parts := strings.Split(core, ".")
	if len(parts) != len(r.core) {
		return r, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return r, false
		}
		r.core[i] = n
	}
	if dashed {
		r.pre = strings.Split(pre, ".")
	}
	return r, true
}

// comparePart compares one part of what stands behind the dash: numbers come before words.
func comparePart(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 64)
	y, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(x, y)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return strings.Compare(a, b)
}
