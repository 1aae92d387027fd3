package judge

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// builtin returns the judge of a shell builtin of any shell, nil when the word is no builtin. A builtin of one shell
// counts in all of them: where it is none, the word is a program of that name and means no more.
func builtin(name string) func(*walker, call) {
	switch name {
	case ":", "true", "false", "echo", "times", "caller":
		return nothing
	case "break", "continue", "return":
		return (*walker).jumps
	case "printf":
		return (*walker).printf
	case "print":
		return (*walker).print
	case "test", "[", "[[":
		return (*walker).testCall
	case "kill":
		return (*walker).kill
	case "cd", "chdir":
		return (*walker).cd
	case "read":
		return (*walker).read
	case "mapfile", "readarray":
		return (*walker).mapfile
	case "exit", "logout", "bye":
		return (*walker).exit
	case "eval":
		return (*walker).eval
	case "source", ".":
		return (*walker).sourceFile
	case "command":
		return (*walker).commandBuiltin
	case "builtin", "exec", "noglob", "nocorrect", "-", "coproc":
		return (*walker).precommand
	}
	if programs.Is(name, "lists") {
		return (*walker).listing
	}
	if programs.Is(name, "shapes") {
		return (*walker).shapesSession
	}
	return nil
}

// fine says why a part is read-only, unless something about it is not.
func (w *walker) fine(rule, reason string) {
	if w.cur.Class == policy.ReadOnly {
		w.cur.Rule, w.cur.Reason = rule, reason
	}
}

func nothing(w *walker, c call) {
	w.fine("builtins/"+c.name, "it prints its arguments, or does nothing at all")
}

// jumps judges what takes a number. zsh and the Korn shells evaluate it.
func (w *walker) jumps(c call) {
	if !w.plainNumbers(c.args) {
		w.unknown(c, "some shells evaluate what it is given")
		return
	}
	nothing(w, c)
}

// plainNumbers reports whether all words are numbers, or the shell's own.
func (w *walker) plainNumbers(args []programs.Arg) bool {
	for _, a := range args {
		switch strings.Trim(a.Source, `"`) {
		case "$#", "$?", "$$", "$!":
			continue
		}
		if !a.Literal || !digits(strings.TrimPrefix(a.Text, "-")) {
			return false
		}
	}
	return true
}

func (w *walker) unknown(c call, reason string) {
	w.raise(policy.Unknown, "builtins/"+c.name, reason)
}
