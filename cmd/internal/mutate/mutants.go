//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mutant is one change: the bytes from..to of a file are replaced.
type mutant struct {
	file     string
	line     int
	function string
	kind     string
	from, to int
	before   string
	text     string
}

func (m mutant) String() string {
	short := func(s string) string {
		if s = strings.Join(strings.Fields(s), " "); len(s) > 60 {
			s = s[:60] + "…"
		}
		return s
	}
	name := m.file
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, name); err == nil {
			name = rel
		}
	}
	return fmt.Sprintf("%s:%d %s: %s: %s → %s", name, m.line, m.function, m.kind, short(m.before), short(m.text))
}

// mutants returns all changes of a package's files that are not tests.
func mutants(p pkg) ([]mutant, error) {
	var out []mutant
	for _, name := range p.GoFiles {
		file := filepath.Join(p.Dir, name)
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := mutantsOf(file, src)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func mutantsOf(file string, src []byte) ([]mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f) {
		return nil, nil
	}
	c := collector{fset: fset, file: file, src: src}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "String" {
			continue
		}
		c.function = fn.Name.Name
		c.results = fn.Type.Results
		ast.Inspect(fn.Body, c.visit)
	}
	return c.found, nil
}

type collector struct {
	fset     *token.FileSet
	file     string
	src      []byte
	function string
	results  *ast.FieldList
	found    []mutant
}

func (c *collector) at(p token.Pos) int { return c.fset.Position(p).Offset }

func (c *collector) text(n ast.Node) string { return string(c.src[c.at(n.Pos()):c.at(n.End())]) }

// change notes that n may become text.
func (c *collector) change(kind string, n ast.Node, text string) {
	c.span(kind, n.Pos(), n.End(), text)
}

func (c *collector) span(kind string, from, to token.Pos, text string) {
	a, b := c.at(from), c.at(to)
	if string(c.src[a:b]) == text {
		return
	}
	c.found = append(c.found, mutant{
		file: c.file, line: c.fset.Position(from).Line, function: c.function, kind: kind, from: a, to: b, before: string(c.src[a:b]), text: text,
	})
}

// opposite are operators that mistakes take for each other.
var opposite = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return !texts(n)
	case *ast.IfStmt:
		c.change("negate", n.Cond, "!("+c.text(n.Cond)+")")
		if n.Else == nil {
			c.change("guard never taken", n.Cond, "false && ("+c.text(n.Cond)+")")
		}
	case *ast.BinaryExpr:
		if other, ok := opposite[n.Op]; ok && !stringy(n) {
			c.span("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			c.change("left side dropped", n, "("+c.text(n.Y)+")")
			c.change("right side dropped", n, "("+c.text(n.X)+")")
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			c.change("number", n, strconv.FormatInt(v+1, 10))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			c.change("constant", n, "false")
		case "false":
			c.change("constant", n, "true")
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !texts(call) {
			c.change("call dropped", n, "")
		}
	case *ast.DeferStmt:
		c.change("defer dropped", n, "")
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN {
			c.change("assignment dropped", n, c.unused(n))
		}
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.CONTINUE || n.Tok == token.BREAK) {
			c.change("branch dropped", n, "")
		}
	case *ast.ReturnStmt:
		c.returned(n)
	case *ast.CaseClause:
		for i, v := range n.List {
			if len(n.List) > 1 && i > 0 {
				c.span("case dropped", n.List[i-1].End(), v.End(), "")
			}
		}
	case *ast.FuncLit:
		outer := c.results
		c.results = n.Type.Results
		ast.Inspect(n.Body, c.visit)
		c.results = outer
		return false
	}
	return true
}

// unused keeps the variables of a dropped assignment in use, so that what is left compiles.
func (c *collector) unused(n *ast.AssignStmt) string {
	var b strings.Builder
	for i, v := range n.Rhs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString("_ = " + c.text(v))
	}
	if len(n.Lhs) != len(n.Rhs) {
		return ""
	}
	return b.String()
}

// returned makes a function that returns an error say that there is none.
func (c *collector) returned(n *ast.ReturnStmt) {
	if c.results == nil || len(c.results.List) == 0 || len(n.Results) == 0 {
		return
	}
	last, ok := c.results.List[len(c.results.List)-1].Type.(*ast.Ident)
	v := n.Results[len(n.Results)-1]
	if !ok || last.Name != "error" || c.text(v) == "nil" || len(n.Results) != c.results.NumFields() {
		return
	}
	c.change("error dropped", v, "nil")
}

// texts reports whether a call only makes a text for people: its wording is not tested.
func texts(n *ast.CallExpr) bool {
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	switch pkg.Name + "." + sel.Sel.Name {
	case "fmt.Errorf", "fmt.Sprintf", "errors.New", "fmt.Fprintf", "fmt.Fprintln", "log.Printf":
		return true
	}
	return false
}

// stringy reports whether a sum is surely one of strings, where a difference would not compile.
func stringy(n *ast.BinaryExpr) bool {
	if n.Op != token.ADD {
		return false
	}
	for _, side := range []ast.Expr{n.X, n.Y} {
		switch side := side.(type) {
		case *ast.BasicLit:
			if side.Kind == token.STRING {
				return true
			}
		case *ast.BinaryExpr:
			if stringy(side) {
				return true
			}
		}
	}
	return false
}
