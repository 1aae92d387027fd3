package rules

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// plainWriter knows the calls of which paths alone say enough: programs that do nothing but change the files that they
// name. It leaves out what opens connections, unpacks archives, or makes links: through a link the next command would
// write elsewhere.
func plainWriter(words []word) bool {
	name := path.Base(words[0].text) // of a word that is not literal, which has no text, it is "."
	if !sameProgram(name, words[0].text) {
		return false
	}
	if name != "cp" {
		return programs.Is(name, "writer")
	}
	// With other options it copies links as links, such as those below /proc that lead anywhere.
	for _, w := range words[1:] {
		if !w.literal || strings.HasPrefix(w.text, "-") && strings.Trim(w.text[1:], "fvnpui") != "" {
			return false
		}
	}
	return true
}
