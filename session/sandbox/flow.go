package sandbox

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts returns where the shell may stand after the last of them.
func (w *walker) stmts(list []*syntax.Stmt, at places) places {
	ok, failed := w.list(list, at)
	return ok.and(failed)
}

func (w *walker) list(list []*syntax.Stmt, at places) (ok, failed places) {
	ok, failed = at, at
	for _, s := range list {
		if at = ok.and(failed); len(at) > maxDirs {
			w.asks("it goes to more directories than are followed")
			at = at[:maxDirs]
		}
		ok, failed = w.stmt(s, at)
	}
	return ok, failed
}

// stmt returns where the shell may stand afterwards, when it succeeds and when it fails.
func (w *walker) stmt(s *syntax.Stmt, at places) (ok, failed places) {
	if s == nil {
		return at, at
	}
	if s.Background || s.Coprocess || s.Disown {
		w.asks("it keeps running in the background while other commands change what it finds")
	}
	for _, r := range s.Redirs {
		w.redirect(r, at)
	}
	ok, failed = w.command(s.Cmd, at)
	if s.Negated {
		ok, failed = failed, ok
	}
	return ok, failed
}

func (w *walker) command(c syntax.Command, at places) (ok, failed places) {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			if a.Value != nil {
				if _, sure := literal(a.Value); !sure {
					w.asks("it sets a variable to what is not literal")
				}
			}
			if a.Array != nil || a.Index != nil || len(c.Args) == 0 {
				w.asks("it sets variables")
			}
		}
		return w.words(c.Args, at)
	case *syntax.BinaryCmd:
		return w.binary(c, at)
	case *syntax.Block:
		return w.list(c.Stmts, at)
	case *syntax.Subshell:
		w.stmts(c.Stmts, at)
	case *syntax.TimeClause:
		return w.stmt(c.Stmt, at)
	case *syntax.IfClause:
		at = w.ifClause(c, at)
		return at, at
	case *syntax.WhileClause:
		at = w.loop(at, func(at places) places { return w.stmts(c.Do, w.stmts(c.Cond, at)) })
		return at, at
	case *syntax.ForClause:
		iter, plain := c.Loop.(*syntax.WordIter)
		if !plain || c.Select {
			w.asks("it has a loop over what is not literal")
		} else {
			for _, item := range iter.Items {
				if _, sure := literal(item); !sure {
					w.asks("it has a loop over what is not literal")
				}
			}
		}
		at = w.loop(at, func(at places) places { return w.stmts(c.Do, at) })
		return at, at
	case *syntax.CaseClause:
		if _, sure := literal(c.Word); !sure {
			w.asks("it chooses by what is not literal")
		}
		after := at
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				if hides(p) {
					w.asks("it chooses by what is not literal")
				}
			}
			after = after.and(w.stmts(item.Stmts, at))
		}
		return after, after
	case *syntax.TestClause:
		w.test(c, at)
	default:
		w.asks("it has a kind of command that is not looked into")
	}
	return at, at
}

func (w *walker) binary(c *syntax.BinaryCmd, at places) (ok, failed places) {
	switch c.Op {
	case syntax.AndStmt:
		ok, failed = w.stmt(c.X, at)
		ok2, failed2 := w.stmt(c.Y, ok)
		return ok2, failed.and(failed2)
	case syntax.OrStmt:
		ok, failed = w.stmt(c.X, at)
		ok2, failed2 := w.stmt(c.Y, failed)
		return ok.and(ok2), failed2
	default:
		// Both ends of a pipe run at once, and in some shells the last one in the shell itself.
		w.stmt(c.X, at)
		ok, failed = w.stmt(c.Y, at)
		if w.links || w.gone {
			w.stmt(c.X, at)
			w.stmt(c.Y, at)
		}
		return at.and(ok), at.and(failed)
	}
}

func (w *walker) ifClause(c *syntax.IfClause, at places) places {
	var after places
	for ; c != nil; c = c.Else {
		then := at
		if len(c.Cond) > 0 { // the last else has none
			then, at = w.list(c.Cond, at)
		}
		after = after.and(w.stmts(c.Then, then))
		if c.Else == nil && len(c.Cond) > 0 {
			after = after.and(at)
		}
	}
	return after
}

// loop walks what may run again, so that a second round sees what the first has changed.
func (w *walker) loop(at places, body func(places) places) places {
	w.loops++
	after := at.and(body(at))
	if w.links || w.gone || len(after) > len(at) {
		after = after.and(body(after))
	}
	w.loops--
	return after
}

func (w *walker) test(c *syntax.TestClause, at places) {
	w.stream = true
	file := false // the word that comes next names one
	syntax.Walk(c.X, func(n syntax.Node) bool {
		if u, ok := n.(*syntax.UnaryTest); ok {
			file = looksAtFile(u.Op.String())
		}
		word, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		text, sure := literal(word)
		if !sure {
			w.asks("it tests what is not literal")
		}
		w.guess = !file
		w.must(at, text, false, false)
		w.guess, file = false, false
		return false
	})
	w.stream = false
}

// hides reports whether a word holds something that runs, or that is known only when it runs.
func hides(w *syntax.Word) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ExtGlob:
		default:
			found = true
		}
		return true
	})
	return found
}

func (w *walker) redirect(r *syntax.Redirect, at places) {
	if r == nil {
		return
	}
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		w.asks("it keeps a descriptor in a variable")
	}
	if r.Hdoc != nil {
		if hides(r.Hdoc) {
			w.asks("it is given text that is not literal")
		}
		return
	}
	text, sure := literal(r.Word)
	if !sure {
		w.asks("it is given, or redirected to, what is not literal")
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if strings.Trim(strings.TrimSuffix(text, "-"), "0123456789") == "" { // a descriptor, moved or closed; "" names nothing
			return
		}
	}
	w.stream = true
	w.must(at, text, false, false)
	w.stream = false
}
