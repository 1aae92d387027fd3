package sandbox

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/parse"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// words looks at a simple command, and returns where the shell may stand afterwards.
func (w *walker) words(list []*syntax.Word, at places) (ok, failed places) {
	if len(list) == 0 {
		return at, at
	}
	args := make([]string, 0, len(list))
	for _, word := range list {
		text, sure := literal(word)
		if !sure {
			w.asks("it has words that are not literal: globs, variables or substitutions")
		}
		args = append(args, text)
	}
	return w.call(args, at)
}

func (w *walker) call(args []string, at places) (ok, failed places) {
	head := args[0]
	args = args[1:]
	name := head
	if dir, last := path.Split(head); dir != "" {
		switch dir {
		case "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/":
			name = last
		default:
			w.must(at, head, false, false)
			w.asks("it runs a program that is given by its path")
		}
	}
	if name == "cd" || name == "chdir" {
		return w.cd(args, at)
	}
	f := finding(name, args)
	if p, ok := writers[name]; ok {
		w.write(name, p, args, at)
		return at, at
	}
	p, known := readers[name]
	switch {
	case !known:
		w.asks("what " + printable.Clip(name, maxQuoted) + " touches is not known from the paths that it names")
		w.operands(args, at)
		w.lost = true // it may be a function
	case p.trait&starts != 0:
		return w.start(name, args, f, at)
	case p.trait&tells != 0:
	default:
		w.read(name, p, args, f, at)
	}
	return at, at
}

// finding is what the tables say about a call.
func finding(name string, args []string) programs.Finding {
	words := make([]programs.Arg, 0, len(args))
	for _, a := range args {
		words = append(words, programs.Arg{Text: a, Literal: true, Source: a})
	}
	return programs.Judge(programs.Call{Name: name, Args: words, Stdin: "pipe"})
}

// cd follows a change of directory in both ways in which shells know "..": by name and by what is there.
func (w *walker) cd(args []string, at places) (ok, failed places) {
	for len(args) > 0 && (args[0] == "-L" || args[0] == "-P" || args[0] == "--") {
		args = args[1:]
	}
	switch {
	case len(args) != 1 || args[0] == "" || args[0][0] == '-' || args[0][0] == '+':
		w.asks("which directory it goes to is known only when it runs")
		w.lost = true
		return at, at
	case w.loops > 0 && !strings.HasPrefix(args[0], "/"):
		w.asks("it changes the directory in a loop or in a pipe")
	}
	to := args[0]
	w.must(at, to, false, false)
	var moved places
	for _, dir := range at {
		full := to
		if !strings.HasPrefix(to, "/") {
			full = strings.TrimSuffix(dir, "/") + "/" + to
		}
		moved = moved.and(places{full})
		if clean := path.Clean(full); climbs(full) {
			moved = moved.and(places{clean})
			w.note(at, check{path: clean, said: to})
		}
	}
	return moved, at
}

// read looks at a program that reads what it is told to.
func (w *walker) read(name string, p program, args []string, f programs.Finding, at places) {
	w.stream = p.trait&replaces == 0
	defer func() { w.stream = false }()
	switch f.Class {
	case policy.ReadOnly, policy.SensitiveRead:
	case policy.NetworkRead, policy.Write:
		if p.trait&writes == 0 {
			w.asks("what " + name + " changes is not known from the paths that it names")
		}
	default:
		if !builtinOnly(name) {
			w.asks("what " + name + " touches is not known from the paths that it names")
			w.operands(args, at)
		}
	}
	if why := asking(name, p, args); why != "" {
		w.asks(why)
	}
	if len(f.Nested) > 0 {
		w.asks(name + " runs other programs")
	}
	for _, said := range named(f) {
		if said != "-" {
			w.must(at, said, false, p.trait&replaces != 0)
		}
	}
	if name == "diff" { // a file and a directory: the file of that name in it
		for _, dir := range named(f) {
			for _, file := range named(f) {
				if b := base(file); b != "" && dir != file {
					w.must(at, dir+"/"+b, false, false)
				}
			}
		}
	}
	switch {
	case builtinOnly(name):
		for i, a := range args {
			w.guess = i == 0 || !looksAtFile(args[i-1])
			w.must(at, a, false, false)
		}
		w.guess = false
	case p.trait&wordy == 0:
		w.operands(args, at)
	}
}

// builtinOnly knows the names that package judge reads itself, because they are the shell's.
func builtinOnly(name string) bool { return name == "test" || name == "[" || name == "[[" }

