package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a script itself says about its variables makes a verdict only stricter: a variable may have another value when it
// runs, and whatever is a guess stays one for what is allowed.

// maxValues bounds how many variables are remembered.
const maxValues = 64

// remember notes that a variable was given a value, or one that cannot be told.
func (w *walker) remember(a *syntax.Assign) {
	if a == nil || a.Name == nil || a.Index != nil || a.Array != nil || a.Append {
		return
	}
	delete(w.values, a.Name.Value)
	if args := w.appendArg(nil, a.Value); len(args) == 1 {
		if s := w.shapeOf(args[0]); args[0].Literal || s.known {
			w.rememberValue(a.Name.Value, s.likely)
		}
	}
}

func (w *walker) rememberValue(name, value string) {
	if len(value) > maxWord || len(w.values) >= maxValues {
		return
	}
	if w.values == nil {
		w.values = map[string]string{}
	}
	w.values[name] = value
}

// rememberItem notes the worst of the values that a loop gives its variable.
func (w *walker) rememberItem(loop *syntax.WordIter) {
	if loop.Name == nil {
		return
	}
	delete(w.values, loop.Name.Value)
	for _, a := range w.args(loop.Items) {
		if s := w.shapeOf(a); (a.Literal || a.Glob || s.known) && isCatastrophic(s.likely, w.dir) {
			w.rememberValue(loop.Name.Value, s.likely)
			return
		}
	}
}

// valueOf returns what an expansion gives as far as the script says; else what a forgotten variable makes of it.
func (w *walker) valueOf(p *syntax.ParamExp) (value string, known bool) {
	if p.Param != nil && !p.Length && !p.IsSet && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.NestedParam == nil && p.Exp == nil &&
		p.Names == 0 {
		if v, ok := w.values[p.Param.Value]; ok {
			return v, true
		}
	}
	value = ifUnset(p)
	return value, value == "~"
}

// printed returns what a substitution prints, where that is no more than an echo or printf of known words.
func (w *walker) printed(list []*syntax.Stmt) (string, bool) {
	if len(list) != 1 || list[0] == nil || len(list[0].Redirs) > 0 {
		return "", false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 2 || len(c.Assigns) > 0 {
		return "", false
	}
	name := c.Args[0].Lit()
	if name != "echo" && name != "printf" {
		return "", false
	}
	var words []string
	for i, a := range w.args(c.Args[1:]) {
		if !a.Literal {
			return "", false
		}
		if i == 0 && (name == "echo" && (a.Text == "-n" || a.Text == "-e") || name == "printf" && (a.Text == "%s" || a.Text == "%s\\n")) {
			continue
		}
		words = append(words, strings.TrimSuffix(a.Text, "\\n"))
	}
	text := strings.Join(words, " ")
	return text, text != "" && !strings.Contains(text, "%")
}
