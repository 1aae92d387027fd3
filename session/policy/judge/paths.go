package judge

import (
	"path"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// operands judges the files that a call names.
func (w *walker) operands(c call, f programs.Finding) {
	metadata := programs.Is(c.name, "nameonly")
	named := make(map[string]bool, 0)
	for _, p := range f.Paths {
		named[p.Arg.Source] = true
		switch {
		case p.Delete:
			w.noteWrite(p.Arg, true)
			w.ownBelow(w.shapeOf(p.Arg).wild, true)
			w.catastrophic(p.Arg)
			w.plants(p.Arg)
		case p.Write:
			for _, a := range intoDirectory(c, p.Arg) {
				w.noteWrite(a, false)
			}
			w.plants(p.Arg)
		default:
			w.noteRead(p.Arg)
			if whole := p.Arg.Literal && strings.HasPrefix(p.Arg.Text, "/"); whole && !p.Stat || !whole && !metadata {
				w.readsDevice(p.Arg)
			}
			if metadata && p.Stat {
				continue
			}
			w.facts.tells = w.facts.tells || !w.listsFiles(c)
			w.secretOperand(p.Arg)
			w.upFromALink(p.Arg)
			if w.recursive(c) {
				w.secretBelow(p.Arg)
			} else if c.name == "diff" { // of two directories, it compares what is in both
				w.secretPattern(strings.TrimSuffix(w.shapeOf(p.Arg).wild, "/") + "/*")
			}
			w.putIn(p.Arg)
			if s := w.shapeOf(p.Arg); s.opaque || p.Arg.Source == programs.XargsInput && !(w.stdin == "pipe" && w.fed) {
				w.raise(policy.Unknown, "paths/unknown", "which file it shows is known only when it runs")
			}
			w.putBefore(p.Arg)
		}
	}
	for _, a := range f.Trees {
		if c.name == "git" && a.Text[0] != '/' && strings.HasPrefix(resolve(a.Text, w.dir), "/etc/") { // it may be all of one repository
			a = literal("/etc")
		}
		w.secretBelow(a)
	}
	for _, a := range f.Texts {
		named[a.Source] = true
	}
	for _, name := range chosen(c) {
		if !w.patternBudget() {
			break
		}
		if why, ok := secretsChosen(name); ok {
			w.raise(policy.SensitiveRead, "secrets/path", why)
		}
	}
	switch c.name {
	case "cp", "mv", "ln", "install", "gcp", "gmv", "ginstall":
		w.placed(f, plainOperands(c.args))
	}
	if metadata && len(f.Nested) == 0 {
		return
	}
	for _, a := range c.args {
		if !named[a.Source] {
			w.optionValue(a)
		}
		if f.Reads && (a.Split || strings.HasPrefix(a.Text, "-")) && w.shapeOf(a).opaque {
			w.raise(policy.Unknown, "paths/unknown", "a word that isn't literal may become several, and name a file that it shows")
		}
	}
	if c.name == "find" && runsReaders(f.Nested) {
		w.foundFiles(c.args)
	}
}

// intoDirectory returns what is written where a file is: of cp a b dir/ these are the files below the directory, which a slash
// says it is.
func intoDirectory(c call, to programs.Arg) []programs.Arg {
	whole := []programs.Arg{to}
	switch c.name {
	case "cp", "mv", "gcp", "gmv":
	default:
		return whole
	}
	names := plainOperands(c.args)
	if len(names) < 2 || hasShort(c.args, 'T') || anyPrefix(c.args, "--no-t") || names[len(names)-1].Text != to.Text || !to.Literal || !strings.HasSuffix(to.Text, "/") {
		return whole
	}
	var below []programs.Arg
	for _, from := range names[:len(names)-1] {
		base := path.Base(from.Text)
		if !from.Literal || from.Text == "" || base == "." || base == ".." || base == "/" {
			return whole
		}
		below = append(below, programs.Arg{Text: to.Text + base, Literal: true, Source: to.Source})
	}
	return below
}

func runsReaders(nested []programs.Nested) bool {
	return slices.ContainsFunc(nested, func(n programs.Nested) bool {
		return !programs.Is(n.Argv[0].Text, "nameonly") && !ofCertificates(n.Argv)
	})
}

// ofCertificates reports whether a program tells what certificates say, and of other files nothing.
func ofCertificates(argv []programs.Arg) bool {
	return len(argv) > 2 && argv[0].Text == "openssl" && argv[1].Text == "x509" && slices.ContainsFunc(argv, func(a programs.Arg) bool { return a.Text == "-noout" })
}

// optionValue looks for a file within an option: --file=/etc/shadow, -f/etc/shadow, @/etc/shadow. It stands for tables
// that do not say which options name files.
func (w *walker) optionValue(a programs.Arg) {
	if strings.IndexByte(a.Text, '/') < 0 || len(a.Text) > maxWord {
		return
	}
	w.secretOperand(a)
	if strings.HasPrefix(a.Text, "-") || strings.HasPrefix(a.Text, "@") {
		w.upFromALink(a)
	}
	if !a.Literal {
		return
	}
	if _, value, ok := strings.Cut(a.Text, "="); ok {
		w.secretOperand(literal(value))
	}
	i := strings.IndexAny(a.Text, "/~@")
	w.secretOperand(literal(strings.TrimPrefix(a.Text[i:], "@")))
}

// putBefore judges a file whose name begins with what xargs reads: {}/shadow may be below any directory, and is one of those that
// a listing wrote only where one did.
func (w *walker) putBefore(a programs.Arg) {
	before, behind, ok := put(a)
	name := behind[strings.LastIndexByte(behind, '/')+1:]
	if !ok || before != "" || name == behind {
		return
	}
	if w.stdin != "pipe" || !w.fed {
		w.raise(policy.Unknown, "paths/unknown", "which file it shows is known only when it runs")
	}
	if why, ok := secretsNamed(name, "/", ""); ok {
		w.raise(policy.SensitiveRead, "secrets/path", why)
	}
}

// putIn judges a path in which a program puts a name that it reads: what comes may lead on to other directories.
func (w *walker) putIn(a programs.Arg) {
	before, behind, ok := put(a)
	if !ok || before == "" || a.Source == "{}" {
		return
	}
	dir := literal(before[:strings.LastIndexByte(before, '/')+1])
	if name := behind[strings.LastIndexByte(behind, '/')+1:]; name != behind {
		w.secretNamed(dir, name)
	} else if dir.Text != "" {
		w.secretBelow(dir)
	}
}

// foundFiles judges a find whose files something reads: by where it looks and the names it looks for.
func (w *walker) foundFiles(args []programs.Arg) {
	roots, names, paths, all := searched(args)
	for _, root := range roots {
		w.upFromALink(root)
		if all || len(names) == 0 {
			w.secretBelow(root)
		}
		// It may be a file itself, which it finds then.
		if all || len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return matchGlob(n, lastOf(root.Text)) }) {
			w.secretOperand(root)
		}
		for _, name := range names {
			w.secretNamed(root, name)
		}
		for _, p := range paths {
			if !strings.HasPrefix(p, "/") {
				w.secretPattern(strings.TrimSuffix(w.shapeOf(root).wild, "/") + "/" + p)
			}
		}
	}
	for _, p := range paths {
		w.secretPattern(p)
	}
	for i, a := range args {
		switch {
		case i == 0 || !a.Literal:
		case args[i-1].Text == "-samefile", args[i-1].Text == "-lname", args[i-1].Text == "-ilname": // what it finds is another name of this one
			w.secretOperand(a)
		case args[i-1].Text == "-regex", args[i-1].Text == "-iregex":
			w.namedByExpression(lastOf(a.Text))
		}
	}
}

