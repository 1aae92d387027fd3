package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
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
		outer.writes(*w.facts)
		w.facts = outer
		return
	}
	switch {
	case loop.Name == nil || !loop.InPos.IsValid():
		all = append(all, certain{})
	case w.numerics(loop.Items):
		all = append(all, certain{name: loop.Name.Value, kind: ofNumber, whole: true})
	case len(loop.Items) == 1 && w.identifiersIn(loop.Items[0].Parts):
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

// listsOne reports whether a substitution writes one of the names of files that ls lists, or a part of one. A name has no slash, so that
// a part of it is a name in the working directory.
func (w *walker) listsOne(list []*syntax.Stmt) bool {
	if len(list) != 1 || list[0] == nil {
		return false
	}
	s, one := list[0], false
	for {
		b, piped := plainBinary(s)
		if !piped {
			break
		}
		name, args, ok := w.selecting(b.Y)
		text := name + " " + oneWordEach(args)
		if !ok || b.Op != syntax.Pipe || !selects.MatchString(strings.TrimSuffix(text, " ")) {
			return false
		}
		one = one || oneLine.MatchString(text)
		s = b.X
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || !one || s.Background || s.Coprocess || s.Disown || s.Negated || len(c.Assigns) > 0 || len(c.Args) == 0 || c.Args[0].Lit() != "ls" || !w.quietOnly(s.Redirs, false) {
		return false
	}
	return !slices.ContainsFunc(c.Args[1:], func(word *syntax.Word) bool {
		text := word.Lit()
		if isOption(text) {
			return strings.Trim(text, "-1artuScdh") != "" || strings.HasPrefix(text, "--")
		}
		dir := text[:strings.LastIndexByte(text, '/')+1]
		return text == "" || strings.ContainsAny(dir, "*?[") || strings.ContainsAny(text, `\\{}~()$`)
	})
}

var oneLine = lazyregexp.New(`^(head|tail) (-1|-n ?1)$`)

// isListing reports whether a word is such a substitution.
func (w *walker) isListing(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.DblQuoted:
		return !p.Dollar && w.isListing(p.Parts)
	case *syntax.CmdSubst:
		return w.listsOne(p.Stmts)
	}
	return false
}

// readsListed judges a command whose words are names that substitutions list: as behind a pipe, the files that it reads are those.
func (w *walker) readsListed(fn func()) {
	outer, all := w.facts, slices.Clone(w.listings)
	w.facts = &facts{}
	fn()
	w.together(append(all, *w.facts))
	said := *w.facts
	outer.writes(said)
	outer.says, outer.script, outer.shell = said.says, said.script, outer.shell || said.shell
	w.facts = outer
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
	if list, ok := w.listWords(loop.Items); ok {
		words = list
	}
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

// maxCount bounds the numbers that a loop may count to: with more turns it ends too late for whoever waits.
const maxCount = 3 // digits

// countsToAnEnd reports whether a loop tests that a number is below another one and adds to it each time, so that it ends.
func (w *walker) countsToAnEnd(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	name := belowName(c.Cond[0], c.Until)
	known, ok := w.certainty(name)
	if name == "" || !ok || known.kind != ofText || !digits(known.value) || len(known.value) > maxCount {
		return false
	}
	adds := -1
	for i, s := range c.Do {
		if addsTo(s, name) {
			adds = i
		}
	}
	return adds >= 0 && w.staysIn(known, slices.Delete(slices.Clone(c.Do), adds, adds+1))
}

// staysIn reports whether statements leave a variable as it is, and go through to their end.
func (w *walker) staysIn(known certain, list []*syntax.Stmt) bool {
	before := w.sure
	defer func() { w.sure = before }()
	w.sure = []certain{known}
	skips := false
	for _, s := range list {
		w.forgetSetBy(s)
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				skips = skips || slices.ContainsFunc(w.args(c.Args), func(a programs.Arg) bool { return a.Text == "continue" })
			}
			return true
		})
	}
	return !skips && len(w.sure) == 1 && w.sure[0] == known
}

