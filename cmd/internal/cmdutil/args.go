package cmdutil

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Group is the Args of a command that only holds others: an argument is the name of none of them.
func Group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := ""
	near := cmd.SuggestionsFor(args[0])
	slices.Sort(near) // one that is near and known from other programs is there twice
	if near = slices.Compact(near); len(near) > 0 {
		hint = " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	if host := args[0]; !cmd.HasParent() && len(args) > 1 && strings.ContainsAny(host, "0123456789@.,*[") { // as with ssh
		return Usagef("%s has no command %q: fairlead run %s -- %s runs a command on hosts, and fairlead ssh %s … is as ssh", cmd.CommandPath(), host,
			printable.Word(host), Retype(args[1:]), printable.Word(host))
	}
	return Usagef("%s has no command %q%s; %s --help lists them", cmd.CommandPath(), args[0], hint, cmd.CommandPath())
}

// Help is the RunE of a command that only holds others.
func Help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// Args returns the Args of a command that takes between least and most arguments. what completes "takes …".
func Args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Usagef("%s takes %s, got %s", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), what, Count(len(args), "argument"))
		}
		return nil
	}
}

// Repeatable is a flag's value of which each counts where the flag is given more than once, besides those of pflag that are slices.
type Repeatable interface {
	pflag.Value
	Repeatable() bool
}

// NoEmptyFlags refuses flags that were given an empty text, as an unset variable of a script does: what they ask for, such as a
// limit, would silently be left out.
func NoEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if many, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(many.GetSlice()) == 0 || slices.Contains(many.GetSlice(), "")
		}
		if err == nil && empty {
			err = Usagef("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	return err
}
