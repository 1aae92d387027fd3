package judge

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// listing judges builtins that only tell something in some of their forms, and shape the session in all others.
func (w *walker) listing(c call) {
	switch class := programs.Builtin(c.name, c.args); class {
	case policy.ReadOnly:
		w.fine("builtins/"+c.name, "it only lists what the shell knows")
	case policy.SensitiveRead:
		w.raise(class, "builtins/"+c.name, "it shows what people typed before, or variables, secrets included")
	case policy.Dangerous:
		w.raise(class, "builtins/"+c.name, "it removes what people typed before")
	default:
		w.shapesSession(c)
	}
}

// shapesSession judges builtins that change what later commands in the same shell mean.
func (w *walker) shapesSession(c call) {
	if c.name == "set" && stricterShell(c.args) && w.endsBehind() {
		w.fine("builtins/set", "the shell that it makes stricter ends with the command")
		return
	}
	if c.name == "export" && inertExports(c.args) && w.endsBehind() {
		w.fine("builtins/export", "the shell whose environment it changes ends with the command")
		return
	}
	w.unknown(c, "it changes the session's shell, and with it what later commands mean")
	named := false
	for _, a := range c.args {
		if strings.HasPrefix(a.Text, "-") && a.Literal || strings.HasPrefix(a.Text, "+") {
			continue
		}
		name, _, _ := strings.Cut(a.Text, "=")
		name, _, _ = strings.Cut(name, "[")
		name = strings.TrimSuffix(name, "+")
		if name == "" || !a.Literal && name == a.Text {
			name = "*"
		}
		w.setsName(name)
		named = true
	}
	if !named {
		w.setsName("*")
	}
	switch c.name {
	case "trap", "alias", "complete", "mapfile", "readarray", "compgen", "bind":
		w.embeddedCode(c)
	case "repeat":
		if len(c.args) > 1 {
			w.runs(c, c.args[1:])
		}
	}
}

// inertExports is inertExport of the words of export, where shells take it for a command like others.
func inertExports(args []programs.Arg) bool {
	return len(args) > 0 && !slices.ContainsFunc(args, func(a programs.Arg) bool {
		name, value, ok := strings.Cut(a.Text, "=")
		return !ok || !a.Literal || !policy.InertSetting(name, value)
	})
}

// stricterShell reports whether the words of set only have a shell end, or tell, where it would go on (POSIX.1-2024, set).
func stricterShell(args []programs.Arg) bool {
	for i, a := range args {
		option := i > 0 && args[i-1].Literal && strings.HasPrefix(args[i-1].Text, "-") && strings.HasSuffix(args[i-1].Text, "o")
		switch {
		case !a.Literal:
			return false
		case option && (a.Text == "pipefail" || a.Text == "errexit" || a.Text == "nounset"):
		case option || len(a.Text) < 2 || a.Text[0] != '-' || strings.Trim(a.Text[1:], "euo") != "":
			return false
		case strings.Count(a.Text, "o") > 1 || strings.HasSuffix(a.Text, "o") && i+1 == len(args) || strings.Contains(strings.TrimSuffix(a.Text, "o"), "o"):
			return false
		}
	}
	return len(args) > 0
}

// embeddedCode looks at what such a builtin would run some day, for what is forbidden at any time.
func (w *walker) embeddedCode(c call) {
	for i, a := range c.args {
		text := a.Text
		if c.name == "alias" {
			_, text, _ = strings.Cut(text, "=")
		}
		switch {
		case !a.Literal:
			w.hidden = true
		case strings.IndexByte(text, ' ') > 0 || c.name == "alias" || c.name == "trap" && i == 0:
			w.script(text, "")
		}
	}
}
