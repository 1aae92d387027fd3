package judge

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// numeric reports whether a substitution prints at most one word of digits and commas, whatever the host is like: such a word is no
// option, and in a path it is one name.
func (w *walker) numeric(list []*syntax.Stmt) bool {
	if len(list) != 1 || list[0] == nil || list[0].Background || list[0].Coprocess || list[0].Disown || !w.quietOnly(list[0].Redirs) {
		return false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false
	}
	name := c.Args[0].Lit()
	switch name {
	case "nproc", "date", "id", "pidof", "pgrep":
	default:
		return false // before its words are looked at: substitutions may be nested deeply
	}
	args := make([]string, 0, len(c.Args))
	for _, a := range w.args(c.Args[1:]) {
		if !a.Literal {
			return false
		}
		args = append(args, a.Text)
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
		return onePID(args)
	}
	return false
}

func isOption(s string) bool { return strings.HasPrefix(s, "-") }

// onePID reports whether pgrep prints the number of one process, or all of them with commas between (pgrep(1), procps 4).
func onePID(args []string) bool {
	one := false
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
			return false
		}
	}
	return one
}

// quietOnly reports whether redirects do no more than leave out error messages.
func (w *walker) quietOnly(list []*syntax.Redirect) bool {
	return !slices.ContainsFunc(list, func(r *syntax.Redirect) bool {
		return r == nil || r.N == nil || r.N.Value != "2" || r.Op != syntax.RdrOut || r.Word.Lit() != "/dev/null"
	})
}
