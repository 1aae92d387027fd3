package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// withRedirects judges the redirects of s, then the command in fn with its standard input known.
func (w *walker) withRedirects(s *syntax.Stmt, fn func()) {
	stdin, sum, plain, facts := w.stdin, w.sum, w.stdinPlain, w.facts
	var socket bool
	var texts []*syntax.Redirect
	for _, r := range s.Redirs {
		if r == nil {
			continue
		}
		socket = w.redirect(r) || socket
		w.behindClosed(r, s)
		if r.Hdoc != nil || r.Op == syntax.WordHdoc {
			texts = append(texts, r)
		}
	}
	before := *facts
	facts.shell = false
	fn()
	if socket && (facts.shell || w.execs(s)) {
		w.raise(policy.Forbidden, "forbidden/reverse-shell", "a shell whose input or output is a network connection")
	}
	if facts.shell && len(texts) > 0 {
		for _, r := range texts {
			w.fedCode(r)
		}
	}
	if facts.unseen() {
		w.unseenFiles(s.Redirs)
	}
	facts.shell = facts.shell || before.shell
	facts.connects = facts.connects || socket
	facts.fetches = facts.fetches || socket
	w.stdin, w.sum, w.stdinPlain = stdin, sum, plain
}

// unseenFiles notes where something fetched or decoded is kept.
func (w *walker) unseenFiles(list []*syntax.Redirect) {
	for _, r := range list {
		if r == nil || r.Op == syntax.RdrIn || r.Hdoc != nil {
			continue
		}
		for _, a := range w.appendArg(nil, r.Word) {
			w.keeps(a)
		}
	}
}

// execs reports whether the statement replaces the shell, or only its descriptors.
func (w *walker) execs(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "exec"
}

// fedCode judges a here-document or here-string that an interpreter reads.
func (w *walker) fedCode(r *syntax.Redirect) {
	word := r.Hdoc
	if word == nil {
		word = r.Word
	}
	if word == nil {
		return
	}
	t := text{pure: true}
	if r.Hdoc != nil {
		w.build(&t, word.Parts, true)
	} else {
		w.build(&t, word.Parts, false)
	}
	w.raise(policy.Unknown, "shell/stdin-code", "an interpreter runs what it reads")
	if t.open {
		w.hides()
	}
	w.script(t.likely.String(), "")
}

// redirect judges one redirect and reports whether it opens a network connection.
func (w *walker) redirect(r *syntax.Redirect) (socket bool) {
	if r.N != nil && !digits(r.N.Value) {
		w.sets(r.N)
		w.raise(policy.Unknown, "shell/redirect", "it keeps a descriptor in a variable")
	}
	if r.N != nil && len(r.N.Value) > 1 && w.shell != "bash" {
		w.raise(policy.Unknown, "shell/quirk", "only bash takes two digits for a descriptor, others for one more word")
	}
	toStdin := r.N == nil || r.N.Value == "0"
	if toStdin || r.Op == syntax.DplIn {
		w.sum = false
	}
	if r.Hdoc != nil {
		w.expand(r.Hdoc.Parts, true)
		if toStdin {
			w.stdin, w.sum, w.stdinPlain = "heredoc", w.isSum(r.Hdoc), r.Hdoc.Lit() != ""
		}
		return false
	}
	listings := w.listings
	if w.word(r.Word); len(w.listings) > len(listings) {
		w.raise(policy.Unknown, "shell/redirect", "which file this is, is known only when it runs")
	}
	w.listings = listings
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		return false
	}
	if r.Op == syntax.WordHdoc {
		if toStdin {
			args := w.appendArg(nil, r.Word)
			w.stdin, w.sum, w.stdinPlain = "heredoc", w.isSum(r.Word), len(args) == 1 && args[0].Literal
		}
		return false
	}
	args := w.appendArg(nil, r.Word)
	if len(args) != 1 {
		w.raise(policy.Unknown, "shell/redirect", "where it is redirected is known only when it runs")
		return false
	}
	a := args[0]
	if strings.HasPrefix(a.Text, "/dev/tcp/") || strings.HasPrefix(a.Text, "/dev/udp/") {
		w.raise(policy.Unknown, "shell/network", "the shell opens a network connection")
		w.reach("")
		return true
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		w.duplicate(r, a)
	case syntax.RdrIn:
		w.readFrom(a, toStdin)
	default:
		w.writeTo(a)
	}
	return false
}

