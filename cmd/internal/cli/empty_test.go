package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// No command takes an empty text for a flag: --max-fail "$LIMIT" of a script whose variable is unset must not mean no limit.
func TestNoFlagIsTakenEmpty(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	f, done := newFactory(ios, func(string) string { return "" })
	root := NewRoot(f)
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd != root {
			assert.Nil(t, cmd.PersistentPreRunE, "%s: it would take the place of the root's", cmd.CommandPath())
			assert.Nil(t, cmd.PersistentPreRun, cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			many, isMany := f.Value.(pflag.SliceValue)
			if !isMany && f.Value.Type() != "string" {
				return
			}
			n++
			before, changed := f.Value.String(), f.Changed
			require.NoError(t, cmd.Flags().Set(f.Name, ""))
			err := cmdutil.NoEmptyFlags(cmd)
			require.Error(t, err, "%s --%s", cmd.CommandPath(), f.Name)
			assert.ErrorContains(t, err, "--"+f.Name+" is empty")
			if isMany {
				require.NoError(t, cmd.Flags().Set(f.Name, "x"))
				require.NoError(t, many.Replace([]string{"x"}))
			} else {
				require.NoError(t, cmd.Flags().Set(f.Name, before+"x"))
			}
			require.NoError(t, cmdutil.NoEmptyFlags(cmd))
			f.Changed = changed
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	assert.Greater(t, n, 50)
	assert.NoError(t, done())
}
