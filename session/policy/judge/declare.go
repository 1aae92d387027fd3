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
	w.declareWords(call{name: name, args: words})
}

// inertName knows names of variables that neither a shell nor a usual program gives a meaning to, for loops and read.
// It is a list of what is harmless: zsh alone ties meanings to path, prompt, status and dozens of others.
func inertName(name string) bool {
	if len(name) == 1 {
		return name[0] >= 'a' && name[0] <= 'z'
	}
	switch name {
	case "file", "files", "f1", "f2", "dir", "host", "hosts", "svc", "service", "unit", "pod", "ns", "node", "name", "line",
		"item", "log", "logfile", "port", "pid", "disk", "dev", "iface", "container", "cid", "id", "img", "image", "key", "val",
		"value", "db", "table", "user", "group", "pkg", "package", "mod", "num", "idx", "elem", "entry", "word", "url", "ip", "addr",
		"bin", "cmd", "prog", "tool", "conf", "cfg", "rest", "count", "proc", "mount", "mnt", "vol", "zone", "domain":
		return true
	}
	return false
}
