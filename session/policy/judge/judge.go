package judge

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/parse"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Judge says what a request means. It may be called concurrently. It never fails: what it cannot tell is Unknown.
func Judge(req Request) Report {
	if req.Program != "" {
		return judgeWords(req)
	}
	src := Normalize(req.Script)
	s := scanBytes(src)
	if s.refused.class != "" {
		return refuse(s.refused, src)
	}
	if s.invalid {
		src = strings.ToValidUTF8(src, "\uFFFD")
	}
	text, cut := prefixWithinCaps(src)
	var out Report
	list := readings(req.Shell, text)
	for i, d := range list {
		r := judgeText(req, d, text, s, cut)
		if i == 0 {
			out = r
			continue
		}
		out = stricter(out, r)
	}
	if req.Shell == "" && len(list) == 1 && strings.Contains(text, "<<<") {
		out.Traceless = false // shells that cannot parse it may end
	}
	return out
}

func judgeText(req Request, d dialect, text string, s scan, cut bool) Report {
	w, root := newWalker(req, d)
	w.src = text
	if cut {
		w.cap("it is longer or more deeply nested than is looked at")
	}
	if !knownShell(req.Shell) {
		w.raise(policy.Unknown, "shell/unknown-shell", "the judge does not know the language of this shell")
	}
	if s.invalid {
		w.raise(policy.Unknown, "bytes/encoding", "it is not UTF-8, so it cannot be shown for review")
	}
	w.ownText(text)
	file := w.text(s.invisible)
	r := w.report(*root)
	r.Traceless = r.Class == policy.ReadOnly && !r.Taints && !r.Capped && !r.Hidden && traceless(file, text)
	return r
}

// newWalker begins a judgement.
func newWalker(req Request, d dialect) (walker, *Part) {
	acc := account{
		interactive: req.Interactive, installs: req.Installs, own: req.Own, resolved: req.Resolved, classes: 1, useNames: make([]string, 0, 8),
	}
	root := Part{Class: policy.ReadOnly, Rule: "judge/nothing", Reason: "there is nothing to run"}
	w := walker{account: &acc, d: d, shell: req.Shell, far: req.Elsewhere || req.Program != "", cur: &root, facts: &facts{}, stdin: "none", dir: startDir(req.Dir)}
	if req.Interactive && req.Program == "" {
		w.stdin = ""
	}
	return w, &root
}

// text parses the walker's source, judges it and returns what was parsed.
func (w *walker) text(invisible bool) *syntax.File {
	if strings.Contains(w.src, "$\\\n") || strings.Contains(w.src, "`\\\n") {
		w.raise(policy.Unknown, "shell/continuation", "a line is continued within an expansion")
	}
	file, doubt, err := parse.File(w.d.lang, w.src)
	switch doubt {
	case parse.Comment, parse.MidWord:
		w.raise(policy.Unknown, "shell/comment", string(doubt))
	case parse.HereDocument:
		w.raise(policy.Unknown, "shell/heredoc", string(doubt))
	}
	if err != nil {
		w.raise(policy.Unknown, "shell/syntax", "it cannot be parsed as a whole")
		if w.d.lang != syntax.LangBash {
			// What one parser gives up on, another may still show to be forbidden.
			if more, _, _ := parse.File(inBash.lang, w.src); more != nil {
				w.walkFile(more, true)
			}
		}
	}
	if w.interactive && maybeZsh(w.shell) && strings.IndexByte(w.src, '#') >= 0 {
		w.comments()
	}
	if invisible {
		w.invisibles(file, err == nil)
	}
	if file != nil {
		if w.subshell == 0 {
			w.last = lastCommand(file)
		}
		w.walkFile(file, err != nil)
	}
	return file
}

// lastCommand is where the last command of a script begins, of those that run one after the other.
func lastCommand(file *syntax.File) (at syntax.Pos) {
	if len(file.Stmts) == 0 {
		return at
	}
	s := file.Stmts[len(file.Stmts)-1]
	if b, ok := plainBinary(s); ok && !isPipe(b.Op) {
		s = b.Y
	}
	return s.Pos()
}

