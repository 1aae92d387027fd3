package cli

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// sshNames are what a link to the program is called where that takes the place of ssh: the second one for programs that call nothing
// else, in a directory that their PATH names first.
var sshNames = []string{"fairlead-ssh", "ssh"}

// asSSH returns the arguments of the program, as those of "fairlead ssh" where it is called by one of sshNames.
func asSSH(argv []string) []string {
	// A copy of that name starts its keeper by the same name.
	if len(argv) > 0 && slices.Contains(sshNames, filepath.Base(argv[0])) && !slices.Equal(argv[1:], []string{"serve", "--auto"}) {
		return append([]string{"ssh"}, argv[1:]...)
	}
	return argv[min(1, len(argv)):]
}

// beforeSSH takes our own flags before the command ssh, whose options have the same letters, and returns the rest, also where
// that is completed. For other commands all is left to cobra.
func beforeSSH(root *cobra.Command, args []string) ([]string, error) {
	own := 0 // where our own flags begin
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		own = 1
	}
	at := own + ownFlags(args[own:])
	if at == own || at >= len(args) || args[at] != "ssh" {
		return args, nil // another command, or a mistake
	}
	if err := root.PersistentFlags().Parse(args[own:at]); err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	return slices.Concat(args[:own], args[at:]), nil
}
