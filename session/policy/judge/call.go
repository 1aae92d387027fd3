package judge

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// call is one command with its name told.
type call struct {
	name  string
	args  []programs.Arg
	stdin string
	bare  bool // its name was given without a path
}

// command1 judges a command whose first word is literal.
func (w *walker) command1(head programs.Arg, args []programs.Arg) {
	if !w.enter() {
		return
	}
	defer w.leave()
	name, trusted := programName(head.Text)
	if !trusted {
		w.raise(policy.Unknown, "shell/command-path", "only bare names and clean paths in the system's directories are trusted")
		w.runsFile(head)
	}
	for _, f := range w.functions {
		if f == head.Text {
			if w.callsHelper(head, args) {
				return
			}
			w.raise(policy.Unknown, "shell/function", "the script defines what this name means")
		}
	}
	c := call{name: name, args: args, stdin: w.stdin, bare: name == head.Text}
	w.use(name)
	w.observe(c)
	w.facts.files = w.facts.files || w.showsFiles(c)
	if name == "pushd" && len(args) == 1 && args[0].Literal {
		defer func(dir string) { w.dir = dir }(w.changed(args[0].Text))
	}
	if name == head.Text || programs.Is(name, "alsobuiltin") {
		if b := builtin(name); b != nil {
			b(w, c)
			return
		}
	}
	w.program(c)
}

// systemDirs are where a command given by its path is the program that the tables mean.
func systemDir(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin":
		return true
	}
	return false
}

// programName returns the name that the tables know, and whether the word is a plain way of saying it.
func programName(word string) (string, bool) {
	i := strings.LastIndexByte(word, '/')
	if i < 0 {
		return word, plainName(word)
	}
	return word[i+1:], systemDir(word[:i]) && plainName(word[i+1:])
}

func plainName(s string) bool { return s != "" && consistsOf(s, "_.+-[]:") }

// consistsOf reports whether a text is letters and digits, and these characters.
func consistsOf(s, more string) bool {
	for i := range len(s) {
		if !alphanumeric(s[i]) && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// program asks the tables about an external program and judges what follows from the answer.
func (w *walker) program(c call) {
	before := w.classes
	w.deletes(c)
	w.interpreter(c)
	w.netcat(c)
	f := programs.Judge(programs.Call{Name: c.name, Args: c.args, Shell: w.shell, Stdin: c.stdin, Sum: w.sum, Interactive: w.interactive, Bounded: w.timed, Direct: !w.far && c.bare, Identifiers: c.stdin == "pipe" && w.idLines})
	if f.Rule == programs.RulePackageInstall && w.installs {
		f.Class = policy.Dangerous
	}
	w.raise(f.Class, f.Rule, f.Reason)
	if w.cur.Class == policy.ReadOnly && f.Reason != "" {
		w.cur.Rule, w.cur.Reason = f.Rule, f.Reason
	}
	if !f.Known {
		w.raise(policy.Unknown, "programs/unlisted", "no table knows this program")
	}
	for _, host := range f.To {
		w.reach(host)
	}
	for _, name := range f.Env {
		w.use(name)
	}
	w.operands(c, f)
	w.recodes(f)
	if changes := f.Class == policy.Write || f.Class == policy.Dangerous; changes &&
		(w.cur.Class == policy.Dangerous || w.cur.Class == policy.Forbidden) && w.cur.Class.Worse(f.Class) {
		w.classes = w.classes&^(1<<f.Class.Rank()) | before // it is one change, and which files it is of makes it worse
	}
	w.stdinCode(c)
	if f.Class == policy.Unknown || f.Class == policy.Privileged {
		_, literal := joinLiteral(c.args)
		w.hidden = w.hidden || !literal && len(f.Nested) == 0 && programs.Is(strings.TrimRight(c.name, "0123456789."), "runsothers")
	}
	dir := w.dir
	if c.name == "env" {
		w.dir = w.envDir(c.args)
	}
	defer func() { w.dir = dir }()
	for _, n := range f.Nested {
		w.nested(n)
		if (c.name == "xargs" || c.name == "parallel") && len(n.Argv) > 0 {
			name, _ := programName(n.Argv[0].Text)
			w.facts.xargs = w.facts.xargs || !programs.Is(name, "nameonly")
			w.facts.removes = w.facts.removes || programs.Is(name, "remover")
			w.facts.shell = w.facts.shell || isInterpreter(name)
		}
	}
	w.fetchesTo(c)
}

// nested judges what a program would run.
func (w *walker) nested(n programs.Nested) {
	remote, dir, timed, far, fed, started := w.remote, w.dir, w.timed, w.far, w.fed, w.started
	w.timed, w.far, w.fed, w.started = timed || n.Bounded, true, fed && !n.Listed, true
	if n.Remote {
		w.remote, w.dir = true, ""
	}
	defer func() { w.remote, w.dir, w.timed, w.far, w.fed, w.started = remote, dir, timed, far, fed, started }()
	if n.Script != nil {
		text, ok := joinLiteral(n.Script)
		if !ok {
			w.raise(policy.Unknown, "shell/nested-code", "the code that it runs is known only when it runs")
			w.hides()
			text = w.joinLikely(n.Script)
		}
		w.script(text, n.Shell)
		return
	}
	if len(n.Argv) == 0 {
		w.raise(policy.Unknown, "shell/nested-code", "what it runs is known only when it runs")
		w.hidden = true
		return
	}
	w.part(nil, sourceOf(n.Argv), func() { w.callWords(n.Argv, false) })
}

func joinLiteral(words []programs.Arg) (string, bool) {
	var b strings.Builder
	ok := true
	for i, a := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.Text)
		ok = ok && a.Literal
	}
	return b.String(), ok
}

// sourceOf gives the words of a nested command as they were written, as far as a Part shows them.
func sourceOf(words []programs.Arg) string {
	var b strings.Builder
	for i, a := range words {
		if b.Len() > maxText {
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if a.Source == "" {
			b.WriteString(clip(a.Text))
		} else {
			b.WriteString(clip(a.Source))
		}
	}
	return b.String()
}

// stdinCode judges interpreters whose code comes in by a redirect or a pipe.
func (w *walker) stdinCode(c call) {
	if takesCommands(c) && c.stdin != "none" {
		w.hidden = w.hidden || c.stdin != "heredoc"
		w.raise(policy.Unknown, "shell/stdin-code", "an interpreter runs what it reads")
	}
}
