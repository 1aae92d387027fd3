package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// maxTurns bounds the text of a loop times its words, and with maxParts/2 the commands, up to which each turn is judged by itself.
const maxTurns = 16 << 10

// turns judges what a for loop does, with each of its words if they are few: what a turn reads depends on the word. Of many
// words it is certain only that the variable is one of them.
func (w *walker) turns(loop *syntax.WordIter, body []*syntax.Stmt) {
	var all []certain
	if list := w.substituted; w.listed(loop.Items) {
		// As behind a pipe: what it reads are the files that the listing names.
		outer, name := w.facts, certain{kind: ofSomething}
		if loop.Name != nil {
			name = certain{name: loop.Name.Value, kind: ofLoop, fed: true}
		}
		w.facts = &facts{}
		w.again(func() { w.stmts(body) }, func() { w.learn(name) }, body)
		w.together([]facts{list, *w.facts})
		outer.add(*w.facts)
		w.facts = outer
		return
	}
	switch {
	case loop.Name == nil || !loop.InPos.IsValid():
		all = append(all, certain{})
	case w.numerics(loop.Items):
		all = append(all, certain{name: loop.Name.Value, kind: ofNumber, whole: true})
	case len(loop.Items) == 1 && w.containersIn(loop.Items[0].Parts):
		all = append(all, certain{name: loop.Name.Value, kind: ofID, whole: true})
	default:
		all = w.items(loop, body)
	}
	for i, item := range all {
		seen := w.cur.Parts
		w.again(func() { w.stmts(body) }, func() {
			if item.name != "" {
				w.learn(item)
			}
		}, body)
		if i > 0 && worst(w.cur.Parts[len(seen):]) <= worst(seen) {
			w.cur.Parts = seen // the same commands again
		}
	}
}

// listed reports whether the words of a loop are names of files in the working directory, which ls lists, or parts of them: of a path,
// what stands behind a blank may be an absolute one.
func (w *walker) listed(words []*syntax.Word) bool {
	if len(words) != 1 || len(words[0].Parts) != 1 || !w.substituted.lists || w.substituted.tells {
		return false
	}
	p, ok := words[0].Parts[0].(*syntax.CmdSubst)
	if !ok || len(p.Stmts) != 1 || !w.quietOnly(p.Stmts[0].Redirs, false) {
		return false
	}
	c, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(c.Assigns) == 0 && len(c.Args) > 0 && c.Args[0].Lit() == "ls" && !slices.ContainsFunc(c.Args[1:], func(word *syntax.Word) bool {
		a := w.source(word)
		return strings.Contains(a, "/") || isOption(a) && strings.Trim(a, "-1artSXA") != ""
	})
}

func worst(parts []Part) (rank int) {
	for i := range parts {
		rank = max(rank, parts[i].Class.Rank())
	}
	return rank
}

// items are the words of a loop, one by one or as one value that stands for any of them.
func (w *walker) items(loop *syntax.WordIter, body []*syntax.Stmt) []certain {
	name, words := loop.Name.Value, w.args(loop.Items)
	if slices.ContainsFunc(words, func(a programs.Arg) bool { return w.shapeOf(a).opaque }) {
		return []certain{{name: name, kind: ofSomething}}
	}
	all := make([]certain, 0, len(words)+1)
	any := certain{name: name, kind: ofNumber}
	for _, a := range words {
		item := certain{name: name, kind: ofLoop, value: w.shapeOf(a).wild}
		if first := (a.Text + "-")[0]; !a.Split && (alphanumeric(first) || first == '/' || first == '.' || first == '_') {
			item.whole = true
		}
		if a.Literal && steady(a.Text) {
			item.kind, item.value = ofText, a.Text
		}
		if !a.Literal || !digits(a.Text) {
			any.kind = ofLoop
		}
		all = append(all, item)
	}
	if len(all) > 0 && w.roomForTurns(len(all), body) {
		return all
	}
	return []certain{any}
}

func (w *walker) roomForTurns(n int, body []*syntax.Stmt) bool {
	if n == 1 {
		return true
	}
	commands, size := 0, 0
	for _, s := range body {
		size += int(s.End().Offset()) - int(s.Pos().Offset())
		syntax.Walk(s, func(n syntax.Node) bool {
			if _, ok := n.(*syntax.Stmt); ok {
				commands++
			}
			return true
		})
	}
	return n*size <= maxTurns && w.account.parts+n*commands <= maxParts/2
}
