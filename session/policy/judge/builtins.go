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
	case "pwd":
		return (*walker).pwd
	case "dirs", "jobs", "type", "whence", "where", "help", "wait", "hash", "umask", "ulimit", "limit", "alias", "shopt",
		"trap", "complete", "enable", "set", "export", "readonly", "declare", "typeset", "history", "fc":
		return (*walker).listing
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
	case "local", "unset", "unalias", "setopt", "unsetopt", "emulate", "zmodload", "autoload", "zle", "bindkey",
		"compdef", "compadd", "zstyle", "zformat", "zparseopts", "vared", "sched", "zcompile", "functions", "integer", "float",
		"nameref", "global", "compound", "enum", "namespace", "shift", "getopts", "let", "mapfile", "readarray", "compgen",
		"compopt", "bind", "pushd", "popd", "fg", "bg", "disown", "suspend", "rehash", "unhash", "hist", "ttyctl", "log",
		"sysopen", "sysread", "syswrite", "zsystem", "ztcp", "zsocket", "zpty", "zselect", "zftp", "repeat", "unlimit",
		"unfunction", "disable", "zf_rm", "zf_mv", "zf_ln", "zf_mkdir", "zf_rmdir", "zf_chmod", "zf_chown", "rename":
		return (*walker).shapesSession
	}
	return nil
}

// alsoProgram names the builtins that mean the same when they are called as programs, by their path.
func alsoProgram(name string) bool {
	switch name {
	case "true", "false", "echo", "pwd", "printf", "test", "[", "kill":
		return true
	}
	return false
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

func (w *walker) pwd(c call) {
	if !lettersOnly(c.args, "LPW") {
		w.unknown(c, "an argument that is not known to be harmless")
		return
	}
	w.fine("builtins/pwd", "it prints the directory")
}

// lettersOnly reports whether all arguments are clusters of these option letters.
func lettersOnly(args []programs.Arg, letters string) bool {
	for _, a := range args {
		if !a.Literal || len(a.Text) < 2 || a.Text[0] != '-' || strings.Trim(a.Text[1:], letters) != "" {
			return false
		}
	}
	return true
}

// lettersThenWords is lettersOnly with literal words behind the options.
func lettersThenWords(args []programs.Arg, letters string) bool {
	i := 0
	for i < len(args) && strings.HasPrefix(args[i].Text, "-") {
		i++
	}
	if !lettersOnly(args[:i], letters) {
		return false
	}
	for _, a := range args[i:] {
		if !a.Literal || strings.HasPrefix(a.Text, "-") || strings.ContainsAny(a.Text, "[$`") {
			return false
		}
	}
	return true
}
