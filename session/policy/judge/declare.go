package judge

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// declare judges export, declare, local and their like where the parser knows them as declarations.
func (w *walker) declare(c *syntax.DeclClause) {
	var words []programs.Arg
	for _, a := range c.Args {
		if a == nil {
			continue
		}
		w.assignment(a)
		switch {
		case a.Naked && a.Name == nil && a.Value != nil:
			words = w.appendArg(words, a.Value)
		case a.Name != nil:
			words = append(words, literal(a.Name.Value))
		default:
			words = append(words, programs.Arg{Split: true})
		}
	}
	name := "declare"
	if c.Variant != nil {
		name = c.Variant.Value
	}
	if name == "local" || name == "nameref" {
		w.raise(policy.Unknown, "builtins/"+name, "it changes variables of the session's shell")
	}
	w.use(name)
	if name == "export" && w.subshell > 0 && w.inertExport(c) {
		w.fine("builtins/export", "the shell whose environment it changes ends with the command")
		return
	}
	w.listing(call{name: name, args: words})
}

// inertExport reports whether an export gives values to nothing but what changes how programs write.
func (w *walker) inertExport(c *syntax.DeclClause) bool {
	for _, a := range c.Args {
		if a == nil || a.Name == nil || a.Value == nil || a.Append || a.Index != nil || a.Array != nil || !policy.Inert(a.Name.Value) || !w.inertAssign(a.Name.Value, a.Value) {
			return false
		}
	}
	return len(c.Args) > 0
}

// inertName knows names of variables that neither a shell nor a usual program gives a meaning to, for loops and read.
// It is a list of what is harmless: zsh alone ties meanings to path, prompt, status and dozens of others.
func inertName(name string) bool {
	return len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' || programs.Is(name, "plainvariable")
}
