package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// numeric reports whether a substitution prints at most one word of digits, commas and what separates the parts of a time, whatever
// the host is like: such a word is no option, and in a path it is one name.
func (w *walker) numeric(list []*syntax.Stmt) bool {
	return len(list) == 1 && w.numericEnd(list[0], false)
}

// numericEnd goes by the last stage of a pipeline, which is all that prints. The number may be negative if signed.
func (w *walker) numericEnd(s *syntax.Stmt, signed bool) bool {
	before, piped := (*syntax.Stmt)(nil), false
	if b, ok := plainBinary(s); ok {
		if !isPipe(b.Op) {
			return false
		}
		before, s, piped = b.X, b.Y, true
	}
	name, args, ok := w.printer([]*syntax.Stmt{s})
	if !ok {
		return false
	}
	piped = piped || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Op == syntax.RdrIn })
	switch name {
	case "wc":
		return piped && len(args) == 1 && (args[0] == "-l" || args[0] == "-c" || args[0] == "-w" || args[0] == "-m")
	case "grep":
		return (piped && len(args) == 2 || len(args) == 3) && counts.MatchString(args[0]) && !slices.ContainsFunc(args[1:], isOption)
	case "stat":
		return signed && len(args) == 3 && args[0] == "-c" && len(args[1]) == 2 && strings.Trim(args[1], "%YXZWsaughib") == "" && !isOption(args[2])
	case "tr":
		if len(args) == 2 && args[0] == "-d" && (args[1] == " " || args[1] == "[:space:]" || args[1] == "[:blank:]") {
			return before != nil && w.numericEnd(before, signed)
		}
		return len(args) == 2 && (args[0] == "-dc" || args[0] == "-cd") && (args[1] == "0-9" || args[1] == "[:digit:]")
	case "nproc":
		return len(args) == 0 || len(args) == 1 && args[0] == "--all"
	case "date":
		text := strings.Join(args, " ")
		return someTime.MatchString(text) || signed && anyTime.MatchString(text)
	case "id":
		return len(args) > 0 && len(args) <= 2 && (args[0] == "-u" || args[0] == "-g") && !slices.ContainsFunc(args[1:], isOption)
	case "systemctl":
		return oneProperty(args)
	case "pidof":
		return len(args) > 1 && args[0] == "-s" && !slices.ContainsFunc(args[1:], isOption)
	case "pgrep":
		one, ok := pidsOnly(args)
		return one && ok
	}
	return false
}

var (
	counts = lazyregexp.New(`^-[EFPivwx]*c[EFPivwx]*$`) // grep -c, of its input

	// A time of any day, as one number, which may be negative. someWord stands for any word.
	anyTime = lazyregexp.New(`^(-u )?(-d|--date) ` + someWord + ` (-u )?\+%[YgGsuw]$`)

	// A time of these days, by numbers.
	someTime = lazyregexp.New(`^(-u )?((-d |--date=)([a-z]*|[0-9]{1,2} (second|minute|hour|day|week|month)s?( ago)?|` + someDay + `) )?\+%[CFGHIMRSTUVWYdgjmsuwy](%[CFGHIMRSTUVWYdgjmsuwy]|[-_.:])*$`)
)

const (
	someDay  = `(197[1-9]|19[89][0-9]|20[0-9]{2})-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?Z?|@[0-9]{1,10}`
	someWord = `ANY`
)

// givenTime replaces the word behind date's -d by someWord, if that is one word whatever its value: it is the same to what date prints.
func givenTime(words []*syntax.Word) []*syntax.Word {
	for i, word := range words[:max(len(words)-1, 0)] {
		if option := word.Lit(); option != "-d" && option != "--date" {
			continue
		}
		quoted := words[i+1].Parts
		if len(quoted) != 1 {
			return words
		}
		q, ok := quoted[0].(*syntax.DblQuoted)
		if !ok || q.Dollar || slices.ContainsFunc(q.Parts, func(p syntax.WordPart) bool {
			e, ok := p.(*syntax.ParamExp)
			return ok && severalWords(e)
		}) {
			return words
		}
		if !slices.ContainsFunc(q.Parts, func(p syntax.WordPart) bool { _, text := p.(*syntax.Lit); return !text }) {
			return words
		}
		words = slices.Clone(words)
		words[i+1] = &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: someWord}}}
		return words
	}
	return words
}

