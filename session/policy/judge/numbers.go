package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// numeric reports whether a substitution prints at most one word of digits and commas, whatever the host is like: such a word is no
// option, and in a path it is one name.
func (w *walker) numeric(list []*syntax.Stmt) bool {
	name, args, ok := w.printer(list)
	if !ok {
		return false
	}
	switch name {
	case "nproc":
		return len(args) == 0 || len(args) == 1 && args[0] == "--all"
	case "date":
		return len(args) == 1 && args[0] == "+%s"
	case "id":
		return len(args) > 0 && len(args) <= 2 && (args[0] == "-u" || args[0] == "-g") && !slices.ContainsFunc(args[1:], isOption)
	case "pidof":
		return len(args) > 1 && args[0] == "-s" && !slices.ContainsFunc(args[1:], isOption)
	case "pgrep":
		one, ok := pidsOnly(args)
		return one && ok
	}
	return false
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

// printer returns the name and the words of a substitution that is one plain call of a program of which it is known when it prints
// nothing but numbers.
func (w *walker) printer(list []*syntax.Stmt) (name string, args []string, ok bool) {
	if len(list) != 1 || list[0] == nil || list[0].Background || list[0].Coprocess || list[0].Disown || !w.quietOnly(list[0].Redirs) {
		return "", nil, false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return "", nil, false
	}
	name = c.Args[0].Lit()
	switch name {
	case "nproc", "date", "id", "pidof", "pgrep", "seq":
	default:
		return "", nil, false // before its words are looked at: substitutions may be nested deeply
	}
	for _, a := range w.args(c.Args[1:]) {
		if !a.Literal {
			return "", nil, false
		}
		args = append(args, a.Text)
	}
	return name, args, true
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
		case strings.Trim(a[1:], "fxon") == "" && a != "-":
			one = one || strings.ContainsAny(a, "on")
		default:
			return false, false
		}
	}
	return one, true
}

// quietOnly reports whether redirects do no more than leave out error messages.
func (w *walker) quietOnly(list []*syntax.Redirect) bool {
	return !slices.ContainsFunc(list, func(r *syntax.Redirect) bool {
		return r == nil || r.N == nil || r.N.Value != "2" || r.Op != syntax.RdrOut || r.Word.Lit() != "/dev/null"
	})
}
