package framing

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/framing/hostcode"
)

// RefreshScript is a script that has a shell forget where it found programs, and prints what [Redefined] reads. It starts no process.
func RefreshScript(d Dialect) string { return hostcode.Fill(refreshText(), "dialect", d.String()) }

// Redefined reads what [RefreshScript] has printed, and reports whether words may mean something of the account's own in that shell: its
// start files define functions or aliases. prelude is [Shell].Prelude, whose functions do not count.
func Redefined(text, prelude string) bool {
	for line := range strings.Lines(text) {
		switch line = strings.TrimSuffix(line, "\n"); line {
		case "run-help=man", "which-command=whence": // zsh's own
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			return true
		}
		name := strings.TrimSuffix(words[len(words)-1], "()")
		own := strings.HasPrefix(name, "_fl_") || name != "" && strings.Contains("\n"+prelude, "\n"+name+"()")
		if len(words) != 1 && (len(words) != 3 || words[0] != "declare" || words[1] != "-f") || !own {
			return true
		}
	}
	return false
}
