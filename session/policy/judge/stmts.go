package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *walker) stmt(s *syntax.Stmt) {
	if s == nil || !w.enter() {
		return
	}
	defer w.leave()
	call, simple := s.Cmd.(*syntax.CallExpr)
	if simple || s.Cmd == nil {
		w.part(s, w.sourceOfStmt(s), func() {
			w.background(s)
			w.inShell(s, func() { w.simple(s, call) })
		})
		return
	}
	if s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
		w.part(s, w.sourceOfStmt(s), func() {
			w.background(s)
			w.inShell(s, func() { w.withRedirects(s, func() { w.command(s.Cmd) }) })
		})
		return
	}
	w.command(s.Cmd)
}

// sourceOfStmt is the statement as written, without the semicolon that ends it.
func (w *walker) sourceOfStmt(s *syntax.Stmt) string {
	text := w.source(s)
	if w.splitBy(s) {
		return strings.TrimRight(text, " \t")
	}
	if !s.Semicolon.IsValid() || s.Background || s.Coprocess || s.Disown {
		return text
	}
	return strings.TrimSuffix(text, ";")
}

func (w *walker) background(s *syntax.Stmt) {
	if w.splitBy(s) && w.shell != "dash" {
		return // bash and most others wait for it, and where it goes on it is judged like the rest
	}
	if s.Background || s.Coprocess || s.Disown {
		w.raise(policy.Unknown, "shell/background", "it keeps running in the background after the command has ended")
	}
}

// splitBy reports whether what sends a statement to the background is the &> of bash, which shells of POSIX read so.
func (w *walker) splitBy(s *syntax.Stmt) bool {
	at := int(s.Semicolon.Offset())
	return s.Background && s.Semicolon.IsValid() && at+1 < len(w.src) && w.src[at] != '&' && w.src[at+1] == '&'
}

// splitFrom reports whether a statement is the redirect of an &>, alone.
func (w *walker) splitFrom(s *syntax.Stmt) bool {
	at := int(s.Redirs[0].OpPos.Offset())
	return w.d.lang == syntax.LangPOSIX && len(s.Redirs) == 1 && at > 0 && w.src[at-1] == '&'
}

// inShell walks a statement, in a shell of its own if it runs in the background.
func (w *walker) inShell(s *syntax.Stmt, fn func()) {
	if s.Background || s.Coprocess || s.Disown {
		w.maybe(fn)
	} else {
		fn()
	}
}

// command judges everything that is not a simple command.
func (w *walker) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		w.binary(c)
	case *syntax.Block:
		w.stmts(c.Stmts)
	case *syntax.Subshell:
		dir := w.dir
		w.subshell++
		w.maybe(func() { w.stmts(c.Stmts) })
		w.subshell--
		w.dir = dir
	case *syntax.IfClause:
		w.ifClause(c)
	case *syntax.WhileClause:
		w.part(c, w.source(c), func() {
			if !readsLines(c) && !w.countsToAnEnd(c) {
				w.raise(policy.Unknown, "shell/loop", "the end of the loop cannot be determined")
			}
			w.again(func() {
				w.stmts(c.Cond)
				w.stmts(c.Do)
			}, nil, c.Cond, c.Do)
		})
	case *syntax.ForClause:
		w.part(c, w.source(c), func() { w.forClause(c) })
	case *syntax.CaseClause:
		w.part(c, w.source(c), func() { w.caseClause(c) })
	case *syntax.FuncDecl:
		w.part(c, w.source(c), func() { w.function(c) })
	case *syntax.DeclClause:
		w.part(c, w.source(c), func() { w.declare(c) })
	case *syntax.TestClause:
		w.part(c, w.source(c), func() { w.test(c.X) })
	case *syntax.TimeClause:
		w.use("time") // behind a pipe it is the program
		if c.PosixFormat && maybeZsh(w.shell) {
			w.raise(policy.Unknown, "shell/quirk", "zsh takes time's option for a command")
		}
		if c.Stmt != nil {
			if call, ok := c.Stmt.Cmd.(*syntax.CallExpr); ok && len(call.Assigns) > 0 {
				w.raise(policy.Unknown, "shell/quirk", "where time is a program, it takes the assignment for the command")
			} else if ok && len(call.Args) > 0 && call.Args[0].Lit() == "--" {
				w.raise(policy.Unknown, "shell/quirk", "bash takes what follows for the command, other shells the dashes")
				w.script(w.src[min(call.Args[0].End().Offset(), uint(len(w.src))):min(c.End().Offset(), uint(len(w.src)))], "")
			}
		}
		w.stmt(c.Stmt)
	case *syntax.ArithmCmd:
		w.part(c, w.source(c), func() {
			w.arithmetic(c.X)
			w.fine("shell/arithmetic", "it only counts")
		})
	case *syntax.LetClause:
		w.part(c, w.source(c), func() {
			w.raise(policy.Unknown, "shell/arithmetic", "let evaluates its arguments, and sets variables")
			for _, x := range c.Exprs {
				w.arithmetic(x)
			}
		})
	case *syntax.CoprocClause:
		w.part(c, w.source(c), func() {
			w.raise(policy.Unknown, "shell/coproc", "a coprocess keeps running after the command has ended")
			w.word(c.Name)
			w.stmt(c.Stmt)
		})
	case nil:
	default:
		w.part(c, w.source(c), func() {
			w.raise(policy.Unknown, "shell/unknown-node", "a kind of command that the judge does not know")
		})
	}
}