// countingLoop returns the variable of a loop such as for ((i=0; i<5; i++)), which ends.
func (w *walker) countingLoop(loop *syntax.CStyleLoop, body []*syntax.Stmt) string {
	start, ok := loop.Init.(*syntax.BinaryArithm)
	if !ok || start.Op != syntax.Assgn || !smallNumber(start.Y) {
		return ""
	}
	name := nameIn(start.X)
	if !inertName(name) || !below(loop.Cond, name) || !addsOne(loop.Post, name) || !w.staysIn(certain{name: name, kind: ofNumber}, body) {
		return ""
	}
	return name
}

// belowName returns the variable that a condition compares with a number, where the loop goes on as long as it is below.
func belowName(s *syntax.Stmt, until bool) string {
	if s == nil || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
		return ""
	}
	switch c := s.Cmd.(type) {
	case *syntax.ArithmCmd:
		b, ok := c.X.(*syntax.BinaryArithm)
		if name := ""; ok && !until && !c.Unsigned {
			if name = nameIn(b.X); below(b, name) {
				return name
			}
		}
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) != 5 || c.Args[0].Lit() != "[" || c.Args[4].Lit() != "]" {
			return ""
		}
		return comparedName(c.Args[1], c.Args[2].Lit(), c.Args[3], until)
	case *syntax.TestClause:
		if b, ok := c.X.(*syntax.BinaryTest); ok {
			x, isX := b.X.(*syntax.Word)
			y, isY := b.Y.(*syntax.Word)
			if isX && isY {
				return comparedName(x, b.Op.String(), y, until)
			}
		}
	}
	return ""
}

func comparedName(x *syntax.Word, op string, y *syntax.Word, until bool) string {
	switch {
	case !smallNumber(y):
	case !until && (op == "-lt" || op == "-le"), until && (op == "-ge" || op == "-gt"):
		if x.Lit() == "" { // [ i -lt 3 ] compares no number
			return nameIn(x)
		}
	}
	return ""
}

// below reports whether arithmetic compares a variable with a number that is to be above it.
func below(x syntax.ArithmExpr, name string) bool {
	b, ok := x.(*syntax.BinaryArithm)
	return ok && (b.Op == syntax.Lss || b.Op == syntax.Leq) && name != "" && nameIn(b.X) == name && smallNumber(b.Y)
}

// addsTo reports whether a statement adds one to a variable, as i=$((i+1)) and ((i++)) do.
func addsTo(s *syntax.Stmt, name string) bool {
	if s == nil || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.ArithmCmd:
		return addsOne(c.X, name)
	case *syntax.CallExpr:
		if len(c.Args) > 0 || len(c.Assigns) != 1 {
			return false
		}
		a := c.Assigns[0]
		if a.Name == nil || a.Name.Value != name || a.Value == nil || a.Append || a.Index != nil || a.Array != nil || len(a.Value.Parts) != 1 {
			return false
		}
		e, ok := a.Value.Parts[0].(*syntax.ArithmExp)
		if !ok || e.Unsigned {
			return false
		}
		sum, ok := e.X.(*syntax.BinaryArithm)
		return ok && sum.Op == syntax.Add && nameIn(sum.X) == name && isOne(sum.Y)
	}
	return false
}

func addsOne(x syntax.ArithmExpr, name string) bool {
	switch x := x.(type) {
	case *syntax.UnaryArithm:
		return x.Op == syntax.Inc && nameIn(x.X) == name
	case *syntax.BinaryArithm:
		return x.Op == syntax.AddAssgn && nameIn(x.X) == name && isOne(x.Y)
	}
	return false
}

// nameIn returns the variable that a word of arithmetic or of a test is the value of: i, $i, ${i} or one of these in double quotes.
func nameIn(x syntax.ArithmExpr) string {
	word, ok := x.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return ""
	}
	part := word.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	switch p := part.(type) {
	case *syntax.Lit:
		if inertName(p.Value) {
			return p.Value
		}
	case *syntax.ParamExp:
		if plainParam(p) && inertName(p.Param.Value) {
			return p.Param.Value
		}
	}
	return ""
}

func isOne(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	return ok && word.Lit() == "1"
}

func smallNumber(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	return ok && digits(word.Lit()) && len(word.Lit()) <= maxCount
}
