package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Certain values are those that a variable has whenever a command runs: an assignment before it, which nothing skips, gave it a text
// or number, or it is that of a loop over words which were judged there. Unlike a guess (see values.go) they count for what is allowed.
// Who sets the variable in any other way, or may have, ends that.

// certain is one of them.
type certain struct {
	name  string
	kind  kindOfValue
	value string            // of text, or for one word of a loop, what it may look like; "" is any of its words
	fed   bool              // a name that a listing wrote
	whole bool              // within double quotes it is one word, and no option
	array *syntax.ArrayExpr // of ofSomething, what a list was set to, if that says what its words may be
}

type kindOfValue int

const (
	ofText      kindOfValue = iota
	ofLoop                  // one of the words of a loop, which were judged there
	ofNumber                // see numeric
	ofResult                // a number, which may be negative: as a word it may be an option
	ofID                    // a word of letters, digits, _, - and ., which begins with one of the first two
	ofIDs                   // such words, none or several
	ofSomething             // of the value nothing is certain, only that this script set it
)

// isNumber reports whether the value is a number, or none: to evaluate it runs nothing.
func (c certain) isNumber() bool {
	return c.kind == ofNumber || c.kind == ofResult || c.kind == ofText && digits(strings.TrimPrefix(c.value, "-"))
}

// certainty returns what is certain of a variable.
func (w *walker) certainty(name string) (certain, bool) {
	i := slices.IndexFunc(w.sure, func(c certain) bool { return c.name == name })
	if i < 0 {
		return certain{}, false
	}
	return w.sure[i], true
}

// learn makes a value certain. Slices of them are shared by those who go back to an earlier one, and are not changed in place.
func (w *walker) learn(c certain) {
	if len(w.sure) < maxValues {
		w.sure = append(slices.Clip(w.sure), c)
	}
}

// forget ends what is certain of a name; "*" is any.
func (w *walker) forget(name string) {
	if name == "*" {
		w.sure = nil
		return
	}
	if _, ok := w.certainty(name); ok {
		w.sure = slices.DeleteFunc(slices.Clone(w.sure), func(c certain) bool { return c.name == name })
	}
}

// assigned makes the value of an assignment certain that is a statement of its own, if it is plain text.
func (w *walker) assigned(s *syntax.Stmt, a *syntax.Assign) {
	if a.Index != nil || a.Array != nil || a.Append || a.Value == nil || len(s.Redirs) > 0 || !inertName(a.Name.Value) {
		return
	}
	switch args := w.appendArg(nil, a.Value); {
	case len(args) == 1 && args[0].Literal && steady(args[0].Text):
		w.learn(certain{name: a.Name.Value, value: args[0].Text})
	case len(args) == 1 && len(w.listings) == 1 && w.isListing(a.Value.Parts):
		w.together([]facts{w.listings[0], {xargs: true}}) // whoever reads the file
		w.learn(certain{name: a.Name.Value, kind: ofLoop})
	case w.identifiersIn(unquoted(a.Value.Parts)):
		w.learn(certain{name: a.Name.Value, kind: ofIDs})
	case w.number(a.Value.Parts):
		w.learn(certain{name: a.Name.Value, kind: ofNumber})
	case w.aNumber(a.Value.Parts):
		w.learn(certain{name: a.Name.Value, kind: ofResult})
	default:
		w.learn(certain{name: a.Name.Value, kind: ofSomething})
	}
}

// unquoted returns what stands within the double quotes that a word consists of.
func unquoted(parts []syntax.WordPart) []syntax.WordPart {
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok && !q.Dollar {
			return q.Parts
		}
	}
	return parts
}

// number reports whether a word is a substitution that prints a number, quoted or not.
func (w *walker) number(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.DblQuoted:
		return !p.Dollar && w.number(p.Parts)
	case *syntax.CmdSubst:
		return w.numeric(p.Stmts)
	}
	return false
}

// result reports whether a word is a number whatever variables hold.
func (w *walker) result(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.Lit, *syntax.ArithmExp:
		return w.aNumber(parts)
	case *syntax.DblQuoted:
		return !p.Dollar && w.result(p.Parts)
	}
	return w.number(parts)
}

// steady reports whether a value is one word, and the same one, however it is expanded.
func steady(value string) bool {
	return value != "" && len(value) <= maxWord && consistsOf(value, "_-./:,@%+")
}