// namedByExpression judges a regular expression for names of files, where a name is plain in it.
func (w *walker) namedByExpression(expression string) {
	if !strings.ContainsAny(expression, `^$|\`) {
		return // it was judged as it is
	}
	for _, part := range strings.Split(strings.ReplaceAll(expression, `\`, ""), "|") {
		part = strings.TrimPrefix(strings.Trim(part, "^$()"), ".*")
		if name := lastOf(part); name != "" && !isWild(name) {
			w.secretOperand(literal(name))
		}
	}
}

// lastOf is the last part of a path.
func lastOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// searched tells where find looks, for which names and paths, and whether it may find all that is there: where a test is
// denied, or one of several.
func searched(args []programs.Arg) (roots []programs.Arg, names, paths []string, all bool) {
	begun := false // the expression
	for i, a := range args {
		switch t := a.Text; {
		case begun && (t == "!" || t == "-not" || t == "-o" || t == "-or" || t == ","):
			all = true
		case t == "-iname" && i+1 < len(args):
			names = append(names, strings.ToLower(args[i+1].Text))
			fallthrough
		case t == "-name" && i+1 < len(args):
			begun, names = true, append(names, args[i+1].Text)
		case (t == "-path" || t == "-ipath" || t == "-wholename") && i+1 < len(args):
			begun, paths = true, append(paths, args[i+1].Text)
		case !begun && (t == "-H" || t == "-L" || t == "-P" || strings.HasPrefix(t, "-O") || t == "-D" || t == "--"):
		case strings.HasPrefix(t, "-") || t == "!" || t == "(":
			begun = true
		case !begun && (i == 0 || args[i-1].Text != "-D"):
			roots = append(roots, a)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Trim(n, "*?") == "" })
	if len(roots) == 0 {
		roots = []programs.Arg{literal(".")}
	}
	return roots, names, paths, all
}

func literal(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }

// chosen returns the names, which may be patterns, of the files that a search in directories is told to read.
func chosen(c call) (names []string) {
	var takes func(option string) bool
	switch c.name {
	case "grep", "egrep", "fgrep", "rgrep":
		takes = func(o string) bool { return strings.HasPrefix(o, "--inc") && strings.HasPrefix("--include", o) }
	case "rg":
		takes = func(o string) bool { return o == "-g" || o == "--glob" || o == "--iglob" }
	default:
		return nil
	}
	for i, a := range c.args {
		option, value, glued := strings.Cut(a.Text, "=")
		switch {
		case takes(option) && !glued && i+1 < len(c.args):
			value = c.args[i+1].Text
		case c.name == "rg" && strings.HasPrefix(a.Text, "-g"):
			value = strings.TrimPrefix(a.Text[2:], "=")
		case !takes(option):
			continue
		}
		value = strings.TrimSuffix(value, "/**")
		if name := value[strings.LastIndexByte(value, '/')+1:]; name != "" && name[0] != '!' && strings.Trim(name, "*?") != "" {
			names = append(names, name)
		}
	}
	return names
}

// recursive reports whether a call reads everything below its operands.
func (w *walker) recursive(c call) bool {
	switch c.name {
	case "grep", "egrep", "fgrep":
		return hasShort(c.args, 'r') || hasShort(c.args, 'R') || anyPrefix(c.args, "--rec") || anyPrefix(c.args, "--deref")
	case "diff", "cp", "scp":
		return hasShort(c.args, 'r') || hasShort(c.args, 'R') || hasShort(c.args, 'a') || anyPrefix(c.args, "--rec")
	}
	return programs.Is(c.name, "recursive")
}

func anyPrefix(args []programs.Arg, prefix string) bool {
	return slices.ContainsFunc(args, func(a programs.Arg) bool { return strings.HasPrefix(a.Text, prefix) })
}

// secretOperand raises the class when a word names, or as a pattern may reach, a file that holds secrets.
func (w *walker) secretOperand(a programs.Arg) {
	s := w.shapeOf(a)
	w.secretPattern(s.wild)
	if s.fed && w.facts != nil {
		w.facts.xargs = true
	}
}

func (w *walker) secretPattern(p string) {
	if p == "" || p == "*" && w.dir == "" || len(p) > maxWord {
		return
	}
	if isWild(p) && !w.patternBudget() {
		return
	}
	if why, ok := holdsSecrets(p, w.dir, isWild(p)); ok {
		w.raise(policy.SensitiveRead, "secrets/path", why)
	}
	behind := endings(afterUp(p))
	if w.looseDir && p[0] != '/' && p[0] != '~' {
		behind = append(behind, p)
	}
	for _, end := range behind {
		for _, p := range [...]string{end, "/" + end} {
			if why, ok := holdsSecrets(p, "", isWild(p)); ok {
				w.raise(policy.SensitiveRead, "secrets/path", why)
			}
		}
	}
}

// patternBudget counts the patterns that are compared with the tables: each comparison costs.
func (w *walker) patternBudget() bool {
	if w.patterns++; w.patterns > maxPatterns {
		w.cap("more patterns than are looked at")
		return false
	}
	return true
}

// secretNamed raises the class when a file of a name, which may be a pattern, somewhere below a directory holds secrets.
func (w *walker) secretNamed(dir programs.Arg, name string) {
	if why, ok := secretsNamed(name, w.shapeOf(dir).wild, w.dir); ok {
		w.raise(policy.SensitiveRead, "secrets/path", why)
	}
}

// secretBelow raises the class when a directory holds files that hold secrets.
func (w *walker) secretBelow(a programs.Arg) {
	if why, ok := secretsBelow(w.shapeOf(a).wild, w.dir); ok {
		w.raise(policy.SensitiveRead, "secrets/tree", why)
	}
}

func (w *walker) noteRead(a programs.Arg)             { w.note(&w.reads, a, false) }
func (w *walker) noteWrite(a programs.Arg, gone bool) { w.note(&w.writes, a, gone) }

func (w *walker) note(list *[]Path, a programs.Arg, gone bool) {
	dir := w.dir
	if w.looseDir && !strings.HasPrefix(a.Text, "/") {
		dir = ""
	}
	if w.room(len(*list)) {
		*list = append(*list, Path{Text: a.Text, Literal: a.Literal, Source: clip(a.Source), Dir: dir, Delete: gone, Remote: w.remote})
	}
}

// resolve makes a path absolute where that is possible, by its text alone.
func resolve(p, dir string) string {
	if p == "" || p[0] == '/' || p[0] == '~' || dir == "" {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}
