package framing

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// RefreshScript is a script that has a shell forget where it found programs, and prints what [Redefined] reads. It starts no process.
func RefreshScript(d Dialect) string {
	functions := ""
	if d == Bash {
		functions = `\builtin declare -F`
	}
	return hostcode.Fill(refreshText(), "functions", functions)
}

// ForgetScript is [RefreshScript] for any shell, and prints nothing.
func ForgetScript() string { return hostcode.Fill(refreshText(), "functions", "") }

// Redefined reads what [RefreshScript] has printed in a shell that is no login shell, and reports whether names of programs may mean
// functions of the account's there. prelude is [Shell].Prelude, whose functions do not count.
func Redefined(text, prelude string) bool {
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "declare -f ")
		if !ok || !strings.HasPrefix(name, "_fl_") && !slices.Contains(strings.Fields(prelude), name+"()") {
			return true
		}
	}
	return false
}