// endsBehind reports whether the shell that the current part changes ends with the script, and more of the script comes before that. In
// the session's own shell it does if the script says so: see [Report.Ends].
func (w *walker) endsBehind() bool {
	if w.subshell == 0 {
		if at := w.last; w.interactive || w.cur.Line > int(at.Line()) || w.cur.Line == int(at.Line()) && w.cur.Col >= int(at.Col()) {
			return false
		}
		w.ends = true
	}
	return true
}

// comments judges what stands behind a #. An interactive zsh does not take it for a comment unless it is told to: then
// operators in it end the command, and expansions in it run.
func (w *walker) comments() {
	p := syntax.NewParser(syntax.Variant(w.d.lang), syntax.KeepComments(true))
	file, _ := p.Parse(strings.NewReader(w.src), "")
	if file == nil {
		return
	}
	seen := func(list []syntax.Comment) {
		for _, c := range list {
			if strings.ContainsAny(c.Text, ";&|$`()<>\\'\"") {
				w.raise(policy.Unknown, "shell/comment", "an interactive zsh runs what looks like a comment")
			}
		}
	}
	defer func() { _ = recover() }() // a torn file may be torn anywhere, and asks already
	seen(file.Last)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			seen([]syntax.Comment{*c})
		}
		return true
	})
}

// walkFile walks a parsed file. What the parser leaves behind after an error may be torn anywhere.
func (w *walker) walkFile(file *syntax.File, torn bool) {
	if torn {
		cur, f, subst, depth := w.cur, w.facts, w.subst, w.depth
		defer func() {
			if recover() != nil {
				w.cur, w.facts, w.subst, w.depth = cur, f, subst, depth
				w.raise(policy.Unknown, "shell/syntax", "it cannot be parsed as a whole")
			}
		}()
	}
	if !torn {
		w.helpers = w.helpersOf(file)
	}
	w.stmts(file.Stmts)
}

// invisibles refuses characters that cannot be seen; within quotes they may be meant, and ask.
func (w *walker) invisibles(file *syntax.File, whole bool) {
	forbid := func() {
		w.raise(policy.Forbidden, "bytes/invisible", "a character that cannot be seen, or that passes for a space")
	}
	w.raise(policy.Unknown, "bytes/invisible", "a character that cannot be seen, within quotes")
	if !whole {
		forbid()
		return
	}
	quoted := make([]bool, len(w.src))
	mark := func(n syntax.Node) {
		for i := int(n.Pos().Offset()); i < int(n.End().Offset()) && i < len(quoted); i++ {
			quoted[i] = true
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			mark(n)
			return false
		case *syntax.DblQuoted:
			for _, p := range n.Parts {
				if l, ok := p.(*syntax.Lit); ok {
					mark(l)
				}
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				mark(n.Hdoc)
			}
		}
		return true
	})
	for i, r := range w.src {
		if r >= utf8.RuneSelf && !quoted[i] && isInvisible(r) {
			forbid()
			return
		}
	}
}

// script judges shell source within a command, in a shell of its own.
func (w *walker) script(src, shell string) {
	if src == "" || !w.enter() {
		return
	}
	defer w.leave()
	src = Normalize(src)
	s := scanBytes(src)
	if s.refused.class != "" {
		w.raise(policy.Unknown, s.refused.rule, s.refused.reason)
		return
	}
	text, cut := prefixWithinCaps(strings.ToValidUTF8(src, "\uFFFD"))
	if cut {
		w.cap("a script within it is longer or more deeply nested than is looked at")
	}
	if shell == "" {
		shell = w.shell
	}
	for _, d := range readings(shell, text) {
		inner := *w
		inner.d, inner.shell, inner.src, inner.shapes = d, shell, text, nil
		inner.started, inner.helpers, inner.defined, inner.calling, inner.given = false, nil, nil, nil, nil
		inner.subst, inner.sure, inner.stdin, inner.sum, inner.inDouble = nil, nil, "none", false, false
		inner.subshell++
		w.part(nil, text, func() {
			inner.cur = w.cur
			inner.text(s.invisible)
		})
	}
}