// looksAtFile reports whether an operator of test(1) is about the file that its operand names.
func looksAtFile(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.Contains("bcdefghkprsuwxGLNOS", op[1:])
}

// operands notes every word that may be a path, of a program of which it is not known which are. What is rather a script or a
// pattern is only checked where nothing else holds it.
func (w *walker) operands(args []string, at places) {
	for _, a := range args {
		for _, p := range maybePaths(a) {
			w.guess = strings.ContainsAny(p, " \t\n\"'`$&|;<>(){}[]*?^\\")
			w.must(at, p, false, false)
		}
	}
	w.guess = false
}

// write looks at a program that changes what it is told to.
func (w *walker) write(name string, p program, args []string, at places) {
	enter := p.trait&replaces != 0
	ops, values, symbolic, ok := writing(name, args)
	if !ok {
		w.asks(name + " has an option that may reach further than the paths that it names")
		w.operands(args, at)
		return
	}
	for _, v := range values {
		w.must(at, v, false, false)
	}
	if name == "chmod" && len(ops) > 0 {
		ops = ops[1:]
	}
	if into := len(ops) - 1; into > 0 && (name == "cp" || name == "mv" || name == "ln") {
		w.into(name, ops[:into], ops[into], symbolic, at)
	} else {
		w.stream = name == "tee"
		for _, op := range ops {
			w.must(at, op, p.trait&unlinks != 0 || name == "mv", enter)
		}
		w.stream = false
		if name == "ln" {
			w.asks("ln takes a name from where a path leads")
		}
	}
	w.links = w.links || p.trait&relinks != 0
	w.gone = w.gone || p.trait&unlinks != 0
}

// into looks at what is put somewhere: under that name or, where it is a directory, under its own name there.
func (w *walker) into(name string, from []string, to string, symbolic bool, at places) {
	w.must(at, to, false, true)
	for _, op := range from {
		b := base(op)
		if b == "" {
			w.asks(name + " takes a name from where a path leads")
		} else {
			w.must(at, to+"/"+b, false, true)
		}
		switch {
		case !symbolic || strings.HasPrefix(op, "/"):
			w.must(at, op, name == "mv", name == "mv")
		default:
			w.must(at, to+"/"+op, false, false)
			w.must(at, path.Dir(strings.TrimRight(to, "/"))+"/"+op, false, false)
		}
	}
}

// start looks at a command that another one runs.
func (w *walker) start(name string, args []string, f programs.Finding, at places) (ok, failed places) {
	if w.nested++; w.nested > maxNested {
		w.asks("it is nested deeper than is looked at")
		return at, at
	}
	defer func() { w.nested-- }()
	if name == "command" || name == "builtin" {
		for len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		switch {
		case len(args) == 0, args[0] == "-v", args[0] == "-V":
			return at, at
		case strings.HasPrefix(args[0], "-"):
			w.asks("it changes how the shell finds a command")
			return at, at
		}
		return w.call(args, at)
	}
	if len(f.Paths) > 0 {
		w.asks(name + " has options that name files")
	}
	if strings.HasSuffix(name, "sh") && (len(args) == 0 || args[0] != "-c") {
		w.asks("what " + name + " runs, and how it reads that, is known only when it runs")
	}
	for _, p := range named(f) {
		w.must(at, p, false, false)
	}
	if len(f.Nested) == 0 {
		w.operands(args, at)
		if name != "env" && name != "timeout" {
			w.asks("what " + name + " runs is known only when it runs")
		}
	}
	for _, n := range f.Nested {
		words := make([]string, 0, len(n.Argv))
		for _, a := range n.Argv {
			words = append(words, a.Text)
		}
		switch {
		case n.Remote:
			w.asks("it runs elsewhere")
		case len(n.Script) > 0:
			w.script(n, at)
		case len(words) > 0:
			w.call(words, at)
		default:
			w.asks("what " + name + " runs is known only when it runs")
		}
	}
	return at, at
}

// script looks at shell source within a command, in a shell of its own.
func (w *walker) script(n programs.Nested, at places) {
	parts := make([]string, 0, len(n.Script))
	for _, a := range n.Script {
		parts = append(parts, a.Text)
	}
	src := strings.Join(parts, " ")
	for _, lang := range languages(n.Shell) {
		file, doubt, err := parse.File(lang, src)
		if err != nil {
			w.asks("it cannot be parsed as a whole")
		}
		if doubt != "" {
			w.asks(string(doubt))
		}
		if file == nil {
			continue
		}
		w.torn(func() { w.stmts(file.Stmts, at) })
	}
}
