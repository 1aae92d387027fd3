package proof

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// Differences lists the programs that a shell started, and the words that it gave them, which are not those that the judge
// listed. Where the judge says that it cannot tell what runs, nothing is compared.
func Differences(rep judge.Report, out Outcome) []string {
	if blind(rep) || rep.Class == policy.Forbidden { // which rule says that it is forbidden hides the others
		return nil
	}
	var list []string
	add := func(s string) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, e := range out.Events {
		if e.Kind != Start || e.By == "xargs" || e.By == "env" {
			continue
		}
		if strings.HasSuffix(e.What, "/") {
			continue // an empty word, looked for in a directory of PATH
		}
		name := e.name()
		if !slices.Contains(rep.Uses, name) {
			add("it starts what the judge does not list: " + name)
			continue
		}
		if !slices.Contains([]string{"tac", "cksum", "sum"}, name) || len(e.Args) == 0 {
			continue
		}
		args := e.Args[1:]
		if len(e.Args) > 1 && strings.HasSuffix(e.Args[0], "busybox") {
			args = e.Args[2:]
		}
		for i, a := range args {
			if !strings.HasPrefix(a, "-") && (i == 0 || !takesNext[name].MatchString(args[i-1])) && !listed(rep.Reads, a) {
				add(fmt.Sprintf("it gives %s the word %q, and the judge lists %s", name, a, wordsOf(rep.Reads)))
			}
		}
	}
	return list
}

// takesNext are the options whose value is the word behind them (tac(1), cksum(1)): that is no file.
var takesNext = map[string]*regexp.Regexp{
	"tac":   regexp.MustCompile(`^(?:-[br]*s|--s[a-z]*)$`),
	"cksum": regexp.MustCompile(`^(?:-[cwz]*[al]|--(?:a|l)[a-z]*)$`),
	"sum":   regexp.MustCompile(`^$`),
}

func listed(paths []judge.Path, word string) bool {
	word = strings.ReplaceAll(word, "/proc/self/fd/", "/dev/fd/") // shells name a substitution's stream in either way
	return slices.ContainsFunc(paths, func(p judge.Path) bool {
		if strings.HasPrefix(p.Text, "~") || !p.Literal && !strings.HasPrefix(p.Source, "\"") && strings.ContainsAny(p.Source, "$`") {
			return true // the judge keeps a tilde as it is; an unquoted expansion may become any words
		}
		return p.Text == word || !p.Literal && (strings.HasPrefix(word, p.Text) || p.Text == "" || strings.HasPrefix(p.Text, "/dev/fd/"))
	})
}

func wordsOf(paths []judge.Path) string {
	var w []string
	for _, p := range paths {
		s := fmt.Sprintf("%q", p.Text)
		if !p.Literal {
			s += "…"
		}
		w = append(w, s)
	}
	return strings.Join(w, " ")
}

// blindRules are the grounds on which the judge says that it does not know what runs.
var blindRules = []string{
	"shell/syntax", "shell/command-word", "shell/nested-code", "shell/stdin-code", "shell/comment", "shell/heredoc", "shell/continuation", "shell/invisible", "shell/quirk", "shell/equals", "shell/dollar-quote",
	"builtins/eval", "builtins/source", "builtins/.", "judge/cap", "bytes/control", "bytes/invisible", "bytes/encoding", "bytes/bidi", "shell/unknown-shell", "shell/coproc", "builtins/alias",
	"shell/unknown-node", "shell/pattern",
}

func blind(rep judge.Report) bool {
	if slices.Contains(blindRules, rep.Rule) {
		return true
	}
	var any func(parts []judge.Part) bool
	any = func(parts []judge.Part) bool {
		return slices.ContainsFunc(parts, func(p judge.Part) bool {
			return slices.Contains(blindRules, p.Rule) || unsure(p) || joined(p) || any(p.Parts)
		})
	}
	return any(rep.Parts)
}

// joined reports whether lines are joined in backquotes of a part that is not allowed: what says so may stand behind another rule.
func joined(p judge.Part) bool {
	return p.Class != policy.ReadOnly && strings.Contains(p.Text, "`") && strings.Contains(p.Text, "\\\n")
}

// unsure reports whether the first word of a part that is not allowed is one that the judge does not know.
func unsure(p judge.Part) bool {
	text := strings.TrimLeft(p.Text, "({! \t\n\\")
	for _, prefix := range []string{"time ", "command "} {
		text = strings.TrimLeft(strings.TrimPrefix(text, prefix), "({! \t\n\\")
	}
	for text != "" && p.Class != policy.ReadOnly {
		word, rest, _ := strings.Cut(text, " ")
		if !beforeCommand.MatchString(word) || strings.ContainsAny(word, "$`(") {
			return strings.ContainsAny(word, "$`*?[{~(")
		}
		text = strings.TrimLeft(rest, " ")
	}
	return false
}

// beforeCommand is what may stand before the word of a command: a redirect, or an assignment.
var beforeCommand = regexp.MustCompile(`^(?:\d*[<>]+[&|]?[^\s<>]+|\w+=\S*)$`)
