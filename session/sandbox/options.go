package sandbox

import (
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// asking says why a reader's call reaches further than its words, or further than anybody can tell; "" if it does not.
func asking(name string, p program, args []string) string {
	for _, a := range args {
		switch {
		case name == "find":
			switch a {
			case "-L", "-follow", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir":
				return "find is to do more than look, or to follow links"
			}
		case strings.HasSuffix(name, "awk") && containsAny(a, "ARG", "getline", "@", "system", "|"):
			return "awk may open files that its program names"
		case strings.HasSuffix(name, "awk") && strings.Contains(a, ">") && strings.ContainsAny(a, `"$`):
			return "awk may write files that its program names"
		case name == "jq" && containsAny(a, "import", "include"):
			return "jq may read files that its program names"
		case name == "sed" && strings.HasPrefix(a, "-") && strings.Contains(a, "i") && strings.ContainsAny(a, "/*"):
			return "sed may put its backups elsewhere"
		}
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		if a[1] != '-' {
			if strings.ContainsAny(a[1:], p.asks) {
				return name + " is to follow links, or to write elsewhere"
			}
			continue
		}
		opt, _, _ := strings.Cut(a, "=")
		for _, l := range p.long {
			if strings.HasPrefix(l, opt) && opt != "--" {
				return name + " is to follow links, or to write elsewhere"
			}
		}
	}
	return ""
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

// writing sorts a writer's words: its operands and the values of its options. ok is false where an option is not one of
// those that are known to stay inside.
func writing(name string, args []string) (ops, values []string, symbolic, ok bool) {
	f := flags[name]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(ops, args[i+1:]...), values, symbolic, true
		case len(a) < 2 || a[0] != '-':
			ops = append(ops, a)
		case a[1] == '-':
			opt, val, glued := strings.Cut(a, "=")
			if glued {
				opt += "="
				values = append(values, val)
			}
			found := false
			for _, l := range f.long {
				found = found || l == opt
			}
			if !found {
				return nil, nil, false, false
			}
			symbolic = symbolic || opt == "--symbolic"
		default:
		cluster:
			for k := 1; k < len(a); k++ {
				c := a[k]
				symbolic = symbolic || c == 's' && name == "ln"
				if strings.IndexByte(f.plain, c) >= 0 {
					continue
				}
				if strings.IndexByte(f.valued, c) < 0 {
					return nil, nil, false, false
				}
				switch {
				case k+1 < len(a):
					values = append(values, a[k+1:])
				case i+1 < len(args):
					i++
					values = append(values, args[i])
				default:
					return nil, nil, false, false
				}
				break cluster
			}
		}
	}
	return ops, values, symbolic, true
}

// named says in which words of a call the tables see files.
func named(f programs.Finding) []string {
	out := make([]string, 0, len(f.Paths))
	for _, p := range f.Paths {
		out = append(out, p.Arg.Text)
	}
	return out
}

// maybePaths returns what may be a path in a word of which nobody knows whether it is one.
func maybePaths(a string) []string {
	if a == "" || a == "-" || a == "--" {
		return nil
	}
	var out []string
	if a[0] == '-' {
		if len(a) > 2 && a[1] != '-' {
			out = append(out, a[2:])
		}
		if before, after, ok := strings.Cut(a, ".."); ok && !strings.ContainsAny(before[len(before)-1:], "/=") && (after == "" || strings.HasPrefix(after, "/")) {
			out = append(out, ".."+after)
		}
	} else {
		out = append(out, a)
	}
	if _, v, ok := strings.Cut(a, "="); ok && v != "" {
		out = append(out, v)
	}
	if _, v, ok := strings.Cut(a, ":"); ok && !strings.HasPrefix(v, "//") && (strings.Contains(v, "/") || strings.Contains(v, "..")) {
		out = append(out, v)
	}
	if a[0] == '@' && len(a) > 1 {
		out = append(out, a[1:])
	}
	return out
}

func base(p string) string {
	if b := path.Base(p); b != "/" && b != "." && b != ".." {
		return b
	}
	return ""
}
