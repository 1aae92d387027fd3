package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// testCall judges test and [. Words at the place of an operator must be literal, -v and -R evaluate subscripts, and
// some shells evaluate the operands of numeric comparisons.
func (w *walker) testCall(c call) {
	args := c.args
	if c.name != "test" {
		end := strings.Repeat("]", len(c.name))
		if len(args) == 0 || args[len(args)-1].Text != end {
			w.unknown(c, "the closing bracket is missing")
			return
		}
		args = args[:len(args)-1]
	}
	if c.name == "[[" && !slices.ContainsFunc(args, func(a programs.Arg) bool {
		return numericOperator(a.Text) || a.Text == "-t" || a.Text == "-v" || a.Text == "-R"
	}) {
		// As a command only busybox has it, and there no word of it is anything but text.
		w.fine("builtins/test", "it only tests")
		return
	}
	for len(args) > 0 && args[0].Literal && args[0].Text == "!" {
		args = args[1:]
	}
	for i, a := range args {
		if a.Split && w.shapeOf(a).number && (i+1 < len(args) && numericOperator(args[i+1].Text) || i > 0 && numericOperator(args[i-1].Text)) {
			w.use("IFS") // which could make several words of it
			continue
		}
		if a.Split && !(a.Source != "" && a.Source[0] == '$' && len(a.Source) == 2 && strings.IndexByte("#?$!", a.Source[1]) >= 0) {
			w.unknown(c, "an unquoted expansion may become an operator")
			return
		}
		if a.Literal && (a.Text == "-v" || a.Text == "-R") && (len(args) < 3 || i != 1) {
			w.unknown(c, "this test evaluates subscripts")
			return
		}
		if a.Literal && a.Text == "-t" && i+1 < len(args) && !(i == 1 && len(args) == 3) && !binaryOperator(args[i+1].Text) && !w.plainNumbers(args[i+1:i+2]) {
			w.unknown(c, "some shells evaluate what this test is given")
			return
		}
		if a.Literal && numericOperator(a.Text) && !w.testNumbers(args, i) {
			w.unknown(c, "some shells evaluate what a numeric comparison is given")
			return
		}
	}
	if !operatorsLiteral(args) {
		w.unknown(c, "a word that may be an operator is known only when it runs")
		return
	}
	w.fine("builtins/test", "it only tests")
}

// maxTorn is how many commands a test may be torn to.
const maxTorn = 16

// tornTest judges [[ a && b ]] for shells of POSIX, to whose grammar these are two commands, and returns how many: 0 where it is nothing of
// the kind. busybox makes one test of them. To dash [[ is a command that is not there: it fails, what && joins to it does not
// run, and what || joins to it must be a command as little, such as -f. What looks like a command counts as one all the same.
func (w *walker) tornTest(all []*syntax.Stmt, ops []syntax.BinCmdOperator) int {
	if w.d.lang != syntax.LangPOSIX || all[0].Negated {
		return 0
	}
	onlyAnd, commands := true, false
	for i, s := range all[:min(len(all), maxTorn)] {
		c, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 || len(s.Redirs) > 0 || s.Background || s.Coprocess || s.Disown {
			return 0
		}
		first := c.Args[0].Lit()
		if i == 0 && first != "[[" {
			return 0
		}
		if i > 0 {
			onlyAnd = onlyAnd && ops[i-1] == syntax.AndStmt
			commands = commands || s.Negated || !unaryOperator(first)
			if !looksLikeTest(c.Args) {
				return 0
			}
		}
		if c.Args[len(c.Args)-1].Lit() != "]]" {
			continue
		}
		if i == 0 || !onlyAnd && commands {
			return 0
		}
		w.part(all[0], w.src[all[0].Pos().Offset():s.End().Offset()], func() {
			w.use("[[")
			for _, s := range all[:i+1] {
				w.wordList(s.Cmd.(*syntax.CallExpr).Args)
			}
			w.fine("builtins/test", "it only tests")
		})
		return i + 1
	}
	return 0
}

// looksLikeTest reports whether words are -f x, x = y or "$x", and not a command.
func looksLikeTest(words []*syntax.Word) bool {
	if words[len(words)-1].Lit() == "]]" {
		words = words[:len(words)-1]
	}
	switch len(words) {
	case 1:
		return words[0].Lit() == ""
	case 2:
		return unaryOperator(words[0].Lit())
	case 3:
		return binaryOperator(words[1].Lit())
	}
	return false
}

func operatorsLiteral(args []programs.Arg) bool {
	switch len(args) {
	case 0, 1:
		return true
	case 2:
		return args[0].Literal
	case 3:
		return args[1].Literal && (binaryOperator(args[1].Text) || args[0].Literal)
	}
	for i, a := range args {
		if a.Literal {
			continue
		}
		after := i > 0 && args[i-1].Literal && (binaryOperator(args[i-1].Text) || unaryOperator(args[i-1].Text))
		before := i+1 < len(args) && args[i+1].Literal && binaryOperator(args[i+1].Text)
		if !after && !before {
			return false
		}
	}
	return true
}

func binaryOperator(s string) bool {
	switch s {
	case "=", "==", "!=", "<", ">", "-nt", "-ot", "-ef", "=~":
		return true
	}
	return numericOperator(s)
}

func unaryOperator(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("bcdefghkLprsStuwxOGNnz", s[1]) >= 0
}

func numericOperator(s string) bool {
	switch s {
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

// numbersOnly knows shells whose builtins take numbers and evaluate nothing.
func numbersOnly(shell string) bool { return shell == "bash" || shell == "dash" || shell == "ash" }

// testNumbers reports whether both sides of a numeric comparison are safe in the shell that runs it. bash and dash take
// numbers only; zsh and the Korn shells evaluate.
func (w *walker) testNumbers(args []programs.Arg, i int) bool {
	if numbersOnly(w.shell) {
		return true
	}
	for _, j := range [...]int{i - 1, i + 1} {
		if j < 0 || j >= len(args) {
			continue
		}
		a := args[j]
		t := strings.TrimPrefix(a.Text, "-")
		if a.Literal && (digits(t) || t == "") || w.shapeOf(a).number {
			continue
		}
		switch strings.Trim(a.Source, `"`) {
		case "$#", "$?", "$$", "$!":
			continue
		}
		return false
	}
	return true
}

// test judges [[ … ]], whose operators the parser knows.
func (w *walker) test(x syntax.TestExpr) {
	if !w.enter() {
		return
	}
	defer w.leave()
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range [...]syntax.TestExpr{x.X, x.Y} {
				if word, ok := side.(*syntax.Word); !ok || !counter(word) && !w.aNumber(word.Parts) {
					w.raise(policy.Unknown, "shell/arithmetic", "a numeric comparison evaluates its operands")
				}
			}
		}
		w.test(x.X)
		w.test(x.Y)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			w.raise(policy.Unknown, "shell/subscript", "this test evaluates subscripts")
		}
		if word, ok := x.X.(*syntax.Word); x.Op == syntax.TsFdTerm && !(ok && digits(word.Lit())) {
			w.raise(policy.Unknown, "shell/arithmetic", "some shells evaluate what this test is given")
		}
		w.test(x.X)
	case *syntax.ParenTest:
		w.test(x.X)
	case *syntax.Word:
		w.word(x)
	default:
		w.raise(policy.Unknown, "shell/unknown-node", "a kind of test that the judge does not know")
	}
	if w.cur.Class == policy.ReadOnly {
		w.fine("shell/test", "it only tests")
	}
}
