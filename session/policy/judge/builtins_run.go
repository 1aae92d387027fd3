package judge

import (
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// eval judges the text that eval puts together. It is never a read: what it shows is not what runs.
func (w *walker) eval(c call) {
	args := c.args
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 1 && args[0].Literal && len(args) == len(c.args) && w.endsSubshell(`eval `+args[0].Source) {
		w.fine("builtins/eval-literal", "it runs text that is literal, in a shell of its own")
		w.script(args[0].Text, "")
		return
	}
	w.unknown(c, "eval runs text as code")
	if _, ok := joinLiteral(args); !ok {
		w.hides()
	}
	w.script(w.joinLikely(args), "")
}

// endsSubshell reports whether the current command is command, the last in a subshell, and nothing but the ends of subshells comes behind
// it: a command with a directory or variables of its own is sent like that, as [session.Command] says. What it leaves behind is gone
// then, and nothing of it has to be followed.
func (w *walker) endsSubshell(command string) bool {
	if w.subshell == 0 {
		return false
	}
	rest := w.src
	for range w.cur.Line - 1 {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	rest = strings.TrimPrefix(rest[min(max(w.cur.Col-1, 0), len(rest)):], `\`)
	behind, ok := strings.CutPrefix(rest, command)
	return ok && behind != "" && strings.Trim(behind, ")") == ""
}

// joinLikely joins words, each as far as it is known.
func (w *walker) joinLikely(words []programs.Arg) string {
	var list []string
	for _, a := range words {
		list = append(list, w.shapeOf(a).likely)
	}
	return strings.Join(list, " ")
}

// sourceFile judges the builtin that runs a file in the session's own shell.
func (w *walker) sourceFile(c call) {
	if len(c.args) == 1 && c.args[0].Literal && (c.args[0].Text == "/etc/os-release" || c.args[0].Text == "/usr/lib/os-release") && w.endsBehind() {
		w.noteRead(c.args[0])
		w.forget("*") // but nothing of it reaches the session
		w.fine("builtins/.", "it sets what the system says of itself, in a shell of its own")
		return
	}
	w.unknown(c, "it runs a file in the session's own shell")
	w.setsName("*")
	if w.subst != nil && w.subst.unseen() {
		w.forbidUnseen()
	}
	if len(c.args) == 0 {
		return
	}
	a := c.args[0]
	w.noteRead(a)
	w.runsFile(a)
	w.hidden = w.hidden || strings.Contains(a.Source, "(") // of a process substitution, not of a file
	if a.Text == "/dev/stdin" || a.Text == "/dev/fd/0" {
		w.facts.shell, w.hidden = true, true
	}
}

// commandBuiltin judges command: a look-up, or a command of its own without functions.
func (w *walker) commandBuiltin(c call) {
	if programs.Builtin("command", c.args) == policy.ReadOnly {
		for _, a := range plainOperands(c.args) {
			w.use(a.Text)
		}
		w.fine("builtins/command", "it only says what a name means")
		return
	}
	args := c.args
	for len(args) > 0 && args[0].Literal && strings.HasPrefix(args[0].Text, "-") {
		opt := args[0].Text
		args = args[1:]
		if opt == "--" {
			break
		}
		if opt != "-p" {
			w.unknown(c, "an option that is not known")
		}
	}
	w.runs(c, args)
}

// precommand judges words that stand before a command and change how it is run.
func (w *walker) precommand(c call) {
	if c.name != "builtin" {
		w.unknown(c, "it changes how the shell runs the command")
	}
	args := c.args
	for c.name == "exec" && len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		if args[0].Text == "-a" && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if c.name == "exec" {
		w.setsName("*")
	}
	w.runs(c, args)
}

// runs judges the command that a builtin runs.
func (w *walker) runs(c call, args []programs.Arg) {
	if len(args) == 0 {
		return
	}
	defer func(far, started bool) { w.far, w.started = far, started }(w.far, w.started)
	w.far, w.started = true, true
	w.part(nil, sourceOf(args), func() { w.callWords(args, false) })
}

// cd judges a change of directory. It is a read: every path is judged from where it starts, and what a directory makes
// a program do is the program's to answer for.
func (w *walker) cd(c call) {
	args := c.args
	physical := false
	for len(args) > 0 && args[0].Literal && (args[0].Text == "-P" || args[0].Text == "-L" || args[0].Text == "--") {
		physical = physical || args[0].Text == "-P"
		args = args[1:]
	}
	w.use("CDPATH")
	w.fine("builtins/cd", "it changes the session's directory")
	switch {
	case len(args) == 0:
		w.use("HOME")
		w.dir = "~"
	case len(args) > 1:
		w.unknown(c, "more than one argument")
		w.dir = ""
	case args[0].Literal && args[0].Text == "-":
		w.use("OLDPWD")
		w.dir = ""
	case args[0].Literal && !strings.HasPrefix(args[0].Text, "-") && !strings.HasPrefix(args[0].Text, "+"):
		w.noteRead(args[0])
		w.upFromALink(args[0])
		w.dir = w.changed(args[0].Text)
		if physical || afterUp(args[0].Text) != "" { // a shell whose text leads nowhere follows the links
			w.looseDir = true
		}
	default:
		w.unknown(c, "which directory this is, is known only when it runs")
		s := w.shapeOf(args[0])
		w.dir = ""
		if s.known && (strings.HasPrefix(s.likely, "/") || strings.HasPrefix(s.likely, "~")) {
			w.dir = path.Clean(s.likely)
		}
	}
}

func (w *walker) changed(to string) string {
	switch {
	case strings.HasPrefix(to, "/"), strings.HasPrefix(to, "~"):
		return path.Clean(to)
	case w.dir == "":
		return ""
	default:
		return path.Join(w.dir, to)
	}
}

// exit judges what ends the shell: harmless in one of its own.
func (w *walker) exit(c call) {
	if !w.plainNumbers(c.args) {
		w.unknown(c, "some shells evaluate what it is given")
		return
	}
	if w.endsBehind() {
		w.fine("builtins/"+c.name, "it ends a shell of its own")
		return
	}
	w.unknown(c, "it ends the session's shell")
}

// read judges the builtin that fills variables from input. Names with subscripts are evaluated.
func (w *walker) read(c call) {
	names := 0
	for i, a := range c.args {
		switch {
		case a.Literal && (a.Text == "-r" || a.Text == "-d" || a.Text == "-a" || a.Text == "--"):
		case a.Literal && a.Text == "" && i > 0 && c.args[i-1].Text == "-d":
		case a.Literal && inertName(a.Text):
			w.setsName(a.Text)
			names++
		default:
			w.shapesSession(c)
			return
		}
	}
	if names == 0 {
		w.shapesSession(c)
		return
	}
	for _, a := range c.args {
		switch {
		case !inertName(a.Text):
		case names == 1 && w.stdin == "pipe" && w.idLines && wholeLines(c.args):
			w.learn(certain{name: a.Text, kind: ofID, whole: true})
		case names == 1 && w.stdin == "pipe" && w.fed:
			w.learn(certain{name: a.Text, kind: ofLoop, fed: true})
		default:
			w.learn(certain{name: a.Text, kind: ofSomething})
		}
	}
	w.fine("builtins/read", "it fills a variable that means nothing to the shell or to programs")
}

// wholeLines reports whether read takes one line each time.
func wholeLines(args []programs.Arg) bool {
	return !slices.ContainsFunc(args, func(a programs.Arg) bool { return a.Text == "-d" || a.Text == "-a" })
}

// kill judges signals. The shell's kill and the program are one to the judge.
func (w *walker) kill(c call) {
	if programs.Builtin("kill", c.args) == policy.ReadOnly {
		w.fine("builtins/kill", "it lists signals")
		return
	}
	args := c.args
	harmless := false
	if len(args) > 0 && args[0].Literal {
		switch t := args[0].Text; {
		case t == "-0":
			harmless, args = true, args[1:]
		case (t == "-s" || t == "-n" || t == "--signal") && len(args) > 1:
			harmless, args = args[1].Text == "0", args[2:]
		case strings.HasPrefix(t, "-") && t != "--" && len(args) > 1:
			args = args[1:]
		}
	}
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	for _, a := range args {
		if a.Literal && (a.Text == "-1" || a.Text == "1" && !harmless) {
			w.raise(policy.Forbidden, "forbidden/kill-all", "it signals the first process or every process")
		}
		if !a.Literal || !digits(a.Text) {
			harmless = harmless && (a.Source == "$!" || a.Source == "$$")
		}
	}
	if harmless {
		w.fine("builtins/kill", "signal 0 only checks that the process exists")
		return
	}
	w.raise(policy.Dangerous, "builtins/kill", "it signals processes")
}
