package sandbox

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is looked at. What is longer asks.
const (
	maxChecks = 256
	maxDirs   = 8
	maxNested = 8
)

// check is a path that must lead into the sandbox.
type check struct {
	path  string // absolute, but not clean: links before ".." count
	said  string // as the command says it
	below bool   // the sandbox itself will not do: it would be taken away
	enter bool   // its directory must be inside too: a name in it is taken away, or given to something else
}

// plan is what must hold of a command before it may run, as far as that can be told.
type plan struct {
	root   string
	checks []check
	ask    string // why a person must be asked; "" if everything can be told
	move   bool   // it is one cd with an absolute path, and nothing else
}

func (p *plan) asks(why string) {
	if p.ask == "" {
		p.ask = why
	}
}

// makePlan reads a command for a shell: in every language that the shell may read it in, and all of what is found counts.
func makePlan(root, dir, shell, command string) *plan {
	p := &plan{root: root}
	for i, lang := range languages(shell) {
		file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(command), "")
		if err != nil {
			p.asks("it cannot be parsed as a whole")
		}
		if file == nil {
			continue
		}
		w := walker{plan: p, lang: lang}
		w.torn(func() { w.stmts(file.Stmts, places{dir}) })
		p.move = onlyMoves(file) && (i == 0 || p.move)
	}
	return p
}

// languages are those of package judge: the parser has none for ksh93 and busybox ash.
func languages(shell string) []syntax.LangVariant {
	switch shell {
	case "bash":
		return []syntax.LangVariant{syntax.LangBash}
	case "zsh":
		return []syntax.LangVariant{syntax.LangZsh}
	case "mksh":
		return []syntax.LangVariant{syntax.LangMirBSDKorn}
	case "ksh":
		return []syntax.LangVariant{syntax.LangMirBSDKorn, syntax.LangBash}
	case "dash":
		return []syntax.LangVariant{syntax.LangPOSIX}
	default:
		return []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX}
	}
}

// onlyMoves reports whether a script is a single cd to an absolute directory.
func onlyMoves(file *syntax.File) bool {
	if len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background || file.Stmts[0].Negated {
		return false
	}
	c, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) != 2 || c.Args[0].Lit() != "cd" {
		return false
	}
	to, sure := literal(c.Args[1])
	return sure && strings.HasPrefix(to, "/")
}

// places are the directories in which a command may find itself: absolute, and not clean.
type places []string

func (p places) and(q places) places {
	out := slices.Clone(p)
	for _, dir := range q {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// walker walks a script in the order in which it may run.
type walker struct {
	*plan
	lang   syntax.LangVariant
	nested int
	loops  int
	links  bool // a command before may have changed where names lead
	gone   bool // a command before may have taken names away
}

// torn keeps a tree that the parser gave up on from ending more than its own walk.
func (w *walker) torn(fn func()) {
	defer func() {
		if recover() != nil {
			w.asks("it cannot be parsed as a whole")
		}
	}()
	fn()
}

// must notes that a path leads inside, from wherever the command may stand.
func (w *walker) must(at places, said string, below, enter bool) {
	if said == "" { // names nothing, or is known only when it runs
		return
	}
	for _, dir := range at {
		full := said
		if !strings.HasPrefix(said, "/") {
			full = strings.TrimSuffix(dir, "/") + "/" + said
		}
		w.note(check{path: full, said: said, below: below, enter: enter && path.Clean(full) != w.root})
	}
}

func (w *walker) note(c check) {
	switch {
	case w.links:
		w.asks("an earlier part of it may change where names lead")
	case w.gone && climbs(c.path):
		w.asks("an earlier part of it may change where .. leads")
	}
	if c.said == "/dev/null" || slices.Contains(w.checks, c) {
		return
	}
	if len(w.checks) >= maxChecks || len(c.path) > maxPath {
		w.asks("it names more, or longer, paths than are looked at")
		return
	}
	w.checks = append(w.checks, c)
}

// climbs reports whether a path takes back a name by "..".
func climbs(p string) bool {
	names := false
	for name := range strings.SplitSeq(p, "/") {
		switch name {
		case "", ".":
		case "..":
			if names {
				return true
			}
		default:
			names = true
		}
	}
	return false
}

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
		w.asks("it goes on in the background, while other commands change what it finds")
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
	syntax.Walk(c.X, func(n syntax.Node) bool {
		word, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		text, sure := literal(word)
		if !sure {
			w.asks("it tests what is not literal")
		}
		w.must(at, text, false, false)
		return false
	})
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
		if text == "-" || text != "" && strings.Trim(strings.TrimSuffix(text, "-"), "0123456789") == "" {
			return
		}
	}
	w.must(at, text, false, false)
}
