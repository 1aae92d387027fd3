package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// givenOnce refuses a flag that is given twice with different values, of which one would silently have no effect. Flags that may be
// repeated are slices, or cmdutil.Repeatable. What an alias gives may be given otherwise behind it: fromAlias is how many of args are
// written in the configuration file, or stand before that.
func givenOnce(root *cobra.Command, args []string, fromAlias int) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.DisableFlagParsing {
		return nil // what is wrong is found later
	}
	alias := map[string]string{}
	if fromAlias > 0 {
		if c, words, err := root.Find(args[:fromAlias]); err == nil && c == cmd {
			_ = eachFlag(c, words, func(f *pflag.Flag, value string) error {
				alias[f.Name] = value
				return nil
			})
		}
	}
	given := map[string]string{}
	return eachFlag(cmd, rest, func(f *pflag.Flag, value string) error {
		before, again := given[f.Name]
		given[f.Name] = value
		replaced, ok := alias[f.Name]
		if !again || before == value || ok && before == replaced || repeats(f) {
			return nil
		}
		return cmdutil.Usagef("%s is given twice, with different values: leave one out", dashed(f))
	})
}

// eachFlag calls do with each flag in args, and sets none. Its error is that of do.
func eachFlag(cmd *cobra.Command, args []string, do func(f *pflag.Flag, value string) error) (err error) {
	cmd.InheritedFlags() // adds them to Flags
	_ = cmd.Flags().ParseAll(slices.Clone(args), func(f *pflag.Flag, value string) error {
		err = do(f, value)
		return err
	})
	_ = cmd.Flags().ParseAll(nil, nil) // forgets the arguments
	return err
}

func repeats(f *pflag.Flag) bool {
	switch f.Value.(type) {
	case pflag.SliceValue, inventoryFlag: // which itself says what to do with two
		return true
	}
	many, ok := f.Value.(cmdutil.Repeatable)
	return ok && many.Repeatable()
}
