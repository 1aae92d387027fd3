package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// pipeline judges each stage, and then what the stages do together.
func (w *walker) pipeline(c *syntax.BinaryCmd) {
	w.part(c, w.source(c), func() {
		stages := chain(c, isPipe)
		outer, stdin, sum, dir, fed, idLines := w.facts, w.stdin, w.sum, w.dir, w.fed, w.idLines
		identified := w.identified(c, len(stages))
		all := make([]facts, len(stages))
		for i, s := range stages {
			w.facts = &all[i]
			if i > 0 {
				w.stdin, w.sum, w.fed = "pipe", w.printsSum(stages[i-1]), (w.fed && i > 1 || all[i-1].lists) && !all[i-1].tells
			}
			if i > 0 {
				w.idLines = identified[i]
			}
			w.maybe(func() { w.stmt(s) })
			w.stdin, w.sum, w.dir, w.idLines = stdin, sum, dir, idLines
		}
		w.together(all)
		w.passesOn(all)
		w.facts, w.fed = outer, fed
		for _, f := range all {
			w.facts.writes(f)
		}
	})
}

func (w *walker) together(all []facts) {
	var unseen, shell, connects bool
	var words [][]programs.Arg
	var found [][]programs.Arg
	for i, f := range all {
		if f.shell && unseen {
			w.forbidUnseen()
		}
		if i > 0 && f.shell && all[i-1].says {
			w.raise(policy.Unknown, "shell/piped-code", "an interpreter runs what the command before it writes")
			w.script(all[i-1].script, "")
		}
		if f.xargs {
			for _, args := range words {
				w.secretNames(args)
			}
			open := false
			for _, before := range all[:i] {
				before.spelled = before.spelled || open && before.names != ""
				open = open || before.open
				w.namedFor(before)
			}
			w.secretPattern("*")
			for _, args := range found {
				w.foundFiles(args)
			}
		}
		if f.removes {
			if i > 0 && all[i-1].says {
				for _, name := range strings.Fields(all[i-1].script) {
					w.catastrophic(literal(strings.Trim(name, "\x00")))
				}
			}
			for _, args := range found {
				w.foundRemoved(args)
			}
		}
		unseen = unseen || f.unseen()
		shell, connects = shell || f.shell, connects || f.connects
		words = append(words, f.words...)
		found = append(found, f.found...)
	}
	if shell && connects {
		w.raise(policy.Forbidden, "forbidden/reverse-shell", "a shell whose input or output is a network connection")
	}
}

// namedFor judges what a stage writes that only prints, as names of files.
func (w *walker) namedFor(f facts) {
	if f.spelled {
		w.raise(policy.Unknown, "paths/unknown", "which files these are is known only when it runs")
	}
	for name := range strings.FieldsSeq(f.names) {
		w.secretOperand(literal(name))
	}
}

// secretNames judges words that a later stage may take for names of files, or for directories whose files it gets.
func (w *walker) secretNames(args []programs.Arg) {
	for _, a := range args {
		w.secretOperand(a)
		if a.Literal {
			w.namedByExpression(a.Text)
		}
		if strings.IndexByte(a.Text, '/') >= 0 {
			w.secretOperand(literal(strings.TrimSuffix(a.Text, "/") + "/*"))
		}
	}
}

// callsItself reports whether a function's body starts the function in a pipeline or in the background.
func callsItself(body *syntax.Stmt, name string) bool {
	if body == nil {
		return false
	}
	found := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if isPipe(n.Op) {
				for _, s := range [...]*syntax.Stmt{n.X, n.Y} {
					found = found || calls(s, name)
				}
			}
		case *syntax.Stmt:
			found = found || n.Background && calls(n, name)
		}
		return !found
	})
	return found
}

func calls(s *syntax.Stmt, name string) bool {
	if s == nil {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && c.Args[0].Lit() == name
	case *syntax.Subshell:
		return len(c.Stmts) > 0 && calls(c.Stmts[len(c.Stmts)-1], name)
	case *syntax.BinaryCmd:
		return calls(c.X, name) || calls(c.Y, name)
	}
	return false
}
