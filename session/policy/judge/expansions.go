package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// word judges what expanding a word does.
func (w *walker) word(word *syntax.Word) {
	if word != nil {
		w.expand(word.Parts, false)
		if w.own != nil {
			w.ownArgs(w.appendArg(nil, word), ownWords)
		}
	}
}

func (w *walker) wordList(words []*syntax.Word) {
	for _, word := range words {
		w.word(word)
	}
}

func (w *walker) expand(parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			w.literal(p.Value, quoted, i == 0, i > 0 && isShortParam(parts[i-1]))
			if i+1 < len(parts) {
				w.seam(p.Value, parts[i+1])
			}
		case *syntax.SglQuoted:
			if w.inDouble {
				w.innerQuotes(p)
			}
		case *syntax.DblQuoted:
			if p.Dollar {
				w.raise(policy.Unknown, "shell/locale", "a translated string is whatever the host's locale makes of it")
			}
			w.expand(p.Parts, true)
		case *syntax.ParamExp:
			outer := w.inDouble
			w.inDouble = outer || quoted
			w.param(p)
			w.inDouble = outer
			if c, ok := w.certainly(p, after(parts, i)); ok && c.kind == ofText && !quoted {
				w.use("IFS") // which could make several words of it
			}
		case *syntax.CmdSubst:
			if p.Backquotes {
				w.backquotes(p, quoted)
			}
			if p.TempFile || p.ReplyVar {
				w.raise(policy.Unknown, "shell/substitution", "this substitution runs in the session's own shell")
			}
			w.substitution(p.Stmts)
			if w.listsOne(p.Stmts) {
				w.listings = append(slices.Clip(w.listings), w.substituted)
			}
		case *syntax.ProcSubst:
			if len(p.Stmts) == 0 {
				w.raise(policy.Unknown, "shell/quirk", "where nothing runs, bash puts nothing in its place, and other shells a file")
			}
			if p.Op != syntax.CmdIn {
				w.raise(policy.Unknown, "shell/substitution", "a process that outlives the command, or a temporary file")
			}
			w.substitution(p.Stmts)
		case *syntax.ArithmExp:
			w.arithmetic(p.X)
		case *syntax.ExtGlob:
			w.raise(policy.Unknown, "shell/pattern", "one shell reads this as a pattern, another as code")
		default:
			w.raise(policy.Unknown, "shell/unknown-node", "a kind of word that the judge does not know")
		}
	}
}

// seam looks at what a literal and the part behind it make together.
func (w *walker) seam(s string, next syntax.WordPart) {
	switch l, isLit := next.(*syntax.Lit); {
	case s == "~" && isLit:
		w.tilde(s + l.Value)
	case strings.HasSuffix(s, "\\!"):
	case strings.HasSuffix(s, "!"):
		w.raise(policy.Unknown, "shell/history", "an interactive shell may replace ! by an earlier command")
	case strings.HasSuffix(s, "$") && isLit && strings.HasPrefix(l.Value, "["):
		w.oldArithmetic()
	case strings.HasSuffix(s, "$") && !isLit && !w.dollarQuoted(s, next):
		w.raise(policy.Unknown, "shell/dollar-quote", "newer shells of this kind read escapes in these quotes")
	}
}

// oldArithmetic is $[…], which the parser reads as text in the languages of shells that evaluate it.
func (w *walker) oldArithmetic() {
	w.raise(policy.Unknown, "shell/arithmetic", "some shells evaluate $[…] as arithmetic, which can run code")
}

func isShortParam(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Short
}

// literal looks for what zsh and history expansion read into plain characters.
func (w *walker) literal(s string, quoted, first, afterParam bool) {
	if first && !quoted {
		if len(s) > 1 && s[0] == '=' && s[1] != '=' && s[1] != '~' && !w.inPattern {
			w.raise(policy.Unknown, "shell/equals", "zsh replaces =name by the path of a command")
		}
		if s[0] == '~' {
			w.tilde(s)
		}
	}
	if afterParam && s != "" && s[0] == '[' && maybeZsh(w.shell) {
		w.raise(policy.Unknown, "shell/subscript", "zsh evaluates what follows the variable as a subscript")
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(', ')':
			if !quoted {
				w.raise(policy.Unknown, "shell/pattern", "zsh may run code in a qualifier of a pattern")
			}
		case '$':
			if strings.HasPrefix(s[i:], "$[") {
				w.oldArithmetic()
			}
		case '!':
			if i+1 < len(s) && historyEvent(s[i+1]) {
				w.raise(policy.Unknown, "shell/history", "an interactive shell may replace ! by an earlier command")
			}
		}
	}
}

