package rules

import (
	"path"
	"slices"
	"strings"
)

// plainWriter knows the calls of which paths alone say enough: programs that do nothing but change the files that they
// name. It leaves out what opens connections, unpacks archives, or makes links: through a link the next command would
// write elsewhere.
func plainWriter(words []word) bool {
	if len(words) == 0 || !words[0].literal || !sameProgram(path.Base(words[0].text), words[0].text) {
		return false
	}
	name := path.Base(words[0].text)
	if slices.Contains(plainWriters, name) {
		return true
	}
	if name == "cp" {
		// With other options it copies links as links, such as those below /proc that lead anywhere.
		for _, w := range words[1:] {
			if !w.literal || strings.HasPrefix(w.text, "-") && strings.Trim(w.text[1:], "fvnpui") != "" {
				return false
			}
		}
		return true
	}
	return false
}

var plainWriters = []string{
	"touch", "mkdir", "rmdir", "rm", "unlink", "mv", "tee", "truncate", "chmod", "chown", "chgrp", "mkfifo",
	"sed", "sort", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd",
}