func startDir(dir string) string {
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	return path.Clean(dir)
}

// judgeWords judges structured mode: exact words, which no shell reads.
func judgeWords(req Request) Report {
	all := req.Program + "\n" + strings.Join(req.Args, "\n")
	s := scanBytes(all)
	if s.refused.class != "" {
		return refuse(s.refused, req.Program)
	}
	w, root := newWalker(req, inBash)
	if s.invalid || s.invisible {
		w.raise(policy.Unknown, "bytes/encoding", "a word that cannot be shown as it is")
	}
	if len(all) > maxScript || len(req.Args) > hardParts {
		w.cap("it is longer than is looked at")
	}
	args := make([]programs.Arg, 0, len(req.Args))
	for _, a := range req.Args[:min(len(req.Args), hardParts)] {
		if len(a) > maxWord {
			w.cap("a word is longer than is looked at")
			a = strings.ToValidUTF8(a[:maxWord], "")
		}
		args = append(args, literal(a))
	}
	if strings.IndexByte(req.Program, '/') >= 0 {
		w.raise(policy.Unknown, "shell/command-path", "structured mode takes bare names of programs")
	}
	w.ownText(all)
	w.part(nil, clip(strings.Join(append([]string{req.Program}, req.Args...), " ")), func() {
		w.ownCall(literal(req.Program), args)
		w.command1(literal(req.Program), args)
	})
	r := w.report(*root)
	r.Traceless = r.Class == policy.ReadOnly && !r.Capped && !r.Hidden && !startsBehind(all)
	return r
}

func refuse(v verdict, src string) Report {
	return Report{
		Class: v.class, Rule: v.rule, Reason: v.reason, Classes: []policy.Class{v.class}, Taints: true,
		Parts: []Part{{Line: 1, Col: 1, Text: clip(src), Class: v.class, Rule: v.rule, Reason: v.reason}},
	}
}

func (w *walker) report(root Part) Report {
	return Report{
		Class: root.Class, Rule: root.Rule, Reason: root.Reason,
		Classes: classesOf(w.classes), Parts: root.Parts,
		Sets: sortedNames(w.setNames), Uses: sortedNames(w.useNames), Reads: w.reads, Writes: w.writes, To: w.to,
		Ends: w.ends && root.Class != policy.Unknown, Taints: root.Class != policy.ReadOnly || w.ends || len(w.setNames) > 0, Capped: w.capped, Hidden: w.hidden,
		Own: w.ownUse, OwnAsks: w.ownAsks, Named: w.named,
	}
}

// stricter joins what two languages make of one text: the worse tells the story, and both count.
func stricter(a, b Report) Report {
	if b.Class.Worse(a.Class) {
		a, b = b, a
	}
	var set uint8
	for _, c := range a.Classes {
		set |= 1 << c.Rank()
	}
	for _, c := range b.Classes {
		set |= 1 << c.Rank()
	}
	a.Classes = classesOf(set)
	a.Sets, a.Uses = sortedNames(both(a.Sets, b.Sets)), sortedNames(both(a.Uses, b.Uses))
	a.Reads, a.Writes, a.To, a.Named = both(a.Reads, b.Reads), both(a.Writes, b.Writes), both(a.To, b.To), both(a.Named, b.Named)
	a.Taints, a.Traceless, a.Ends = a.Taints || b.Taints, a.Traceless && b.Traceless, (a.Ends || b.Ends) && a.Class != policy.Unknown
	a.Capped, a.Hidden = a.Capped || b.Capped, a.Hidden || b.Hidden
	a.Own, a.OwnAsks = a.Own || b.Own, a.OwnAsks || b.OwnAsks
	return a
}

// both lists what either language makes of the words: a sandbox, and who looks for links, must know all of them.
func both[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
