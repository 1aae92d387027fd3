package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestACommandIsMadeUnderItsNames(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	f := &cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }}
	for _, c := range allCommands() {
		cmd := c.make(f)
		assert.Equal(t, c.names, slices.Concat([]string{cmd.Name()}, cmd.Aliases))
		for _, name := range c.names {
			assert.Contains(t, names(), name)
		}
	}
}

func TestOnlyTheCommandThatIsCalledIsMade(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	f := &cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }}
	all := len(allCommands())
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"run", "web1", "--", "true"}, 1},
		{[]string{"-i", "run", "--keeper=off", "exec"}, 1},
		{[]string{"sandboxes", "list"}, 1},
		{[]string{"run", "--help"}, 1},
		{[]string{"-i", "run"}, all},
		{[]string{"help", "run"}, all},
		{[]string{"--help", "run"}, all},
		{[]string{"--json", "run"}, all},
		{[]string{cobra.ShellCompRequestCmd, "run", ""}, all},
		{[]string{"man", "."}, all},
		{[]string{"rnu"}, all},
		{nil, all},
	} {
		assert.Len(t, rootFor(f, tt.args).Commands(), tt.want, "%q", tt.args)
	}
}
