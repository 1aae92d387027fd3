package judge

import (
	"strings"

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
	return len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' || programs.Is(name, "plainvariable") || madeUpName(name)
}

// madeUpName reports whether a name is of two lower-case words or more, as scripts call their own variables. Only a few of that form have
// a meaning to anything: those of zsh, with its lists of hooks, and settings of proxies and of npm. Fairlead's own begin with an underscore.
func madeUpName(name string) bool {
	first, last, ok := strings.Cut(name, "_")
	if !ok || first == "" || last == "" || name[0] < 'a' || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return !strings.HasSuffix(name, "_proxy") && !strings.HasSuffix(name, "_functions") && !programs.Is(first, "meantvariable") && !programs.Is(name, "meantvariable")
}
