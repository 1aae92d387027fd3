package rules

import (
	"path"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// notLed says of an option why a rule does not stand for it.
const notLed = "which leads to another host, root or service; * does not cover such options, so programs must name it"

// leads returns the option among the words behind the first ones that leads the program to another host than the rule is for, or to
// another root or service; "" is none. What the first ones name themselves is meant.
func leads(words []word, first int) string {
	if len(words) <= first {
		return ""
	}
	all := leadsOf(words, 0)
	if len(all) > len(leadsOf(words[:first], 0)) {
		return all[len(all)-1]
	}
	return ""
}

// leadsOf looks at a command and at what it is a wrapper for.
func leadsOf(words []word, depth int) []string {
	if len(words) == 0 || !words[0].literal || depth > 4 {
		return nil
	}
	args := make([]programs.Arg, len(words)-1)
	for i, w := range words[1:] {
		args[i] = programs.Arg{Text: w.text, Literal: w.literal, Source: w.text}
	}
	f := programs.Judge(programs.Call{Name: path.Base(words[0].text), Args: args})
	out := f.Leads
	for _, n := range f.Nested {
		inner := make([]word, len(n.Argv))
		for i, a := range n.Argv {
			inner[i] = word{text: a.Text, literal: a.Literal}
		}
		out = append(out, leadsOf(inner, depth+1)...)
	}
	return out
}
