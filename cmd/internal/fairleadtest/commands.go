package fairleadtest

import "github.com/spf13/cobra"

// EveryCommand calls do for cmd and for each command below it.
func EveryCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		EveryCommand(c, do)
	}
}
