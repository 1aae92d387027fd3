// Package lacking finds out which program a host does not have from what its shell says.
package lacking

import (
	"slices"
	"strings"
)

// Program returns which of programs a shell has not found, in the C locale; "" is none. stderr is what it has said.
//
// dash and ksh93 say "NAME: not found", bash and busybox "NAME: command not found" or as dash, mksh "NAME: inaccessible or not found",
// zsh "command not found: NAME".
func Program(stderr string, programs ...string) string {
	for line := range strings.Lines(stderr) {
		line = strings.TrimRight(line, "\n")
		name := ""
		if before, ok := strings.CutSuffix(line, "not found"); ok {
			for _, how := range []string{"command ", "inaccessible or "} {
				before = strings.TrimSuffix(before, how)
			}
			before, ok = strings.CutSuffix(before, ": ")
			if name = before[strings.LastIndexByte(before, ' ')+1:]; !ok {
				continue
			}
		} else if at := strings.LastIndex(line, "command not found: "); at >= 0 {
			name = line[at+len("command not found: "):]
		}
		if slices.Contains(programs, name) {
			return name
		}
	}
	return ""
}
