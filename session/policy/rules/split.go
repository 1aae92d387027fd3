package rules

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// command is what rules about programs and paths look at: the judge's report, beside the words of the same source.
//
// It never changes.
type command struct {
	rep   *judge.Report
	src   string
	shell string
	dir   string
	typed bool                         // somebody types into it
	torn  bool                         // it cannot be parsed as a whole: there may be anything in it
	calls map[[2]uint]*syntax.CallExpr // all of them, by where their statement stands
	units []unit
	all   func() []seen // every command that the judge saw, nested ones too
}

// unit is a simple command of the script itself: not in a loop, a function or a substitution. A script that is not just
// a list of them is a single unit without words.
type unit struct {
	classes []policy.Class
	within  policy.Class // the worst of what it runs: substitutions, or what a wrapper is for
	to      []string     // hosts that it connects to
	words   []word       // nil when rules may not go by them alone
	args    []word       // the words, whatever stands around them
	core    string       // the command without its redirects; "" when rules may not go by what it writes
	out     bool         // a redirect writes to a file
}

// byClass is enough for rules that ask for classes alone.
func byClass(rep *judge.Report) *command {
	c := &command{rep: rep}
	c.units = []unit{{classes: c.upTo(rep.Class), to: rep.To}}
	c.all = func() []seen { return nil }
	return c
}

func newCommand(k key, rep *judge.Report) *command {
	c := &command{
		rep: rep, src: judge.Normalize(k.script), shell: k.shell, dir: k.dir, typed: k.interactive, calls: map[[2]uint]*syntax.CallExpr{},
	}
	c.all = sync.OnceValue(c.collect)
	file, err := parsed(c.src, c.shell)
	c.torn = err != nil
	if file != nil {
		c.index(file)
	}
	if err == nil && !rep.Capped && c.legible() {
		c.split(file)
	}
	if c.units == nil {
		c.units = []unit{{classes: c.upTo(rep.Class), to: rep.To}}
	}
	return c
}

// legible reports whether the text says what it seems to say: the judge's doubts about bytes belong to no part, so that
// no rule about parts may silence them.
func (c *command) legible() bool {
	return !strings.Contains(c.src, "$\\\n") && !strings.Contains(c.src, "`\\\n") && !(c.typed && strings.ContainsAny(c.src, "!^")) &&
		!strings.ContainsFunc(c.src, func(r rune) bool { return r >= utf8.RuneSelf && printable.Hidden(r) })
}

// index finds all calls. What the parser leaves behind after an error may be torn anywhere.
func (c *command) index(file *syntax.File) {
	defer func() { _ = recover() }()
	syntax.Walk(file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			if call, ok := s.Cmd.(*syntax.CallExpr); ok {
				c.calls[[2]uint{s.Pos().Line(), s.Pos().Col()}] = call
				// zsh's loop without an end that the parser knows: its commands would be words.
				c.torn = c.torn || c.shell == "zsh" && len(call.Args) > 0 && call.Args[0].Lit() == "foreach"
			}
		}
		return true
	})
}

// split finds the units, where the script is just a list of simple commands and pipelines of them, and the judge saw
// the very same ones.
func (c *command) split(file *syntax.File) {
	var list []*syntax.Stmt
	for _, s := range file.Stmts {
		list = chain(list, s, syntax.AndStmt, syntax.OrStmt)
	}
	if len(list) != len(c.rep.Parts) {
		return
	}
	units := make([]unit, 0, len(list))
	worst := policy.ReadOnly
	for i, s := range list {
		part := &c.rep.Parts[i]
		stages, parts := []*syntax.Stmt{s}, c.rep.Parts[i:i+1]
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok {
			if !plain(s) || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
				return
			}
			stages, parts = chain(nil, s, syntax.Pipe, syntax.PipeAll), part.Parts
		}
		if len(stages) != len(parts) {
			return
		}
		inner := policy.ReadOnly
		for j, stage := range stages {
			call, ok := stage.Cmd.(*syntax.CallExpr)
			if !ok || !samePlace(stage, &parts[j]) {
				return
			}
			u := c.unit(stage, call, parts[j].Class)
			u.to = parts[j].Reaches()
			for _, p := range parts[j].Parts {
				u.within = policy.Worst(u.within, p.Class)
			}
			units = append(units, u)
			inner = policy.Worst(inner, parts[j].Class)
		}
		if part.Class.Worse(inner) { // what only the pipeline as a whole does
			units = append(units, unit{classes: []policy.Class{part.Class}})
		}
		worst = policy.Worst(worst, part.Class)
	}
	if len(units) == 0 {
		return
	}
	if c.rep.Class.Worse(worst) {
		units = append(units, unit{classes: []policy.Class{c.rep.Class}})
	}
	c.units = units
}

// chain appends the statements that the operators join.
func chain(list []*syntax.Stmt, s *syntax.Stmt, ops ...syntax.BinCmdOperator) []*syntax.Stmt {
	var right []*syntax.Stmt
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || !plain(s) || b.Op != ops[0] && b.Op != ops[1] {
			break
		}
		// The parser joins from the left; what it joins otherwise stays in one piece, which nothing then covers.
		right = append(right, b.Y)
		s = b.X
	}
	list = append(list, s)
	slices.Reverse(right)
	return append(list, right...)
}

func plain(s *syntax.Stmt) bool {
	return len(s.Redirs) == 0 && !s.Background && !s.Coprocess && !s.Disown && !s.Negated
}

func samePlace(s *syntax.Stmt, p *judge.Part) bool {
	return [2]int{p.Line, p.Col} == [2]int{int(s.Pos().Line()), int(s.Pos().Col())}
}

func (c *command) unit(s *syntax.Stmt, call *syntax.CallExpr, class policy.Class) unit {
	u := unit{classes: c.upTo(class), within: policy.ReadOnly}
	if s.Background || s.Coprocess || s.Disown || len(call.Args) == 0 {
		return u
	}
	u.args = wordsOf(call.Args)
	pure, outside := true, true
	for _, r := range s.Redirs {
		pure = pure && harmless(r)
		u.out = u.out || r.Op != syntax.RdrIn && !harmless(r)
		outside = outside && (r.Pos().Offset() >= call.End().Offset() || r.End().Offset() <= call.Pos().Offset())
	}
	if outside {
		u.core = c.src[call.Pos().Offset():call.End().Offset()]
	}
	if pure && len(call.Assigns) == 0 {
		u.words = u.args
	}
	return u
}

// harmless knows the redirects that neither read nor write a file: of the three standard streams onto each other, and
// to and from nothing.
func harmless(r *syntax.Redirect) bool {
	streams := []string{"0", "1", "2"}
	if r.Word == nil || r.N != nil && !slices.Contains(streams, r.N.Value) {
		return false
	}
	to, _ := literal(r.Word) // nothing, of a word that is not
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		return slices.Contains(streams, to)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return to == "/dev/null"
	}
	return false
}

// upTo returns the classes of the script that a part of this class may have, from the worst: of each part only the worst
// is known. That it changes nothing counts only where that is all.
func (c *command) upTo(class policy.Class) []policy.Class {
	out := []policy.Class{class}
	for _, k := range slices.Backward(c.rep.Classes) {
		if class.Worse(k) && k != policy.ReadOnly {
			out = append(out, k)
		}
	}
	return out
}
