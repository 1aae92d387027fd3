package judge

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Scripts define functions for themselves: a headline, a check that they make of several services. Such a function is judged where it is
// called, with the words that it is called with, as if its body stood there. It must be one of which it is certain what a call means:
// defined once, by a statement of its own, under a name that nothing else has.

// helpersOf returns the functions of a file that are judged where they are called.
func (w *walker) helpersOf(file *syntax.File) []*syntax.FuncDecl {
	var all []*syntax.FuncDecl
	for _, s := range file.Stmts {
		c, ok := s.Cmd.(*syntax.FuncDecl)
		if ok && !s.Background && !s.Coprocess && !s.Disown && !s.Negated && len(s.Redirs) == 0 && w.helper(c) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	defined := map[string]int{}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.FuncDecl); ok {
			for _, name := range append(slices.Clone(c.Names), c.Name) {
				if name != nil {
					defined[name.Value]++
				}
			}
		}
		return true
	})
	return slices.DeleteFunc(all, func(c *syntax.FuncDecl) bool { return defined[c.Name.Value] > 1 })
}

// helper reports whether a definition means the same to all shells that may read it, and whether its body leaves the loops alone that it
// is called in.
func (w *walker) helper(c *syntax.FuncDecl) bool {
	if maybeZsh(w.shell) || c.Name == nil || len(c.Names) > 0 || c.RsrvWord && w.shell != "bash" || !c.Parens && !c.RsrvWord ||
		!w.helperName(c.Name.Value) || c.Body == nil || len(c.Body.Redirs) > 0 || callsItself(c.Body, c.Name.Value) {
		return false
	}
	if _, ok := c.Body.Cmd.(*syntax.Block); !ok {
		return false
	}
	plain := true
	defer func(shapes map[string]shape) { w.shapes = shapes }(w.shapes)
	w.shapes = nil // words within it mean nothing yet
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			plain = false
		case *syntax.CallExpr:
			plain = plain && !slices.ContainsFunc(w.args(n.Args), func(a programs.Arg) bool {
				return a.Text == "break" || a.Text == "continue"
			})
		}
		return plain
	})
	return plain
}

// helperName reports whether a name has no meaning but that which a script gives it: neither to a shell, as a builtin, a keyword or a
// hook, nor as a program. The few programs and builtins of zsh that are headlines and wrappers in half of all scripts mean those where
// the script defines them. In the Korn shells, letters are aliases.
func (w *walker) helperName(name string) bool {
	if len(name) > 64 || strings.Contains(name, "_") && !madeUpName(name) || len(name) == 1 && (name == "r" || w.shell != "bash" && w.shell != "dash") {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9' || i == 0) && (c != '_' || i == 0) {
			return false
		}
	}
	switch name {
	case "log", "info", "run":
		return true
	}
	return name != "" && !programs.Has(name) && builtin(name) == nil && !isKeyword(name)
}

func isKeyword(name string) bool {
	switch name {
	case "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "time", "coproc", "select",
		"function", "foreach", "end", "repeat":
		return true
	}
	return false
}

// defines notes the definition of a helper, from which on it can be called. It shapes the shell, which is to end behind the script.
func (w *walker) defines(c *syntax.FuncDecl) bool {
	if !slices.Contains(w.helpers, c) || slices.Contains(w.functions, c.Name.Value) || !w.endsBehind() {
		return false
	}
	w.sets(c.Name)
	w.functions = append(w.functions, c.Name.Value)
	w.defined = append(slices.Clip(w.defined), c)
	w.worstOf(c.Body)
	w.fine("shell/function", "it defines a function of its own, which is judged where it is called")
	return true
}

// worstOf judges a body for what no call of it can make harmless, also where something calls it that is known only when it runs.
func (w *walker) worstOf(body *syntax.Stmt) {
	outer, acc, p := *w, *w.account, Part{Class: policy.ReadOnly}
	acc.values = maps.Clone(acc.values)
	w.account, w.cur, w.facts, w.subst, w.sure, w.shapes, w.calling, w.given = &acc, &p, &facts{}, nil, nil, nil, nil, nil
	w.stmt(body)
	*w = outer
	w.parts, w.capped, w.patterns = acc.parts, w.capped || acc.capped, acc.patterns
	if p.Class.Worse(policy.Unknown) {
		w.raise(p.Class, p.Rule, p.Reason)
	}
}

