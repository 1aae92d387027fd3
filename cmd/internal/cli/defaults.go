package cli

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// formats are the flags that say how run prints.
var formats = []string{"fold", "json", "diff", "raw"}

// configured gives the flags of cmd that were not given the values that config.yaml has for them.
func configured(f *cmdutil.Factory, cmd *cobra.Command) error {
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