func historyEvent(c byte) bool { return alphanumeric(c) || strings.IndexByte("!$^*?#-:{%/", c) >= 0 }

// tilde allows ~, ~/… and ~name/…; other forms are looked up in the session's own tables.
func (w *walker) tilde(s string) {
	w.use("HOME")
	name, _, _ := strings.Cut(s[1:], "/")
	if !userName.MatchString(name) {
		w.raise(policy.Unknown, "shell/tilde", "the meaning of this tilde depends on the session")
	}
}

var userName = lazyregexp.New(`^(?:[a-z][a-z0-9._-]*)?$`)

func (w *walker) param(p *syntax.ParamExp) {
	if p.Param != nil {
		if _, own := w.certainty(p.Param.Value); !own || !plainParam(p) || !inertName(p.Param.Value) {
			w.use(p.Param.Value)
		}
		if name := p.Param.Value; !p.IsSet && !p.Length && namesSecret(name) && !alternativeOnly(p) {
			w.raise(policy.SensitiveRead, "secrets/variable", "the variable is named like one that holds a secret")
		}
	}
	switch {
	case p.Excl && p.Names == 0:
		w.raise(policy.Unknown, "shell/indirect", "the value of one variable names another, and may hold code")
	case p.NestedParam != nil:
		w.raise(policy.Unknown, "shell/nested", "a nested expansion")
		w.expand([]syntax.WordPart{p.NestedParam}, true)
	case p.Flags != nil, len(p.Modifiers) > 0, p.Width, p.GlobSubst != syntax.OptUnset, p.Split != syntax.OptUnset, p.RcExpand != syntax.OptUnset:
		w.raise(policy.Unknown, "shell/flags", "expansion flags can run code")
	case p.Param == nil:
		w.raise(policy.Unknown, "shell/nested", "an expansion without a name")
	}
	if p.Index != nil && !plainIndex(p.Index) {
		w.raise(policy.Unknown, "shell/subscript", "a subscript is evaluated, and evaluation can run code")
		w.arithmetic(p.Index)
	}
	if p.Slice != nil {
		w.arithmetic(p.Slice.Offset)
		w.arithmetic(p.Slice.Length)
	}
	if p.Repl != nil {
		w.word(p.Repl.Orig)
		w.word(p.Repl.With)
	}
	if p.Exp != nil {
		w.expansion(p)
	}
}

// alternativeOnly reports whether the value itself is never part of the result.
func alternativeOnly(p *syntax.ParamExp) bool {
	return p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
}

func (w *walker) expansion(p *syntax.ParamExp) {
	outer := w.inPattern
	switch w.inPattern = false; p.Exp.Op {
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		w.inPattern = true
	}
	w.word(p.Exp.Word)
	switch w.inPattern = outer; p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix,
		syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		w.sets(p.Param)
		w.raise(policy.Unknown, "shell/assignment", "the expansion sets a variable")
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		// It ends the shell when the variable is unset: the very guard that careful people write.
		w.raise(policy.Unknown, "shell/abort", "the expansion may end the session's shell")
	default:
		w.raise(policy.Unknown, "shell/operator", "this expansion operator can evaluate the value")
	}
}

// substitution judges the commands of $(…), `…` and <(…), which run in a shell of their own.
func (w *walker) substitution(stmts []*syntax.Stmt) {
	outer, dir, stdin, sum, inDouble, inPattern, sure := w.facts, w.dir, w.stdin, w.sum, w.inDouble, w.inPattern, w.sure
	var f facts
	w.facts, w.stdin, w.sum, w.inDouble, w.inPattern = &f, "none", false, false, false
	w.subshell++
	w.stmts(stmts)
	w.subshell--
	w.facts, w.dir, w.stdin, w.sum, w.inDouble, w.inPattern, w.sure, w.substituted = outer, dir, stdin, sum, inDouble, inPattern, sure, f
	if outer != nil {
		outer.xargs = outer.xargs || f.xargs // of names that the stage reads
	}
	if w.subst != nil {
		w.subst.add(f)
	}
}

func plainIndex(x syntax.ArithmExpr) bool {
	if last, ok := x.(*syntax.UnaryArithm); ok && last.Op == syntax.Minus {
		x = last.X
	}
	word, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	s := word.Lit()
	return s == "@" || s == "*" || digits(s)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