// definition returns the helper that a name means here.
func (w *walker) definition(name string) *syntax.FuncDecl {
	i := slices.IndexFunc(w.defined, func(c *syntax.FuncDecl) bool { return c.Name.Value == name })
	if i < 0 {
		return nil
	}
	return w.defined[i]
}

// callsHelper judges a call of a helper, and reports whether it is one.
func (w *walker) callsHelper(head programs.Arg, args []programs.Arg) bool {
	c := w.definition(head.Text)
	if c == nil || w.started || head.Source != head.Text {
		return false
	}
	if slices.Contains(w.calling, c) {
		w.raise(policy.Unknown, "shell/function", "a function that calls itself may never end")
		return true
	}
	before, given := w.sure, w.given
	if w.given = args; slices.ContainsFunc(args, func(a programs.Arg) bool { return !a.Literal }) {
		w.given = nil
	}
	w.calling = append(slices.Clip(w.calling), c)
	w.maybe(func() {
		w.givePositional(args)
		w.stmt(c.Body)
	})
	w.calling, w.given = w.calling[:len(w.calling)-1], given
	w.forgetPositional()
	for _, known := range before {
		if digits(known.name) {
			w.learn(known) // those of the caller are its own
		}
	}
	return true
}

// isAllGiven reports whether a word is "$@", the words that a function was called with, and each of them is known.
func (w *walker) isAllGiven(word *syntax.Word) bool {
	if len(w.calling) == 0 || w.given == nil || len(word.Parts) != 1 {
		return false
	}
	q, ok := word.Parts[0].(*syntax.DblQuoted)
	if !ok || q.Dollar || len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && plainParam(p) && p.Param.Value == "@"
}

func (w *walker) forgetPositional() {
	w.sure = slices.DeleteFunc(slices.Clone(w.sure), func(c certain) bool { return digits(c.name) })
}

// givePositional makes certain what $1 and those behind it are, up to the first word of which it is not known how many it becomes.
func (w *walker) givePositional(args []programs.Arg) {
	w.forgetPositional()
	for i, a := range args {
		name := string(rune('1' + i))
		switch {
		case i > 8:
			return
		case a.Literal && steady(a.Text):
			w.learn(certain{name: name, value: a.Text})
		case a.Literal: // one word, which without quotes may become others
		case i == len(args)-1 && !a.Glob && !a.Split && w.shapeOf(a).number:
			w.learn(certain{name: name, kind: ofNumber})
		default:
			return
		}
	}
}

// localVariables reports whether a declaration within a helper gives values to variables that mean nothing. Without quotes, shells other
// than bash make several words, which are declared too, of a value.
func (w *walker) localVariables(c *syntax.DeclClause) bool {
	for _, a := range c.Args {
		if a == nil || a.Name == nil || a.Append || a.Index != nil || a.Array != nil || !inertName(a.Name.Value) {
			return false
		}
		if a.Value == nil || w.shell == "bash" || steady(a.Value.Lit()) {
			continue
		}
		if len(a.Value.Parts) != 1 {
			return false
		}
		if q, ok := a.Value.Parts[0].(*syntax.DblQuoted); !ok || q.Dollar {
			return false
		}
	}
	return len(c.Args) > 0 && len(w.calling) > 0
}

// givesLocal judges such a declaration.
func (w *walker) givesLocal(c *syntax.DeclClause) {
	for _, a := range c.Args {
		w.remember(a)
		w.setsName(a.Name.Value)
		if a.Value != nil {
			for _, v := range w.appendArg(nil, a.Value) {
				w.secretOperand(v)
			}
		}
		w.assigned(&syntax.Stmt{}, a)
	}
	w.fine("builtins/local", "it sets variables of the function that mean nothing to the shell or to programs")
}