// maybe walks what may not run, or runs in a shell of its own: what is certain behind it was so before, and still is.
func (w *walker) maybe(fn func()) {
	before := w.sure
	fn()
	after := w.sure
	w.sure = nil
	for _, c := range before {
		if slices.Contains(after, c) {
			w.learn(c)
		} else if i := slices.IndexFunc(after, func(a certain) bool { return a.name == c.name }); i >= 0 && c.isNumber() && after[i].isNumber() {
			w.learn(certain{name: c.name, kind: ofResult})
		}
	}
}

// counts notes that a name may get another number: it stays one, if it was.
func (w *walker) counts(name string) {
	number := w.numberIn(name)
	if w.forget(name); number {
		w.learn(certain{name: name, kind: ofResult})
	}
}

// again walks what may run any number of times: from the first on, it has what it sets itself. begin, if not nil, is what each time
// begins with.
func (w *walker) again(fn, begin func(), loop ...[]*syntax.Stmt) {
	w.maybe(func() {
		if begin != nil {
			begin()
		}
		for _, list := range loop {
			for _, s := range list {
				w.forgetSetBy(s)
			}
		}
		fn()
	})
}

// forgetSetBy forgets every name that a statement may set, whenever it runs.
func (w *walker) forgetSetBy(s *syntax.Stmt) {
	if s == nil || len(w.sure) == 0 {
		return
	}
	if looked := w.looked; len(looked) == 0 {
		defer func() { w.looked = nil }()
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			switch {
			case n.Name == nil:
				w.forget("*")
			case n.Value != nil && !n.Append && n.Index == nil && w.result(n.Value.Parts):
				w.counts(n.Name.Value)
			default:
				w.forget(n.Name.Value)
			}
		case *syntax.BinaryArithm:
			if word, ok := n.X.(*syntax.Word); ok && assigns(n.Op) {
				w.counts(word.Lit())
			}
		case *syntax.UnaryArithm:
			if word, ok := n.X.(*syntax.Word); ok {
				w.counts(word.Lit())
			}
		case *syntax.WordIter:
			if n.Name != nil {
				w.forget(n.Name.Value)
			}
		case *syntax.CallExpr:
			w.forgetSetByCall(n)
		case *syntax.DeclClause:
			if n.Variant.Value != "local" || slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Name == nil }) {
				w.forget("*")
			}
		case *syntax.LetClause, *syntax.CStyleLoop, *syntax.FuncDecl, *syntax.CoprocClause:
			w.forget("*")
		}
		return true
	})
}

// forgetSetByCall goes by the words as they are expanded, and wherever read stands among them: behind builtin, command or time it is
// the same.
func (w *walker) forgetSetByCall(c *syntax.CallExpr) {
	shapes := w.shapes
	w.shapes = nil // of words as they are now
	words := w.args(c.Args)
	w.shapes = shapes
	if len(words) == 0 {
		return
	}
	reads := false
	for _, a := range words {
		reads = reads || a.Literal && a.Text == "read"
	}
	name := words[0].Text
	if c := w.definition(name); c != nil && !slices.Contains(w.looked, c) {
		w.looked = append(w.looked, c)
		w.forgetSetBy(c.Body)
	}
	sets := name == "printf" && len(words) > 1 && (!words[1].Literal || strings.HasPrefix(words[1].Text, "-")) // with -v
	switch {
	case sets || !words[0].Literal || name == "eval" || name == "source" || name == "." || name == "print" || programs.Is(name, "shapes") || programs.Is(name, "lists"):
		w.forget("*")
	case reads:
		for _, a := range words {
			if !a.Literal {
				w.forget("*")
				return
			}
			w.forget(a.Text)
		}
	}
}

// certainly returns what is certain of what an expansion makes. next is what follows it in its word.
func (w *walker) certainly(p *syntax.ParamExp, next syntax.WordPart) (certain, bool) {
	if len(w.sure) == 0 || !plainParam(p) {
		return certain{}, false
	}
	if l, ok := next.(*syntax.Lit); ok && p.Short && maybeZsh(w.shell) && strings.IndexByte(":[", (l.Value + ":")[0]) >= 0 {
		return certain{}, false // to zsh, $name:h and $name[1] are not the value
	}
	c, ok := w.certainty(p.Param.Value)
	return c, ok && c.kind != ofSomething && c.kind != ofResult
}

// plainParam reports whether an expansion is the value of a name, and nothing else.
func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Index == nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && !p.Excl && p.Flags == nil &&
		!p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && len(p.Modifiers) == 0 && p.Names == 0 &&
		p.GlobSubst == syntax.OptUnset && p.Split == syntax.OptUnset && p.RcExpand == syntax.OptUnset
}
