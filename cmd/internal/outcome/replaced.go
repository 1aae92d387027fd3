package outcome

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
)

// states are the parts of a shell's state that a new shell may get, in the words of Result.Restored and in ours. A umask
// and variables that are missing there were as the new shell has them.
var states = []struct{ name, words string }{
	{"cwd", "directory"}, {"umask", "umask"}, {"env", "exported variables"},
}

// Replaced tells a person that the command ran in a new shell of its session: why, what of the old one's state it has, and
// what is lost. "" if the shell was the one before.
func Replaced(host string, r session.Result) string {
	if !r.ShellRestarted && !r.Reconnected {
		return ""
	}
	why := "the shell had ended, and was restarted"
	if r.Reconnected {
		why = "the connection was lost; reconnected with a new shell"
	}
	var kept, lost []string
	for _, s := range states {
		if slices.Contains(r.Restored, s.name) {
			kept = append(kept, s.words)
		}
	}
	if !slices.Contains(r.Restored, "cwd") {
		lost = append(lost, "directory")
	}
	lost = append(lost, "functions", "aliases", "shell options", "variables that were not exported")
	text := fmt.Sprintf("fairlead: %s: %s", host, why)
	if len(kept) > 0 {
		text += "; restored: " + strings.Join(kept, ", ")
	}
	if slices.Contains(r.Restored, session.RestoredStale) {
		text += " (umask and variables are those from before the last command that may have changed them)"
	}
	return text + "; lost: " + strings.Join(lost, ", ") + "\n"
}
