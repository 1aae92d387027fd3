package cmdutil

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// formats are the flags that say how run prints.
var formats = []string{"fold", "json", "diff", "raw"}

// Configure gives the flags of cmd that were not given the values that config.yaml has for them.
func (f *Factory) Configure(cmd *cobra.Command) error {
	flags := cmd.Flags()
	forks, fold := flags.Lookup("forks"), flags.Lookup("fold")
	if forks == nil && fold == nil {
		return nil
	}
	c, err := f.Config()
	if err != nil {
		return err
	}
	if forks != nil && !forks.Changed && c.Forks != 0 {
		if err := forks.Value.Set(strconv.Itoa(int(c.Forks))); err != nil {
			return err
		}
	}
	if fold != nil && bool(c.Fold) && !slices.ContainsFunc(formats, flags.Changed) {
		return fold.Value.Set("true")
	}
	return nil
}

// RunInner runs a command inside another one, with the settings of config.yaml: it has no root command, which would apply them.
func (f *Factory) RunInner(ctx context.Context, cmd *cobra.Command, args []string) error {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return f.Configure(cmd) }
	cmd.SetArgs(args)
	return cmd.ExecuteContext(ctx)
}
