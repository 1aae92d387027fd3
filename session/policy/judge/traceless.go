package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stateless are the builtins that leave nothing in their shell, whatever their arguments.
var stateless = []string{":", "true", "false", "echo", "test", "[", "pwd"}

// traceless reports whether a script leaves its shell as it finds it: it starts programs, one after the other or in pipelines, with
// words that the shell takes as they stand. It says nothing of what the programs do, but that none is left to run behind.
func traceless(file *syntax.File, src string) bool {
	return file != nil && !startsBehind(src) && tracelessAll(file.Stmts)
}

// startsBehind looks for an & that may send a command to the background, within the texts of other shells too.
func startsBehind(src string) bool {
	for i := 0; i < len(src); i++ {
		switch {
		case src[i] != '&':
		case i+1 < len(src) && src[i+1] == '&':
			i++
		case i+1 < len(src) && src[i+1] == '>' || i > 0 && (src[i-1] == '>' || src[i-1] == '<'):
		default:
			return true
		}
	}
	return false
}

func tracelessAll(list []*syntax.Stmt) bool {
	return !slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return !tracelessStmt(s) })
}

func tracelessStmt(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown {
		return false
	}
	for _, r := range s.Redirs {
		if r.N != nil && !digits(r.N.Value) || r.Hdoc != nil || !plainWord(r.Word) {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 || slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return !plainWord(w) }) {
			return false
		}
		name, _ := programName(strings.ReplaceAll(c.Args[0].Lit(), `\`, "")) // \cd is cd
		return name != "" && (builtin(name) == nil || slices.Contains(stateless, name))
	case *syntax.BinaryCmd:
		return tracelessStmt(c.X) && tracelessStmt(c.Y)
	case *syntax.Subshell:
		return tracelessAll(c.Stmts)
	case *syntax.Block:
		return tracelessAll(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			if !tracelessAll(c.Cond) || !tracelessAll(c.Then) {
				return false
			}
		}
		return true
	}
	return false
}

// plainWord reports whether a shell does no more to a word than take quotes away and look for names of files.
func plainWord(w *syntax.Word) bool {
	if w == nil {
		return false
	}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.IndexByte(p.Value, '$') >= 0 {
				return false
			}
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if slices.ContainsFunc(p.Parts, func(in syntax.WordPart) bool { _, lit := in.(*syntax.Lit); return !lit }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