// binary judges a chain without recursing along it: chains are as long as their author likes.
func (w *walker) binary(c *syntax.BinaryCmd) {
	if isPipe(c.Op) {
		w.pipeline(c)
		return
	}
	all := chain(c, func(op syntax.BinCmdOperator) bool { return !isPipe(op) })
	ops := operators(c)
	next := func() { // judges the first of all that are left
		n := w.tornTest(all, ops)
		if n == 0 {
			n = 1
			w.stmt(all[0])
		}
		all, ops = all[n:], ops[min(n, len(ops)):]
	}
	next()
	if !onlyAnd(c) { // any of the others may be skipped
		for len(all) > 0 {
			w.maybe(next)
		}
		return
	}
	w.maybe(func() {
		for len(all) > 0 {
			next()
		}
	})
}

// onlyAnd reports whether each statement of a chain runs only if all before it have run.
func onlyAnd(c *syntax.BinaryCmd) bool {
	for {
		if c.Op != syntax.AndStmt {
			return false
		}
		left, ok := plainBinary(c.X)
		if !ok || isPipe(left.Op) {
			return true
		}
		c = left
	}
}

func isPipe(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

// chain flattens what operators join, without recursing.
func chain(c *syntax.BinaryCmd, joins func(syntax.BinCmdOperator) bool) []*syntax.Stmt {
	var out []*syntax.Stmt
	for {
		out = append(out, c.Y)
		left, ok := plainBinary(c.X)
		if !ok || !joins(left.Op) {
			break
		}
		c = left
	}
	out = append(out, c.X)
	slices.Reverse(out)
	return out
}

// operators are those between what chain returns.
func operators(c *syntax.BinaryCmd) []syntax.BinCmdOperator {
	var out []syntax.BinCmdOperator
	for {
		out = append(out, c.Op)
		left, ok := plainBinary(c.X)
		if !ok || isPipe(left.Op) {
			break
		}
		c = left
	}
	slices.Reverse(out)
	return out
}

func plainBinary(s *syntax.Stmt) (*syntax.BinaryCmd, bool) {
	if s == nil || len(s.Redirs) > 0 || s.Background || s.Coprocess || s.Disown {
		return nil, false
	}
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	return b, ok
}

func (w *walker) ifClause(c *syntax.IfClause) {
	w.stmts(c.Cond)
	w.maybe(func() { w.stmts(c.Then) })
	for c = c.Else; c != nil; c = c.Else {
		w.maybe(func() {
			w.stmts(c.Cond)
			w.stmts(c.Then)
		})
	}
}

func (w *walker) forClause(c *syntax.ForClause) {
	if c.Select {
		w.raise(policy.Unknown, "shell/select", "a menu waits for a choice")
	}
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		listings := w.listings
		w.listings = nil
		w.wordList(loop.Items)
		for _, list := range w.listings {
			w.together([]facts{list, {xargs: true}}) // whoever reads the file
		}
		w.listings = listings
		w.loopItems(loop)
		w.rememberItem(loop)
		w.turns(loop, c.Do)
		return
	case *syntax.CStyleLoop:
		if name := w.countingLoop(loop, c.Do); name != "" {
			w.setsName(name)
			w.again(func() { w.stmts(c.Do) }, func() { w.learn(certain{name: name, kind: ofNumber, whole: true}) }, c.Do)
			return
		}
		w.raise(policy.Unknown, "shell/arithmetic", "arithmetic evaluates the value of a name")
		w.arithmetic(loop.Init)
		w.arithmetic(loop.Cond)
		w.arithmetic(loop.Post)
		w.forget("*")
	default:
		w.raise(policy.Unknown, "shell/unknown-node", "a kind of loop that the judge does not know")
	}
	w.again(func() { w.stmts(c.Do) }, nil, c.Do)
}

// loopItems judges the variable and the values of a for loop: the values may be used as paths.
func (w *walker) loopItems(loop *syntax.WordIter) {
	w.sets(loop.Name)
	if loop.Name == nil || !inertName(loop.Name.Value) {
		w.raise(policy.Unknown, "shell/loop-variable", "the loop sets a variable that may mean something to the shell or to programs")
	}
	for _, a := range w.args(loop.Items) {
		w.secretOperand(a)
	}
}

func (w *walker) caseClause(c *syntax.CaseClause) {
	w.word(c.Word)
	for _, item := range c.Items {
		if item == nil {
			continue
		}
		w.wordList(item.Patterns)
		w.maybe(func() { w.stmts(item.Stmts) })
	}
}

// function judges a definition: later commands of that name mean its body.
func (w *walker) function(c *syntax.FuncDecl) {
	if w.defines(c) {
		return
	}
	w.raise(policy.Unknown, "shell/function", "it defines a function, so that a name means something else from now on")
	names := c.Names
	if c.Name != nil {
		names = append([]*syntax.Lit{c.Name}, names...)
	}
	for _, n := range names {
		w.sets(n)
		if n != nil {
			w.functions = append(w.functions, n.Value)
			if callsItself(c.Body, n.Value) {
				w.raise(policy.Forbidden, "forbidden/fork-bomb", "a function that starts copies of itself without end")
			}
		}
	}
	dir := w.dir
	w.sure = nil // whenever it is called
	w.stmt(c.Body)
	w.dir, w.sure = dir, nil
}

// readsLines reports whether a loop's condition is one read, which ends with its input.
func readsLines(c *syntax.WhileClause) bool {
	if c.Until || len(c.Cond) != 1 || c.Cond[0] == nil {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && call.Args[0].Lit() == "read"
}