// behindClosed judges what bash runs of >&-word: the dash closes the stream, and the word belongs to the command.
func (w *walker) behindClosed(r *syntax.Redirect, s *syntax.Stmt) {
	if r.Op != syntax.DplIn && r.Op != syntax.DplOut || len(r.Word.Parts) == 0 {
		return
	}
	l, ok := r.Word.Parts[0].(*syntax.Lit)
	if !ok || l.Value[:1] != "-" || l.Value == "-" && len(r.Word.Parts) == 1 {
		return
	}
	w.raise(policy.Unknown, "shell/quirk", "bash takes what follows the dash for a word of the command")
	from, to := int(l.Pos().Offset())+1, int(s.End().Offset())
	if from < to && to <= len(w.src) {
		w.script(w.src[from:to], "")
	}
}

// duplicate judges n>&m. Only the three standard streams are known to be what they seem.
func (w *walker) duplicate(r *syntax.Redirect, a programs.Arg) {
	if a.Literal {
		switch strings.TrimSuffix(a.Text, "-") {
		case "", "0", "1", "2":
			return
		}
		if digits(strings.TrimSuffix(a.Text, "-")) {
			w.raise(policy.Unknown, "shell/redirect", "what this descriptor leads to was decided earlier")
			return
		}
	}
	if r.Op == syntax.DplOut {
		w.writeTo(a)
		return
	}
	w.raise(policy.Unknown, "shell/redirect", "which descriptor this is, is known only when it runs")
}

func (w *walker) readFrom(a programs.Arg, toStdin bool) {
	if toStdin {
		w.stdin, w.stdinPlain = "file", w.plainFile(a)
		if a.Literal && a.Text == "/dev/null" {
			w.stdin = "none"
		}
	}
	w.noteRead(a)
	w.secretOperand(a)
	w.upFromALink(a)
	w.inputDevice(a)
	w.ownArgs([]programs.Arg{a}, ownOpens)
	if w.shapeOf(a).opaque || a.Glob {
		w.raise(policy.Unknown, "shell/redirect", "which file it reads is known only when it runs")
	}
}

// writeTo judges a redirect that creates or changes a file. Only the exact /dev/null is nothing.
func (w *walker) writeTo(a programs.Arg) {
	if a.Literal && a.Text == "/dev/null" {
		return
	}
	if !a.Literal {
		w.raise(policy.Unknown, "shell/redirect", "which file it writes is known only when it runs")
	}
	w.raise(policy.Write, "shell/redirect", "it writes to a file")
	w.noteWrite(a, false)
	w.ownArgs([]programs.Arg{a}, ownOpens)
	w.plants(a)
}

// inputDevice asks where input comes from a device: it may never end, take what somebody types, or start something.
func (w *walker) inputDevice(a programs.Arg) {
	switch p := resolve(w.shapeOf(a).wild, w.dir); {
	case p == "/dev/fd/0":
	case strings.HasPrefix(p, "/dev/fd/"):
		if !a.Literal && strings.ContainsAny(a.Source, "(") {
			return // a process substitution: what it runs is judged
		}
		w.raise(policy.Unknown, "shell/redirect", "what this descriptor leads to was decided earlier")
	case device(p):
		w.raise(policy.Unknown, "shell/redirect", "it reads a device, which may never end, or react to being read")
	}
}

// device reports whether reading a file may never end, or make something happen: a watchdog starts. The path is clean.
func device(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return false
	case "/proc/kmsg":
		return true
	}
	return strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/fd/") ||
		strings.HasPrefix(name, "/sys/") && strings.HasSuffix(name, "/trace_pipe")
}

// readsDevice asks where a name leads to a device, by its beginning, from where the script stands, or as a pattern.
func (w *walker) readsDevice(a programs.Arg) {
	s := w.shapeOf(a).wild
	if s == "" || s[0] == '~' || w.dir == "" && s[0] != '/' {
		return
	}
	p := resolve(s, w.dir)
	if s[0] == '/' && a.Literal && places().disk.find(segments(p), false) != nil {
		w.raise(policy.SensitiveRead, "secrets/path", "it is a raw disk or memory device")
		return
	}
	first, rest, below := strings.Cut(strings.TrimLeft(p, "/"), "/")
	aimed := device(p)
	for _, name := range [...]string{"zero", "full", "random", "urandom", "tty", "console", "kmsg", "watchdog"} {
		aimed = aimed || below && isWild(first) && matchGlob(first, "dev") && matchGlob(rest, name)
	}
	if aimed {
		w.raise(policy.Unknown, "paths/device", "it reads a device, which may never end, or react to being read")
	}
}
