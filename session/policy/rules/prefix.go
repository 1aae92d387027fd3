package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// Limits of a prefix.
const (
	maxPrefixWords = 32
	maxPrefixWord  = 1 << 10 // bytes
)

// ErrPrefix is wrapped by errors about the words that an approval for a session may cover, and about commands that do not
// begin with them.
var ErrPrefix = errors.New("rules: not a prefix")

// prefixError is an ErrPrefix that says why in words that stand by themselves.
type prefixError string

func (e prefixError) Error() string        { return string(e) }
func (e prefixError) Is(target error) bool { return target == ErrPrefix }

func noPrefix(format string, args ...any) error { return prefixError(fmt.Sprintf(format, args...)) }

// ParsePrefix reads the literal words of a prefix, as a shell would read them, and checks them as [CheckPrefix] does.
func ParsePrefix(text string) ([]string, error) {
	words, err := simpleWords(text)
	if err != nil {
		return nil, err
	}
	return words, CheckPrefix(words)
}

// CheckPrefix reports why an approval for a session cannot cover all commands that begin with these words. It takes a
// program and at least one more word. Programs that run other programs or code have no prefix: interpreters, wrappers,
// editors, git, sudo and whatever else does more than its first words say.
func CheckPrefix(words []string) error {
	switch {
	case len(words) < 2:
		return noPrefix("a prefix is a program and at least one more word")
	case len(words) > maxPrefixWords:
		return noPrefix("a prefix has at most %d words", maxPrefixWords)
	}
	name := words[0]
	if !bareName(name) {
		return noPrefix("it must begin with the bare name of a program; approve the exact command instead")
	}
	if runsOthers(name) || runsOthers(strings.ToLower(name)) {
		return noPrefix("%s can run any program; approve the exact command instead", strictyaml.Clip(name))
	}
	for _, w := range words {
		if w == "" || len(w) > maxPrefixWord || strings.ContainsFunc(w, printable.Hidden) {
			return noPrefix("its words must be printable text of 1 to %d bytes", maxPrefixWord)
		}
	}
	return nil
}

// Begins reports why a question's command is not covered by a prefix; nil means that it is: one simple command, all of
// whose words are literal and the same in every shell, and whose first words are these, without an option behind them that leads to another host, root or service.
func Begins(q policy.Question, prefix []string) error {
	if err := CheckPrefix(prefix); err != nil {
		return err
	}
	words, err := simpleWords(q.Command)
	if err != nil {
		return err
	}
	if len(words) < len(prefix) || !slices.Equal(words[:len(prefix)], prefix) {
		return noPrefix("the command does not begin with these words")
	}
	rep := judgeKey(keyOf(policy.Request{Host: q.Host, Shell: q.Shell, Command: q.Command, Dir: q.Dir, Interactive: q.Interactive}, nil)).rep
	if rep.Capped || len(rep.Parts) != 1 || len(rep.Parts[0].Parts) > 0 {
		return noPrefix("the command runs another one")
	}
	literals := make([]word, len(words))
	for i, w := range words {
		literals[i] = word{text: w, literal: true}
	}
	if led := leads(literals, len(prefix)); led != "" {
		return noPrefix("%s leads to another host, root or service", led)
	}
	return nil
}

// simpleWords returns the words of a script that is one simple command in every shell, on one line, with literal words and
// nothing else: no assignment, redirect, comment, substitution or pattern.
func simpleWords(src string) ([]string, error) {
	none := noPrefix("it must be one simple command of literal words, without redirects, patterns, comments and substitutions")
	if strings.ContainsFunc(src, printable.Hidden) {
		return nil, none
	}
	var words []string
	for i, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn, syntax.LangZsh} {
		file, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
		if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
			return nil, none
		}
		s := file.Stmts[0]
		call, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || !plain(s) || s.Semicolon.IsValid() || len(s.Comments) > 0 || len(call.Assigns) > 0 {
			return nil, none
		}
		var these []string
		for _, w := range wordsOf(call.Args) {
			if !w.literal {
				return nil, none
			}
			these = append(these, w.text)
		}
		if i > 0 && !slices.Equal(these, words) {
			return nil, none
		}
		words = these
	}
	return words, nil
}

// runsOthers knows programs whose later words can be programs or code, under any version of their names. It is no list to
// rely on alone: a prefix comes from an approver, and commands of the classes that matter most need an approval each time.
func runsOthers(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.TrimRight(base, "-0123456789")
	for _, n := range []string{name, base} {
		t, _ := programs.Lookup(n)
		if programs.Is(n, "runsothers") || slices.Contains(tablesOfRunners, t.File) {
			return true
		}
	}
	return base == ""
}

// tablesOfRunners are the tables in which every program runs others, or code.
var tablesOfRunners = strings.Fields(`tables/builders.txt tables/containers.txt tables/editors.txt tables/git.txt
	tables/interpreters.txt tables/languages.txt tables/remotes.txt tables/wrappers.txt`)
