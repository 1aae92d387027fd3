package run

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
)

// Every command shows --become alike.
func TestHelpShowsTheAccountWithoutQuotes(t *testing.T) {
	cmd, o := &cobra.Command{Use: "run"}, &Options{SSH: &sshopt.Flags{}}
	o.flags(cmd)
	assert.Contains(t, cmd.Flags().FlagUsages(), "--become account[=root] ")
	assert.NoError(t, cmd.ParseFlags([]string{"--become"}))
	assert.Equal(t, "root", o.Become)
	assert.NoError(t, cmd.ParseFlags([]string{"--become=postgres"}))
	assert.Equal(t, "postgres", o.Become)
}
