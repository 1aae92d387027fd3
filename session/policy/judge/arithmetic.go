package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

var literalNumber = lazyregexp.New(`^([0-9]+|0[xX][0-9a-fA-F]+|[0-9]{1,2}#[0-9a-zA-Z]+)$`)

// arithmetic judges an arithmetic expression. Shells evaluate the value of a name as an expression again, subscripts
// and substitutions in it included, so only numbers and the shell's own counters are harmless.
func (w *walker) arithmetic(x syntax.ArithmExpr) {
	if !w.enter() {
		return
	}
	defer w.leave()
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		w.arithmetic(x.Y)
		if assigns(x.Op) {
			w.assigns(x.X)
		} else {
			w.arithmetic(x.X)
		}
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			w.assigns(x.X)
		} else {
			w.arithmetic(x.X)
		}
	case *syntax.ParenArithm:
		w.arithmetic(x.X)
	case *syntax.FlagsArithm:
		w.raise(policy.Unknown, "shell/subscript", "subscript flags")
		w.arithmetic(x.X)
	case *syntax.Word:
		w.arithmeticWord(x)
	default:
		w.raise(policy.Unknown, "shell/unknown-node", "a kind of arithmetic that the judge does not know")
	}
}

// assigns judges the left side of an assignment: a name that means nothing else, and holds a number.
func (w *walker) assigns(x syntax.ArithmExpr) {
	name := ""
	if word, ok := x.(*syntax.Word); ok {
		name = word.Lit()
	}
	if !inertName(name) || !w.numberIn(name) {
		w.raise(policy.Unknown, "shell/assignment", "arithmetic sets a variable")
		w.arithmetic(x)
		w.setsName(name)
		return
	}
	w.setsName(name)
	w.learn(certain{name: name, kind: ofResult})
}

func (w *walker) arithmeticWord(word *syntax.Word) {
	name := word.Lit()
	if literalNumber.MatchString(name) || counter(word) {
		return
	}
	if name != "" {
		w.use(name)
	}
	parts := word.Parts
	if l, ok := parts[0].(*syntax.Lit); ok && digits(strings.TrimSuffix(l.Value, "#")) && len(parts) > 1 {
		parts = parts[1:] // behind its base
	}
	if !w.aNumber(parts) && !w.numberIn(name) {
		w.raise(policy.Unknown, "shell/arithmetic", "arithmetic evaluates the value of a name, and evaluation can run code")
	}
	outer := w.inDouble
	w.inDouble = true // quotes are text here, too
	w.word(word)
	w.inDouble = outer
}

// counter knows $#, $?, $$ and their like: always numbers.
func counter(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	p, ok := word.Parts[0].(*syntax.ParamExp)
	return ok && counterParam(p)
}

func counterParam(p *syntax.ParamExp) bool {
	if !plainParam(p) {
		return false
	}
	switch p.Param.Value {
	case "#", "?", "$", "!":
		return true
	}
	return false
}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn, syntax.AndBoolAssgn,
		syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		return true
	}
	return false
}