// aNumber reports whether a word is a number, or nothing, whichever the value of a name in it. A Korn shell's may have a fraction.
func (w *walker) aNumber(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.Lit:
		return digits(strings.TrimPrefix(p.Value, "-"))
	case *syntax.DblQuoted:
		return !p.Dollar && w.aNumber(p.Parts)
	case *syntax.ArithmExp:
		return true
	case *syntax.CmdSubst:
		return len(p.Stmts) == 1 && w.numericEnd(p.Stmts[0], true)
	case *syntax.ParamExp:
		if p.Length {
			length := *p
			length.Length = false
			return plainParam(&length)
		}
		return counterParam(p) || plainParam(p) && w.numberIn(p.Param.Value)
	}
	return false
}

// numberIn reports whether the value of a variable is certainly a number, or none.
func (w *walker) numberIn(name string) bool {
	c, ok := w.certainty(name)
	return ok && c.isNumber()
}

// numerics reports whether each word that a loop goes through is a number: all of them come from programs that print nothing else.
func (w *walker) numerics(words []*syntax.Word) bool {
	for _, word := range words {
		if len(word.Parts) != 1 {
			return false
		}
		p, ok := word.Parts[0].(*syntax.CmdSubst)
		if !ok {
			return false
		}
		switch name, args, ok := w.printer(p.Stmts); {
		case !ok:
			return false
		case name == "pgrep":
			if _, ok := pidsOnly(args); !ok {
				return false
			}
		case name == "pidof" || name == "seq":
			if len(args) == 0 || name == "pidof" && slices.ContainsFunc(args, isOption) || name == "seq" && slices.ContainsFunc(args, func(a string) bool { return !digits(a) }) {
				return false
			}
		default:
			return false
		}
	}
	return len(words) > 0
}

// identifiers reports whether a substitution prints names or identifiers of containers, images, volumes or objects of a cluster, and
// nothing else. lines says that there is one in each line.
func (w *walker) identifiers(list []*syntax.Stmt) (lines, ok bool) {
	if len(list) != 1 || list[0] == nil {
		return false, false
	}
	if b, piped := plainBinary(list[0]); piped {
		if !isPipe(b.Op) || b.Op == syntax.PipeAll {
			return false, false
		}
		name, args, plain := w.selecting(b.Y)
		text := oneWordEach(args)
		if name == "awk" && len(args) == 1 {
			text = args[0]
		}
		switch {
		case !plain:
			return false, false
		case name == "awk" || name == "cut":
			before, args, ok := w.printer([]*syntax.Stmt{b.X})
			all := before + " " + oneWordEach(args)
			return true, ok && (name == "awk" && firstColumn.MatchString(text) && objectTable.MatchString(all) ||
				name == "cut" && behindSlash.MatchString(text) && objectNames.MatchString(all))
		case selects.MatchString(name + " " + text):
			return w.identifiers([]*syntax.Stmt{b.X})
		}
		return false, false
	}
	name, args, ok := w.printer(list)
	text := oneWordEach(args)
	switch {
	case !ok:
		return false, false
	case name == "kubectl":
		return !strings.Contains(text, "jsonpath"), objectNames.MatchString(name+" "+text) || objectFields.MatchString(text)
	}
	return true, (name == "docker" || name == "podman" || name == "nerdctl") && identifies.MatchString(text)
}

// oneWordEach joins words that hold no blanks; with one that does it is nothing.
func oneWordEach(args []string) string {
	if slices.ContainsFunc(args, func(a string) bool { return strings.ContainsAny(a, " \t\n") }) {
		return ""
	}
	return strings.Join(args, " ")
}

// oneProperty reports whether systemctl shows a number of one unit.
func oneProperty(args []string) bool {
	units, properties, values := 0, 0, 0
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--value":
			values++
		case a == "-p" && i+1 < len(args):
			i++
			a = "-p" + args[i]
			fallthrough
		case strings.HasPrefix(a, "-p"), strings.HasPrefix(a, "--property="):
			switch strings.TrimPrefix(strings.TrimPrefix(a, "-p"), "--property=") {
			case "MainPID", "ExecMainPID", "NRestarts", "ControlPID":
				properties++
			default:
				return false
			}
		case a != "" && !isOption(a) && consistsOf(a, "_@.:-"):
			units++
		default:
			return false
		}
	}
	return len(args) > 0 && args[0] == "show" && units == 1 && properties == 1 && values == 1
}

