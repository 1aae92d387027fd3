package judge

import (
	"slices"
	"strings"
)

// SecretPaths are patterns of absolute paths of files whose content is secret, and of names among them that are not meant. "**" is any
// number of directories.
type SecretPaths struct{ Patterns, Except []string }

// Secrets returns what the judge calls secret files by their path. What belongs to processes and open files is not among it.
func Secrets() (out []SecretPaths) {
	for _, e := range places().read.all {
		p := strings.Join(e.segs, "/")
		if strings.HasPrefix(p, "/proc/*") || strings.HasPrefix(p, "/dev/fd/") {
			continue
		}
		if last := len(out) - 1; last >= 0 && slices.Equal(out[last].Except, e.except) {
			out[last].Patterns = append(out[last].Patterns, p)
		} else {
			out = append(out, SecretPaths{[]string{p}, e.except})
		}
	}
	return out
}
