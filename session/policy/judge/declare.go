package judge

import (
	"slices"
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
	if name == "local" && w.localVariables(c) {
		w.use(name)
		w.givesLocal(c)
		return
	}
	if name == "local" || name == "nameref" {
		w.raise(policy.Unknown, "builtins/"+name, "it changes variables of the session's shell")
	}
	w.use(name)
	if name == "export" && w.inertExport(c) && w.endsBehind() {
		w.fine("builtins/export", "the shell whose environment it changes ends with the command")
		return
	}
	if (name == "declare" || name == "typeset") && plainDeclaration(c) {
		w.declared(c)
		w.fine("builtins/"+name, "it sets variables that mean nothing to the shell or to programs")
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

// plainArray reports whether a list is one of words: a subscript is evaluated, and ksh93 takes assignments and declarations in a list for
// what a variable is made of.
func plainArray(list *syntax.ArrayExpr) bool {
	for i, e := range list.Elems {
		if e == nil || e.Index != nil || e.Value == nil || len(e.Value.Parts) == 0 {
			return false
		}
		l, _ := e.Value.Parts[0].(*syntax.Lit)
		if l != nil && (strings.IndexByte(l.Value, '=') >= 0 || i == 0 && builtin(e.Value.Lit()) != nil) {
			return false
		}
	}
	return true
}

// listAssigned notes the words of a list, each of which may be used as a path.
func (w *walker) listAssigned(a *syntax.Assign) {
	known := certain{name: a.Name.Value, kind: ofSomething, array: a.Array}
	if a.Append {
		known.array = nil // there are more
	}
	for _, e := range a.Array.Elems {
		for _, v := range w.appendArg(nil, e.Value) {
			w.secretOperand(v)
		}
		if slices.ContainsFunc(e.Value.Parts, expands) {
			known.array = nil // by the time that they are used, the same expansion may mean something else
		}
	}
	w.learn(known)
}

// plainDeclaration reports whether declare does what assignments do, to names that mean nothing. What looks like a list in quotes it
// evaluates.
func plainDeclaration(c *syntax.DeclClause) bool {
	names := 0
	for _, a := range c.Args {
		switch {
		case a == nil:
			return false
		case a.Naked && a.Name == nil:
			if a.Value == nil || a.Value.Lit() != "-a" || names > 0 {
				return false
			}
		case a.Name == nil || a.Append || a.Index != nil || !inertName(a.Name.Value) || a.Array != nil && !plainArray(a.Array),
			a.Value != nil && !steady(a.Value.Lit()):
			return false
		default:
			names++
		}
	}
	return names > 0
}

// declared judges what such a declaration sets.
func (w *walker) declared(c *syntax.DeclClause) {
	for _, a := range c.Args {
		if a.Name == nil {
			continue
		}
		w.remember(a)
		w.setsName(a.Name.Value)
		if a.Array != nil {
			w.listAssigned(a)
			continue
		}
		if a.Value != nil {
			for _, v := range w.appendArg(nil, a.Value) {
				w.secretOperand(v)
			}
		}
		w.learn(certain{name: a.Name.Value, kind: ofSomething})
	}
}

// mapfile judges the builtin of bash that fills a list with the lines of its input. -C runs code, and -u reads what else is open.
func (w *walker) mapfile(c call) {
	name, lines := "", false
	for i := 0; i < len(c.args); i++ {
		switch a := c.args[i]; {
		case !a.Literal || name != "":
			w.shapesSession(c)
			return
		case a.Text == "--":
		case a.Text == "-t":
			lines = true
		case a.Text == "-td" || a.Text == "-d":
			if i++; i == len(c.args) || !c.args[i].Literal {
				w.shapesSession(c)
				return
			}
		case (a.Text == "-n" || a.Text == "-s") && i+1 < len(c.args) && c.args[i+1].Literal && digits(c.args[i+1].Text):
			i++
		case inertName(a.Text):
			name = a.Text
		default:
			w.shapesSession(c)
			return
		}
	}
	if name == "" || !lines {
		w.shapesSession(c)
		return
	}
	w.setsName(name)
	w.learn(certain{name: name, kind: ofSomething})
	w.fine("builtins/"+c.name, "it fills a variable that means nothing to the shell or to programs")
}

// expands reports whether a part of a word is not as it is written, but for patterns.
func expands(p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return false
	case *syntax.DblQuoted:
		return slices.ContainsFunc(p.Parts, expands)
	}
	return true
}

// listWords returns the words of a list that the script has set, where "${list[@]}" is all that a loop goes through.
func (w *walker) listWords(words []*syntax.Word) ([]programs.Arg, bool) {
	if len(words) != 1 || len(words[0].Parts) != 1 {
		return nil, false
	}
	q, ok := words[0].Parts[0].(*syntax.DblQuoted)
	if !ok || q.Dollar || len(q.Parts) != 1 {
		return nil, false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Index == nil {
		return nil, false
	}
	if at, ok := p.Index.(*syntax.Word); !ok || at.Lit() != "@" {
		return nil, false
	}
	bare := *p
	bare.Index = nil
	if !plainParam(&bare) {
		return nil, false
	}
	known, ok := w.certainty(p.Param.Value)
	if !ok || known.array == nil {
		return nil, false
	}
	var all []*syntax.Word
	for _, e := range known.array.Elems {
		all = append(all, e.Value)
	}
	return w.args(all), true
}
