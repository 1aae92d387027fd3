package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
)

// ownFlags is where the flags of the program itself end that stand before a command.
func ownFlags(args []string) int {
	for i := 0; i < len(args); i++ {
		name, _, valued := strings.Cut(args[i], "=")
		switch {
		case name != "-i" && name != "--inventory" && name != "--keeper":
			return i
		case !valued:
			i++
		}
	}
	return len(args)
}

// aliased puts the words of an alias of config.yaml in its place, also where arguments behind it are completed.
func aliased(f *cmdutil.Factory, args []string) ([]string, error) {
	if len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		if at := 1 + ownFlags(args[1:]); at < len(args)-1 { // the last word is the one that is completed
			if rest, err := unaliased(f, args, at); err == nil {
				return rest, nil
			}
		}
		return args, nil
	}
	return unaliased(f, args, ownFlags(args))
}

// unaliased replaces the word at a place, if it is an alias.
func unaliased(f *cmdutil.Factory, args []string, at int) ([]string, error) {
	if at >= len(args) || strings.HasPrefix(args[at], "-") || slices.Contains(f.Commands, args[at]) {
		return args, nil
	}
	c, err := f.Config()
	if err != nil {
		return nil, err
	}
	for a, ok := c.Alias[args[at]]; ok; a, ok = c.Alias[args[at]] { // it ends: the file has no loops
		args = slices.Concat(args[:at], a.Words, args[at+1:])
	}
	return args, nil
}

// aliasNames completes the name of a command with the aliases.
func aliasNames(f *cmdutil.Factory) completion.Func {
	return func(_ *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
		if c, err := f.Config(); err == nil && len(args) == 0 {
			for name, a := range c.Alias {
				if strings.HasPrefix(name, typed) {
					names = append(names, cobra.CompletionWithDesc(name, strings.Join(a.Words, " ")))
				}
			}
		}
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
