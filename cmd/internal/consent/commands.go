package consent

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Commands is what a request runs, for people: the script that all hosts get, or that of each under the names of its hosts. Lines
// of scripts are indented then, and those of names are not. A nil each is the same for all.
func Commands(hs []hosts.Host, all string, each func(hosts.Host) string) string {
	if each == nil {
		return all
	}
	var order []string
	names := map[string][]string{}
	for i, label := range targets.Labels(hs) {
		text := each(hs[i])
		if names[text] == nil {
			order = append(order, text)
		}
		names[text] = append(names[text], label)
	}
	if len(order) == 1 {
		return order[0]
	}
	var b strings.Builder
	for _, text := range order {
		b.WriteString(hosts.Fold(names[text]) + ":\n")
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}
