package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// simple judges a command of words, with its assignments and redirects. c is nil when there are only redirects.
func (w *walker) simple(s *syntax.Stmt, c *syntax.CallExpr) {
	outer, listings := w.subst, w.listings
	var subst facts
	w.subst, w.listings = &subst, nil
	defer func() { w.subst, w.listings = outer, listings }()

	if c != nil {
		w.assignments(s, c)
		w.wordList(c.Args)
	}
	if c != nil && len(c.Args) > 1 && isLabel(c.Args[0].Lit()) {
		w.raise(policy.Unknown, "shell/label", "ksh93 takes this for a label, and runs what stands behind it")
		rest := c.Args[1:]
		for len(rest) > 1 && isLabel(rest[0].Lit()) {
			rest = rest[1:]
		}
		w.callWords(w.args(rest), w.ansiCommand(rest[0]))
	}
	run := func(fn func()) { fn() }
	if len(s.Redirs) > 0 {
		run = w.maybe // a redirect that fails skips the command
	}
	w.withRedirects(s, func() {
		switch {
		case c == nil:
			if maybeZsh(w.shell) {
				w.use("cat")
				w.use("more")
				w.use("pager")
			}
			if (w.subshell == 0 || maybeZsh(w.shell)) && !w.splitFrom(s) {
				w.raise(policy.Unknown, "shell/redirect", "zsh starts a program of its own for redirects without a command")
			}
		case len(c.Args) > 0 && len(w.listings) > 0:
			run(func() {
				w.readsListed(func() { w.callWords(w.args(c.Args), w.ansiCommand(c.Args[0])) })
			})
		case len(c.Args) > 0:
			run(func() { w.callWords(w.args(c.Args), w.ansiCommand(c.Args[0])) })
		}
	})
	if outer != nil {
		outer.add(subst)
	}
}

// isLabel reports whether a word is a name and a colon, without quotes.
func isLabel(word string) bool {
	name, ok := strings.CutSuffix(word, ":")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || r != '.' && !alphanumeric(byte(r)) && r != '_' }) && (name[0] < '0' || name[0] > '9')
}

// ansiCommand reports whether the command word holds $'…': read differently by shells that do not know it.
func (w *walker) ansiCommand(word *syntax.Word) bool {
	for i, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.HasSuffix(p.Value, "$") && after(word.Parts, i) != nil {
				return true
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return true
			}
		case *syntax.DblQuoted:
			if p.Dollar {
				return true
			}
		}
	}
	return false
}

func (w *walker) assignments(s *syntax.Stmt, c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		if a == nil || a.Name == nil {
			w.raise(policy.Unknown, "shell/assignment", "an assignment to a name that cannot be determined")
			w.setsName("*")
			continue
		}
		w.assignment(a)
		if len(c.Args) == 0 {
			w.remember(a)
		}
		name := a.Name.Value
		switch {
		case len(c.Args) == 0:
			w.setsName(name)
			w.assigned(s, a)
			if a.Array != nil && a.Index == nil && inertName(name) && plainArray(a.Array) {
				w.listAssigned(a)
			} else if !inertName(name) || a.Append || a.Index != nil || a.Array != nil {
				w.raise(policy.Unknown, "shell/assignment", "it sets a variable, which later commands may depend on")
			} else if a.Value != nil {
				// As in a loop, the value may be used as a path.
				for _, v := range w.appendArg(nil, a.Value) {
					w.secretOperand(v)
				}
			}
		case !a.Append && a.Index == nil && a.Array == nil && w.onlyLooks(name, a.Value):
		case name == "IFS" && c.Args[0].Lit() == "read" && w.splits(a):
		case !(policy.Inert(name) && name != "COLUMNS" && name != "LINES") || a.Append || a.Index != nil || a.Array != nil || !w.inertAssign(name, a.Value):
			w.setsName(name)
			w.raise(policy.Unknown, "shell/environment", "the variable "+name+" may change what the program does")
		}
	}
}

// splits reports whether an assignment to IFS says how one read splits its line, and nothing else.
func (w *walker) splits(a *syntax.Assign) bool {
	if a.Append || a.Index != nil || a.Array != nil {
		return false
	}
	args := w.appendArg(nil, a.Value)
	return len(args) == 0 || len(args) == 1 && args[0].Literal
}

// onlyLooks reports whether an assignment before a command changes no more than how its output looks: PAGER=cat.
func (w *walker) onlyLooks(name string, value *syntax.Word) bool {
	if !strings.HasSuffix(name, "PAGER") && name != "SYSTEMD_COLORS" {
		return false
	}
	args := w.appendArg(nil, value)
	return len(args) == 0 && programs.Inert(name, "") || len(args) == 1 && args[0].Literal && programs.Inert(name, args[0].Text)
}

func (w *walker) inertAssign(name string, value *syntax.Word) bool {
	if value == nil {
		return true
	}
	args := w.appendArg(nil, value)
	return len(args) == 1 && args[0].Literal && policy.InertSetting(name, args[0].Text)
}

// assignment judges the expansions of an assignment.
func (w *walker) assignment(a *syntax.Assign) {
	w.word(a.Value)
	if a.Index != nil && !plainIndex(a.Index) {
		w.arithmetic(a.Index)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				w.arithmetic(e.Index)
			}
			w.word(e.Value)
		}
	}
}

// callWords judges a command by its words after expansion.
func (w *walker) callWords(args []programs.Arg, ansi bool) {
	if len(args) == 0 {
		w.raise(policy.Unknown, "shell/command-word", "no command word is left after expansion")
		w.hidden = true
		return
	}
	if ansi {
		w.raise(policy.Unknown, "shell/command-word", "the command is spelled with escapes that not every shell reads the same")
	}
	head := args[0]
	w.ownCall(head, args[1:])
	if head.Source != head.Text && strings.Contains(head.Source, "{") {
		w.raise(policy.Unknown, "shell/command-word", "a brace expansion makes the command")
	}
	if !head.Literal || head.Text == "" {
		w.raise(policy.Unknown, "shell/command-word", "which command this is, is known only when it runs")
		w.hides()
		w.runsFile(head)
		w.hiddenDelete(args[1:])
		return
	}
	w.command1(head, args[1:])
}
