package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestWordsOfOtherProgramsLeadToCommandsOfThisOne(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	root := NewRoot(&cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }})
	knowHabits(root)
	of := func(path string) *cobra.Command {
		c, rest, err := root.Find(strings.Fields(path))
		require.NoError(t, err, path)
		require.Empty(t, rest, "%q is not a command", path)
		return c
	}
	for path, words := range habits {
		c := of(path)
		require.True(t, slices.IsSorted(strings.Fields(words)), path)
		for _, word := range strings.Fields(words) {
			there, _, err := c.Parent().Find([]string{word})
			assert.True(t, err != nil || there == c.Parent(), "%s %s is a command of its own", c.Parent().CommandPath(), word)
			err = cmdutil.Group(c.Parent(), []string{word})
			assert.ErrorContains(t, err, "did you mean")
			assert.ErrorContains(t, err, c.Name())
		}
	}
}