// selecting returns the words of a stage of a pipeline that only reads from it.
func (w *walker) selecting(s *syntax.Stmt) (name string, args []string, ok bool) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || s.Coprocess || s.Disown || s.Negated || len(s.Redirs) > 0 || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return "", nil, false
	}
	if slices.ContainsFunc(c.Args, func(word *syntax.Word) bool { return holdsSubstitution(word.Parts) }) {
		return "", nil, false
	}
	for _, a := range w.args(c.Args[1:]) {
		if !a.Literal {
			return "", nil, false
		}
		args = append(args, a.Text)
	}
	return c.Args[0].Lit(), args, true
}

var (
	identifies = lazyregexp.New(`^(ps|container ls|images|image ls|volume ls|network ls)( -a| --all| (-f |--filter[ =])[a-z]+=[\w.:/=-]+)*` +
		`( -a?qa?| --quiet| --format[ =]\{\{ ?\.(ID|Names) ?\}\})( -a| --all| (-f |--filter[ =])[a-z]+=[\w.:/=-]+)*$`)

	// The first column of these tables is a name. That of docker ps is what the account's configuration says.
	objectTable = lazyregexp.New(`^kubectl get` + objects + flags + `( --no-headers` + flags + `)?$`)
	firstColumn = lazyregexp.New(`^(NR ?> ?1 ?)?\{ ?print \$1;? ?\}$`)

	objectNames  = lazyregexp.New(`^kubectl get` + objects + flags + ` (-o ?|--output[= ])name` + flags + `$`)
	objectFields = lazyregexp.New(`^get` + objects + flags + ` (-o ?|--output[= ])(jsonpath=\{\.items\[\*\]\.metadata\.name\}|custom-columns=(NAME)?:\.?metadata\.name)` +
		`( --no-headers)?` + flags + `$`)
	behindSlash = lazyregexp.New(`^-d ?/ -f ?2$`)

	// What passes lines on as they are.
	selects = lazyregexp.New(`^((sort|uniq)( -[ur]+)?|head|tail|(head|tail) -(n ?)?[0-9]+|tail -n ?\+[0-9]+|grep( -[vEFiwx]+)* [^- ][^ ]*)$`)
)

const (
	// Kinds whose names the cluster keeps to letters, digits, - and . that begin with one of the first two.
	objects = `( (-n|--namespace)[= ][a-z0-9-]+| -A| --all-namespaces)* (po|pods?|ns|namespaces?|no|nodes?|deploy|deployments?|svc|services?|sts|statefulsets?|ds|daemonsets?|jobs?|cronjobs?|cm|configmaps?|ing|ingress|ingresses|pvc)`
	flags   = `( (-n|--namespace)[= ][a-z0-9-]+| -A| --all-namespaces| (-l|--selector)[= ]?[\w.=,/!-]+| --field-selector[= ][\w.=,!]+)*`
)

func (w *walker) identifiersIn(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.CmdSubst)
	if !ok {
		return false
	}
	_, ok = w.identifiers(p.Stmts)
	return ok
}

// identified reports for each stage of a pipeline whether those before it write one identifier in each line.
func (w *walker) identified(c *syntax.BinaryCmd, stages int) []bool {
	is := make([]bool, stages)
	for i := stages - 1; i > 0 && c != nil; i-- {
		lines, ok := w.identifiers([]*syntax.Stmt{c.X})
		is[i] = lines && ok && c.Op == syntax.Pipe
		c, _ = plainBinary(c.X)
	}
	return is
}

// printer returns the name and the words of a substitution that is one plain call of a program of which it is known when it prints
// nothing but numbers.
func (w *walker) printer(list []*syntax.Stmt) (name string, args []string, ok bool) {
	if len(list) != 1 || list[0] == nil || list[0].Background || list[0].Coprocess || list[0].Disown {
		return "", nil, false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return "", nil, false
	}
	name = c.Args[0].Lit()
	switch name {
	case "nproc", "date", "id", "pidof", "pgrep", "seq", "wc", "grep", "tr", "stat", "docker", "podman", "nerdctl", "kubectl", "systemctl":
	default:
		return "", nil, false
	}
	words := c.Args[1:]
	if name == "date" {
		words = givenTime(words)
	}
	if slices.ContainsFunc(words, func(word *syntax.Word) bool { return holdsSubstitution(word.Parts) }) {
		return "", nil, false // before its words are looked at: substitutions may be nested deeply
	}
	if !w.quietOnly(list[0].Redirs, name == "wc" || name == "grep") {
		return "", nil, false
	}
	for _, a := range w.args(words) {
		if !a.Literal && (!a.Operand || a.Glob || a.Split || isOption(a.Text)) {
			return "", nil, false
		}
		args = append(args, a.Text)
	}
	return name, args, true
}

func holdsSubstitution(parts []syntax.WordPart) bool {
	return slices.ContainsFunc(parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.ParamExp:
			return false
		case *syntax.DblQuoted:
			return holdsSubstitution(p.Parts)
		}
		return true
	})
}

func isOption(s string) bool { return strings.HasPrefix(s, "-") }

// pidsOnly reports whether pgrep prints nothing but numbers of processes. one says that these are one word: the number of one
// process, or all of them with commas between (pgrep(1), procps 4).
func pidsOnly(args []string) (one, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-d" && i+1 < len(args) && args[i+1] == ",":
			one = true
			i++
		case a == "-u" || a == "-U" || a == "-P":
			i++
		case a == "-d," || a == "-fd," || a == "-xd," || a == "--oldest" || a == "--newest":
			one = true
		case !isOption(a):
		case strings.Trim(a[1:], "fxonc") == "" && a != "-":
			one = one || strings.ContainsAny(a, "onc")
		default:
			return false, false
		}
	}
	return one, true
}

// quietOnly reports whether redirects do no more than leave out error messages, and give an input where that is fine.
func (w *walker) quietOnly(list []*syntax.Redirect, input bool) bool {
	return !slices.ContainsFunc(list, func(r *syntax.Redirect) bool {
		if input && r != nil && r.N == nil && r.Op == syntax.RdrIn {
			return false
		}
		return r == nil || r.N == nil || r.N.Value != "2" || r.Op != syntax.RdrOut || r.Word.Lit() != "/dev/null"
	})
}

// printsSum reports whether a statement is an echo of a calculation, see isSum.
func (w *walker) printsSum(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(s.Redirs) == 0 && len(c.Assigns) == 0 && len(c.Args) > 1 && c.Args[0].Lit() == "echo" && w.isSum(c.Args[1:]...)
}

// isSum reports whether words are a calculation that bc surely ends soon: no loop, no function, no large power.
func (w *walker) isSum(words ...*syntax.Word) bool {
	var b strings.Builder
	for _, word := range words {
		if !w.writeSum(&b, word.Parts, false) {
			return false
		}
		b.WriteByte(' ')
	}
	text := b.String()
	if base, _, raised := strings.Cut(text, "^"); raised && strings.ContainsAny(scale.ReplaceAllString(base, ""), "abcdefghijklmopqrstuvwxyz") {
		return false // a root, a logarithm or the digits of such a number take long
	}
	return len(text) <= maxSum && sum.MatchString(text) && power.MatchString(text)
}

// writeSum writes parts with an n for each number that is known only when it runs.
func (w *walker) writeSum(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !quoted && strings.ContainsAny(p.Value, "*?[") {
				return false // names of files
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar || !w.writeSum(b, p.Parts, true) {
				return false
			}
		default:
			if !w.aNumber([]syntax.WordPart{p}) {
				return false
			}
			b.WriteByte('n')
		}
	}
	return true
}

const maxSum = 200

// sum is numbers, with an n for one that is not known, and signs; power is the one power that may stand in it.
var (
	scale = lazyregexp.New(`scale *=`)
	sum   = lazyregexp.New(`^(scale *= *[0-9]{1,2} *[;\n]|[io]base *= *[0-9]{1,2} *[;\n]|(sqrt|l|length) ?\(|[0-9.n]{1,20}[-+*/%^()<>=!;&| \n]|[-+*/%^()<>=!;&| \n])*$`)
	power = lazyregexp.New(`^[^^]*(\^ ?[0-9]{1,3}[-+*/%()<>=!;&| \n][^^]*)?$`)
)
